"""The kind of a page: an article, or a listing, which is a page that links to articles.

    the front page of a section           a list of links

    h3 > a   headline   ┐                 li > a
    p        summary    ┘ a few words     li > a
    h3 > a   headline   ┐                 li > a
    p        summary    ┘ a few words     …

A listing has several headings that are links (headlines), and no long text. An article may have
such headings too, if they link to its own sections. Its long text is then found in one of two
places: inside one element, or between two headings if each paragraph has an element of its own. If
a page has too few headlines, it is a listing only if most of its words are in links.
"""

from __future__ import annotations

from collections import defaultdict

from urltree.heuristics.evidence.features import PageFeatures
from urltree.heuristics.page_kind import PageKind

HEADLINES = 5  # least number of different headings of a listing that are links
LINKS = 10  # least number of different links of a listing without enough such headings
HEADLINE_WORDS = 3  # least number of words of a link that is counted
LINKED = 0.9  # a block with at least this share of its text inside links is a link
MOST_SHARE = 0.3  # the longest text of a listing has less than this share of its words
MOST_WORDS = 150  # the longest text of a listing has fewer words: summaries are shorter
MOSTLY = 0.5  # a list of links has more than this share of its words inside links
ARTICLE_WORDS = 50  # least number of words outside links in the main element of an article


def classify_page(page: PageFeatures) -> PageKind:
    """Return the kind of a page, by its own blocks.

    These are the blocks inside the main element (all blocks if there is none) that are not on most
    pages of the site.

    Args:
        page: features of the page, with its main element.
    """
    own = _own(page)
    if _is_listing(page, own):
        return PageKind.LISTING
    words = sum([page.words[index] - page.linked[index] for index in own])
    is_article = page.main is not None and words >= ARTICLE_WORDS
    return PageKind.ARTICLE if is_article else PageKind.UNKNOWN


def _own(page: PageFeatures) -> list[int]:
    """Return the indices of the page's own blocks, see `classify_page`.

    In a newspaper, fifty headlines may surround a short article, but they are outside its main
    element. When these headlines were counted too, 22 of 750 articles were classified as listings;
    without them, none was.
    """
    inside = [index for index, is_inside in enumerate(page.inside) if is_inside]
    if page.root.support < page.parameters.repeated_from:
        return inside
    # A headline may be on several listings of the site, so only blocks on most pages are left out.
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
    """Return the number of words of the longest text in one element or between two headlines."""
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
