"""The sites' feeds: read by the job's own parser, growing, found from the front page, over TLS."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from agents.settings.feeds import MIB
from agents.settings.job import Settings
from demo.sites import Item, sample
from demo.sites.press import LISTED, Press
from demo.sites.server import LOOPBACK, serving
from demo.sites.site import FORBIDDEN, Site
from tests.agents.limits import OF_ANSWERS
from urltree.crawl.decisions.feed.address import feed_address
from urltree.crawl.decisions.feed.discovery import find_feeds
from urltree.crawl.decisions.feed.parsing import parse_feed
from urltree.crawl.decisions.host.host_state import RobotsText
from urltree.crawl.decisions.host.robots import Robots
from urltree.crawl.web.client import WebClient
from urltree.crawl.web.redirects import redirect_target
from urltree.page import microseconds

SITES = sample().sites
by_name = pytest.mark.parametrize("site", SITES, ids=lambda site: str(site.host))


class _Clock:
    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def _said(items: tuple[Item, ...]) -> list[tuple[str, str, int]]:
    return [(feed_address(i.url), i.title, microseconds(i.published.isoformat())) for i in items]


@by_name
def test_each_feed_says_its_items(site: Site) -> None:
    """Address, title and date of each item arrive as they are, in every format and charset."""
    items = sample().feeds[site.host]
    kind = f"{site.feed.media_type}; charset={site.charset}"
    found = parse_feed(site.listing(items), kind, site.feed_url, max_items=1_000)
    assert found.title == site.name
    read = [(feed_address(i.link), i.title, microseconds(i.published or "")) for i in found.items]
    assert read == _said(items)


@by_name
def test_markup_in_a_title_is_escaped(site: Site) -> None:
    """Whatever an author writes, the feed is well formed and says that."""
    item = sample().feeds[site.host][0]
    title = 'Ham & "Eggs" </title> ]]>'
    odd = Item("tag:x", "https://a.example/?a=1&b=2", title, "", item.published)
    found = parse_feed(site.listing([odd]), site.feed.media_type, site.feed_url, max_items=10)
    assert [(i.link, i.title) for i in found.items] == [(odd.url, odd.title)]


@by_name
def test_a_front_page_leads_to_the_feed(site: Site) -> None:
    """Autodiscovery finds it."""
    front = site.answer("https", "/").body
    found = find_feeds(front, f"https://{site.host}/")
    assert [feed.url for feed in found] == [site.feed_url]


def test_items_come_out_in_time_and_old_ones_leave() -> None:
    """A feed is empty before the start; then it lists the newest, and all in the end."""
    clock = _Clock()
    press = Press(sample(), pace=1.0, clock=clock)
    host, items = SITES[0].host, sample().feeds[SITES[0].host]
    assert press.issue(host).items == ()
    assert press.published == 0
    press.start()
    assert press.issue(host).items == items[:1]
    clock.now += 50
    assert press.issue(host).items == items[1:51][::-1]
    clock.now += 1
    assert press.issue(host).items == items[32:52][::-1]
    assert press.published == 5 * 52
    clock.now += 1_000
    assert press.is_done
    assert press.published == len(sample().items)
    assert press.issue(host).items[0] == items[-1]


def test_a_reader_that_comes_late_misses_nothing() -> None:
    """Items that nobody has asked for yet are listed, however many; then only the newest."""
    clock = _Clock()
    press = Press(sample(), pace=1.0, clock=clock)
    press.start()
    clock.now += 1_000
    for host, items in sample().feeds.items():
        assert press.issue(host).items == items[::-1]
        assert press.issue(host).items == items[: -LISTED - 1 : -1]


def test_feeds_are_served_over_tls_and_not_twice(tmp_path: Path) -> None:
    """With validators; who has the newest already gets 304, and the whole again when it grew."""
    clock, site = _Clock(), SITES[1]
    press = Press(sample(), pace=1.0, clock=clock)

    async def run(web: WebClient) -> None:
        press.start()
        first = await web.get(site.feed_url, max_bytes=MIB)
        assert first.status == 200
        assert first.headers["last-modified"] == "Fri, 15 Jan 2027 08:00:00 GMT"
        known = {"If-None-Match": first.headers["etag"]}
        assert (await web.get(site.feed_url, known, max_bytes=MIB)).status == 304
        clock.now += 1
        grown = await web.get(site.feed_url, known, max_bytes=MIB)
        assert grown.status == 200
        assert grown.headers["etag"] != first.headers["etag"]

    _ask(press, tmp_path, run)


def test_http_leads_to_https_and_robots_are_told(tmp_path: Path) -> None:
    """The plain port only redirects; robots.txt forbids one address of the sample, and no other."""

    async def run(web: WebClient) -> None:
        for site in SITES:
            plain = await web.get(f"http://{site.host}/weg?x=1", max_bytes=MIB)
            assert redirect_target(plain) == f"https://{site.host}/weg?x=1"
            answer = await web.get(f"https://{site.host.upper()}:443/robots.txt", max_bytes=MIB)
            robots = Robots(RobotsText(answer.status, 0, answer.body.decode()))
            refused = [i.url for i in sample().feeds[site.host] if not robots.allows(i.url)]
            assert refused == [f"https://{site.host}{FORBIDDEN}"]

    _ask(Press(sample()), tmp_path, run)


def _ask(press: Press, directory: Path, run: Callable[[WebClient], Awaitable[None]]) -> None:
    """Serve the sites, and ask them as the job's workers do."""

    async def serve() -> None:
        async with serving(sample(), press, directory) as served:
            settings = Settings.model_validate(
                OF_ANSWERS
                | {
                    "contact": "mailto:test@example.org",
                    "connect_to": served.connect_to,
                    "allow_networks": f"{LOOPBACK}/32",
                    "fetch_ca_file": served.ca_file,
                }
            )
            async with WebClient(settings.client) as web:
                await run(web)

    asyncio.run(serve())
