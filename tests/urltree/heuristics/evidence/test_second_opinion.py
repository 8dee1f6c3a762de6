"""The second opinion of a single-page extractor, which is used on a site's first pages.

The extractor vouches for the blocks in its text. F1 compares this text with the blocks that the
heuristic would keep without the extractor (`ours`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tests.urltree.builders import of_html
from tests.urltree.heuristics.evidence.site import said
from urltree.document import Document
from urltree.heuristics.registry import heuristic
from urltree.site.site import Site


def news(number: int) -> str:
    """Return the main text of page `number`."""
    return said(("news", number), 30)


def a_page(number: int) -> Document:
    """Return a page with more comments than text; its class names have no meaning."""
    remarks = "".join(f"<p>{said(('remark', number, place), 30)}</p>" for place in range(9))
    menu = "<ul><li>Home<li>About us<li>Ferries</ul>"
    text = f"<div class=v><div class=w><p>{news(number)}</p></div></div>"
    html = f"<body><div class=u>{remarks}</div>{text}{menu}</body>"
    return of_html(number, html)


def vouched(page: Document, texts: Iterable[str]) -> Document:
    """Return the page, marked as if the extractor's text contained these texts."""
    held = set(texts)
    return replace(page, vouched="".join("01"[block.text in held] for block in page.blocks))


def kept(domain: Site, page: Document) -> list[str]:
    """Learn a page, and return the texts of the blocks that are content."""
    verdicts = domain.learn(page, None).verdict.boilerplate
    return [block.text for block, dropped in zip(page.blocks, verdicts, strict=True) if not dropped]


def a_domain() -> Site:
    """Return a site that has learned no page."""
    return Site(heuristic("evidence"), None)


def test_it_is_believed_where_it_shares_less_than_half() -> None:
    """If F1 is below .5, the extractor's text is kept instead of the heuristic's own choice.

    F1 compares the words of the two. Here the extractor's text is the news; without the extractor
    the comments would be kept.
    """
    page = a_page(0)
    assert news(0) not in kept(a_domain(), page)
    assert kept(a_domain(), vouched(page, [news(0)])) == [news(0)]


def test_its_main_element_is_the_sites_from_then_on() -> None:
    """The main element that the extractor chose is learned for the site.

    After three such pages, the text of the fourth page is found without the extractor.
    """
    domain = a_domain()
    for number in range(3):
        kept(domain, vouched(a_page(number), [news(number)]))
    assert kept(domain, a_page(3)) == [news(3)]


def test_a_site_that_has_spoken_overrules_it() -> None:
    """After ten pages whose main elements have the same path, the extractor's text is ignored."""
    domain = a_domain()
    for number in range(10):
        kept(domain, a_page(number))
    assert news(10) not in kept(domain, vouched(a_page(10), [news(10)]))


def test_where_it_shares_more_than_half_ours_stands() -> None:
    """If F1 is between .5 and .8, the heuristic's own choice is kept.

    F1 compares this choice with the extractor's text. Here that text lacks four of nine paragraphs.
    """
    page = a_page(0)
    ours = kept(a_domain(), page)
    assert kept(a_domain(), vouched(page, ours[4:])) == ours


def test_where_it_shares_four_fifths_what_it_lacks_is_dropped() -> None:
    """If F1 is above .8, blocks of the heuristic's choice are dropped if the extractor lacks them.

    F1 compares this choice with the extractor's text. Here that text lacks one of nine paragraphs,
    which may be a caption.
    """
    page = a_page(0)
    ours = kept(a_domain(), page)
    assert kept(a_domain(), vouched(page, [*ours[1:], news(0)])) == ours[1:]


def test_a_menu_is_not_believed() -> None:
    """The extractor's text is ignored if less than three quarters of its words are running text."""
    page = a_page(0)
    menu = vouched(page, ["Home", "About us", "Ferries"])
    assert kept(a_domain(), menu) == kept(a_domain(), page)


def test_nothing_vouched_for_changes_nothing() -> None:
    """Nothing changes if the extractor finds no text."""
    page = a_page(0)
    assert kept(a_domain(), vouched(page, [])) == kept(a_domain(), page)
