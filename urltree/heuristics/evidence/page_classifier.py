"""The kind of a page: an article, or a listing, which leads to articles.

    a section front                       a list of links

    h3 > a   headline   ┐                 li > a
    p        standfirst ┘ a few words     li > a
    h3 > a   headline   ┐                 li > a
    p        standfirst ┘ a few words     …

A listing has several headings that are links, and no long text: neither between two of them nor
inside any one element. Both conditions are needed. Headings of an article may link to their own
sections; then one element contains the long text. Each paragraph may have an element of its own;
then the text between two headings is long. If no heading is a link, most words must be in links.
"""

from __future__ import annotations

from collections import defaultdict

from urltree.heuristics.evidence.features import PageFeatures
from urltree.heuristics.page_kind import PageKind

HEADLINES = 5  # different headings with links that a listing has at least
LINKS = 10  # different blocks with links instead, on a site with enough pages
HEADLINE_WORDS = 3  # words that a headline has at least
LINKED = 0.9  # a block with at least this share inside links is a link
MOST_SHARE = 0.3  # largest share of a listing's words in its longest text
MOST_WORDS = 150  # the longest text of a listing has fewer words: standfirsts are shorter
MOSTLY = 0.5  # a list of links has more than this share of its words inside links
ARTICLE_WORDS = 50  # words outside links that an article has at least in its main element


def classify_page(page: PageFeatures) -> PageKind:
    """Decide by the blocks inside the main element, if there is one, that are not on most pages.

    Args:
        page: with its main element.
    """
    own = _own(page)
    if _is_listing(page, own):
        return PageKind.LISTING
    words = sum([page.words[index] - page.linked[index] for index in own])
    is_article = page.main is not None and words >= ARTICLE_WORDS
    return PageKind.ARTICLE if is_article else PageKind.UNKNOWN


def _own(page: PageFeatures) -> list[int]:
    """Return the indices of the blocks that count.

    On newspapers, fifty headlines may surround a short article, but they are outside its main
    element. When they counted too, 22 of 750 single articles became listings; without them, none.
    """
    inside = [index for index, is_inside in enumerate(page.inside) if is_inside]
    if page.root.support < page.parameters.repeated_from:
        return inside
    # a headline of the site may be on a few section fronts, so a few recurrences are allowed
    most = page.parameters.main_share * page.root.support
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
    """Count the words of the longest text in one element, or between two headings with links."""
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
