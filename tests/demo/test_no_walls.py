"""No page of the sample sites is taken for a wall, although many are short and some are moved."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

from demo.sites.sample import make_sample
from demo.sites.site import SampleSite
from urltree.crawl.decisions.host.page.host_pages import HostPages
from urltree.crawl.decisions.host.page.page_ends import (
    PageRuling,
    Ruling,
    add_page,
    describe_end,
    judge,
)
from urltree.crawl.decisions.host.page.paywall import is_paywall_stub
from urltree.crawl.decisions.host.page.refresh import find_refresh
from urltree.crawl.decisions.host.page.visible_text import PageText
from urltree.crawl.decisions.response import Response

NOW = 1_700_000_000.0


def get(site: SampleSite, url: str) -> Response:
    """Return the response to a request, after all redirects."""
    while True:
        parts = urlsplit(url)
        found = site.answer(parts.scheme, parts.path + (f"?{parts.query}" if parts.query else ""))
        if found.location is None:
            headers = {"content-type": found.content_type}
            return Response(url, found.status, headers, found.body, 0.1)
        url = urljoin(url, found.location)


def test_no_sample_page_is_a_wall() -> None:
    """All pages of the sample sites are published, and nearly all of them at their first request.

    The items of two sites have titles; those of the others are judged without them.
    """
    rulings: list[PageRuling] = []
    for number, site in enumerate(make_sample().sites):
        pages = HostPages.empty()
        for item in make_sample().feeds[site.host]:
            response = get(site, item.url)
            if response.status != 200 or not response.body or b"%PDF" in response.body:
                continue
            kind = response.headers["content-type"]
            assert not is_paywall_stub(response.body, kind)
            assert find_refresh(response) is None
            text = PageText(response.body, item.url, response.url, kind)
            title = item.title if number < 2 else None
            end = describe_end(item.url, response.url, text, title)
            add_page(pages, end, NOW)
            rulings.append(judge(end, pages, NOW, None))
    found = [ruling.ruling for ruling in rulings]
    assert len(found) > 500
    assert found.count(Ruling.WALL) == 0
    assert found.count(Ruling.HOLD) < 0.03 * len(found)
