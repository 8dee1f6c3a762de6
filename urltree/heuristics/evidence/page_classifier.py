"""What kind of page it is: an article, or a listing, which leads to articles (issue 6).

    a section front                       a list of links

    h3 > a   headline   ┐                 li > a
    p        standfirst ┘ a few words     li > a
    h3 > a   headline   ┐                 li > a
    p        standfirst ┘ a few words     …

On a listing several headings are links, and neither between two of them nor in any one element
stands much of what the page says. Both are asked: headings of an article may link to themselves,
and then it is one element that says most; paragraphs may each have an element of their own, and
then it is the run between two headlines. Where no heading links, most words must.
"""

from __future__ import annotations

from collections import defaultdict

from urltree.heuristics.evidence.features import PageFeatures
from urltree.heuristics.page_kind import PageKind

HEADLINES = 5  # different ones from which a page may be a listing
LINKS = 10  # the same of all blocks that are links, on a site that is known
HEADLINE_WORDS = 3
LINKED = 0.9  # share of a block inside links from which it is a link
MOST_SHARE = 0.3  # of these words that the longest prose of a listing may have
MOST_WORDS = 150  # of it: standfirsts are shorter
MOSTLY = 0.5  # of the words, inside links
ARTICLE_WORDS = 50  # in the main element, not in links


def classify_page(page: PageFeatures) -> PageKind:
    """Decide by what stands in the main element, if there is one, and not on most pages.

    Args:
        page: whose main element is known.
    """
    own = _own(page)
    if _is_listing(page, own):
        return PageKind.LISTING
    said = sum([page.words[index] - page.linked[index] for index in own])
    is_article = page.main is not None and said >= ARTICLE_WORDS
    return PageKind.ARTICLE if is_article else PageKind.UNKNOWN


def _own(page: PageFeatures) -> list[int]:
    """Numbers of the blocks that count.

    On newspapers a short article stands among fifty headlines, but those stand outside of its main
    element: had they counted, 22 of 750 single articles were listings, without them none is.
    """
    inside = [index for index, is_inside in enumerate(page.inside) if is_inside]
    if page.root.support < page.parameters.repeated_from:
        return inside
    most = page.parameters.main_share * page.root.support  # a headline is on a few fronts, too
    return [index for index in inside if page.counts[index] <= most]


def _is_listing(page: PageFeatures, own: list[int]) -> bool:
    headings, words = page.blocks.headings, sum([page.words[index] for index in own])
    if _different_links(page, [index for index in own if headings[index]]) < HEADLINES:
        if page.root.support < page.parameters.repeated_from:
            return False
        is_linked = sum([page.linked[index] for index in own]) > MOSTLY * words
        if not (is_linked and _different_links(page, own) >= LINKS):
            return False
    return _longest_prose(page, own) < min(MOST_SHARE * words, MOST_WORDS)


def _different_links(page: PageFeatures, among: list[int]) -> int:
    shares, hashes = page.blocks.link_shares, page.blocks.hashes
    links = [
        hashes[index]
        for index in among
        if shares[index] >= LINKED and page.words[index] >= HEADLINE_WORDS
    ]
    return len(set(links))


def _longest_prose(page: PageFeatures, own: list[int]) -> float:
    """Words of the element, or of the run between two headlines, that says most."""
    blocks, numbers = page.blocks, page.parameters
    by_element: defaultdict[int, float] = defaultdict(float)
    longest = run = 0.0
    for index in own:
        words, linked = page.words[index], page.linked[index]
        if blocks.headings[index]:
            if blocks.link_shares[index] >= LINKED:
                longest, run = max(longest, run), 0.0
        elif words >= numbers.prose_words and linked <= numbers.prose_linked * words:
            by_element[page.container(blocks.elements[index])] += words - linked
            run += words - linked
    return max(longest, run, *by_element.values())
