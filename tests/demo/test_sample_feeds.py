"""The feeds of the sample sites are readable, grow with time, and are served over TLS."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from agents.settings.feeds import MIB
from agents.settings.job import Settings
from demo.sites import SampleItem, make_sample
from demo.sites.press import LISTED, Press
from demo.sites.server import LOOPBACK, serving
from demo.sites.site import FORBIDDEN, SampleSite
from tests.agents.limits import OF_ANSWERS
from urltree.crawl.decisions.feed.address import feed_address
from urltree.crawl.decisions.feed.discovery import find_feeds
from urltree.crawl.decisions.feed.parsing import parse_feed
from urltree.crawl.decisions.host.host_state import RobotsText
from urltree.crawl.decisions.host.robots import Robots
from urltree.crawl.web.client import WebClient
from urltree.crawl.web.redirects import redirect_target
from urltree.page import microseconds

SITES = make_sample().sites
by_name = pytest.mark.parametrize("site", SITES, ids=lambda site: str(site.host))


class _Clock:
    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def _said(items: tuple[SampleItem, ...]) -> list[tuple[str, str, int]]:
    return [(feed_address(i.url), i.title, microseconds(i.published.isoformat())) for i in items]


@by_name
def test_each_feed_says_its_items(site: SampleSite) -> None:
    """The job's parser finds address, title and date of each item, in every format and charset."""
    items = make_sample().feeds[site.host]
    kind = f"{site.feed.media_type}; charset={site.charset}"
    found = parse_feed(site.listing(items), kind, site.feed_url, max_items=1_000)
    assert found.title == site.name
    read = [(feed_address(i.link), i.title, microseconds(i.published or "")) for i in found.items]
    assert read == _said(items)


@by_name
def test_markup_in_a_title_is_escaped(site: SampleSite) -> None:
    """A feed is well-formed and has the exact title, even if the title contains markup."""
    item = make_sample().feeds[site.host][0]
    title = 'Ham & "Eggs" </title> ]]>'
    odd = SampleItem("tag:x", "https://a.example/?a=1&b=2", title, "", item.published)
    found = parse_feed(site.listing([odd]), site.feed.media_type, site.feed_url, max_items=10)
    assert [(i.link, i.title) for i in found.items] == [(odd.url, odd.title)]


@by_name
def test_a_front_page_leads_to_the_feed(site: SampleSite) -> None:
    """Autodiscovery finds the feed of a site on the site's front page."""
    front = site.answer("https", "/").body
    found = find_feeds(front, f"https://{site.host}/")
    assert [feed.url for feed in found] == [site.feed_url]


def test_items_come_out_in_time_and_old_ones_leave() -> None:
    """A feed is empty before the start; later it lists the newest published items."""
    clock = _Clock()
    press = Press(make_sample(), pace=1.0, clock=clock)
    host, items = SITES[0].host, make_sample().feeds[SITES[0].host]
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
    assert press.published == len(make_sample().items)
    assert press.issue(host).items[0] == items[-1]


def test_a_reader_that_comes_late_misses_nothing() -> None:
    """The first request gets all items published so far; later requests get only the newest."""
    clock = _Clock()
    press = Press(make_sample(), pace=1.0, clock=clock)
    press.start()
    clock.now += 1_000
    for host, items in make_sample().feeds.items():
        assert press.issue(host).items == items[::-1]
        assert press.issue(host).items == items[: -LISTED - 1 : -1]


def test_feeds_are_served_over_tls_and_not_twice(tmp_path: Path) -> None:
    """A conditional request gets 304, and gets the whole feed when the feed has grown."""
    clock, site = _Clock(), SITES[1]
    press = Press(make_sample(), pace=1.0, clock=clock)

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
    """Plain http only redirects to https. robots.txt forbids exactly one address of each site."""

    async def run(web: WebClient) -> None:
        for site in SITES:
            plain = await web.get(f"http://{site.host}/weg?x=1", max_bytes=MIB)
            assert redirect_target(plain) == f"https://{site.host}/weg?x=1"
            answer = await web.get(f"https://{site.host.upper()}:443/robots.txt", max_bytes=MIB)
            robots = Robots(RobotsText(answer.status, 0, answer.body.decode()))
            refused = [i.url for i in make_sample().feeds[site.host] if not robots.allows(i.url)]
            assert refused == [f"https://{site.host}{FORBIDDEN}"]

    _ask(Press(make_sample()), tmp_path, run)


def _ask(press: Press, directory: Path, run: Callable[[WebClient], Awaitable[None]]) -> None:
    """Serve the sites, and send requests with the client of the job's workers."""

    async def serve() -> None:
        async with serving(make_sample(), press, directory) as served:
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
