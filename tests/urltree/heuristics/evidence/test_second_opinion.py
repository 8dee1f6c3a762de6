"""What a single-page extractor vouches for counts where it differs, and the site is silent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tests.urltree.builders import of_html
from tests.urltree.heuristics.evidence.site import said
from urltree.document import Document
from urltree.heuristics.registry import heuristic
from urltree.site.site import Site


def news(number: int) -> str:
    """What a page is about."""
    return said(("news", number), 30)


def a_page(number: int) -> Document:
    """Its readers say more than its author, and no name tells the two apart."""
    remarks = "".join(f"<p>{said(('remark', number, place), 30)}</p>" for place in range(9))
    menu = "<ul><li>Home<li>About us<li>Ferries</ul>"
    text = f"<div class=v><div class=w><p>{news(number)}</p></div></div>"
    html = f"<body><div class=u>{remarks}</div>{text}{menu}</body>"
    return of_html(number, html)


def vouched(page: Document, texts: Iterable[str]) -> Document:
    """The page, these of its blocks vouched for."""
    held = set(texts)
    return replace(page, vouched="".join("01"[block.text in held] for block in page.blocks))


def kept(domain: Site, page: Document) -> list[str]:
    """The blocks that are content."""
    verdicts = domain.learn(page, None).verdict.boilerplate
    return [block.text for block, dropped in zip(page.blocks, verdicts, strict=True) if not dropped]


def a_domain() -> Site:
    """One of which nothing is known."""
    return Site(heuristic("evidence"), None)


def test_it_is_believed_where_it_shares_less_than_half() -> None:
    """On the first page of a site the news is kept and remarks are not; alone it is reversed."""
    page = a_page(0)
    assert news(0) not in kept(a_domain(), page)
    assert kept(a_domain(), vouched(page, [news(0)])) == [news(0)]


def test_its_main_element_is_the_sites_from_then_on() -> None:
    """It is asked about three pages, and the fourth is right without it."""
    domain = a_domain()
    for number in range(3):
        kept(domain, vouched(a_page(number), [news(number)]))
    assert kept(domain, a_page(3)) == [news(3)]


def test_a_site_that_has_spoken_overrules_it() -> None:
    """Ten pages have their main element at one path: what the extractor says counts no more."""
    domain = a_domain()
    for number in range(10):
        kept(domain, a_page(number))
    assert news(10) not in kept(domain, vouched(a_page(10), [news(10)]))


def test_where_it_shares_more_than_half_ours_stands() -> None:
    """It lacks four paragraphs of nine: of two that are alike, ours is the better one."""
    page = a_page(0)
    ours = kept(a_domain(), page)
    assert kept(a_domain(), vouched(page, ours[4:])) == ours


def test_where_it_shares_four_fifths_what_it_lacks_is_dropped() -> None:
    """It lacks one paragraph of nine, a caption perhaps."""
    page = a_page(0)
    ours = kept(a_domain(), page)
    assert kept(a_domain(), vouched(page, [*ours[1:], news(0)])) == ours[1:]


def test_a_menu_is_not_believed() -> None:
    """Less than three quarters of what it vouches for is running text."""
    page = a_page(0)
    menu = vouched(page, ["Home", "About us", "Ferries"])
    assert kept(a_domain(), menu) == kept(a_domain(), page)


def test_nothing_vouched_for_changes_nothing() -> None:
    """An extractor may have no answer."""
    page = a_page(0)
    assert kept(a_domain(), vouched(page, [])) == kept(a_domain(), page)
