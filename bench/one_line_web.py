"""Web sites on loopback with feeds, slow pages, redirects of feeds, Crawl-delays and responses 429.

    www.site0.example …    two feeds, which publish an item every 30 seconds, and pages
    pages0.example …       pages of other sites' items
    hub0.example …         feeds to which feeds of many sites redirect

A thread of the benchmark serves all hosts on one port.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from random import Random

from aiohttp import web

from bench.host_observer import HostObserver
from demo.threaded_server import ThreadedServer
from models.crawl.feed import Feed
from urltree.crawl.decisions.host.host_state import Politeness

SITES, PAGE_HOSTS, HUBS = 180, 15, 5
FEEDS_EACH = 2
PUBLISHES_EACH = 30.0  # seconds between two items of a feed
LISTED = 10  # number of items that a feed lists
LATENCY, SLOW_LATENCY = (0.05, 0.6), (1.5, 3.0)  # shortest and longest latency in seconds
CRAWL_DELAY = 3.0
RETRY_AFTER = 12


class OneLineWeb(ThreadedServer):
    """Sites with feeds; as a context manager, it serves them on a port.

    Args:
        politeness: limits that the job's settings promise.

    Attributes:
        observer: the requests of all hosts.
        kinds: number of responses by kind: "feed", "page", "robots", "redirect", "429".
        port: port of the server.
    """

    def __init__(self, politeness: Politeness) -> None:
        super().__init__()
        self.observer = HostObserver(politeness)
        self.kinds: Counter[str] = Counter()
        self.port = 0
        self._random = Random(1)
        self._started = time.monotonic()

    def feeds(self) -> list[Feed]:
        """Return all feeds."""
        return [
            Feed(site=f"site{n}.example", url=f"http://www.site{n}.example/feed/{n}/{number}")
            for n in range(SITES)
            for number in range(FEEDS_EACH)
        ]

    async def _close(self) -> None:
        await self._runner.cleanup()

    async def _listen(self) -> None:
        app = web.Application()
        app.router.add_get("/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, backlog=1_000)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def _answer(self, request: web.Request) -> web.Response:
        host, began = request.host, time.monotonic()
        self.observer.begin(host, began)
        retry_after = crawl_delay = None
        try:
            await asyncio.sleep(self._random.uniform(*_latency(host)))
            kind, answer = self._response(host, request.path)
            self.kinds[kind] += 1
            if kind == "429":
                retry_after = RETRY_AFTER
            if kind == "robots" and _number(host) % 10 == 1:
                crawl_delay = CRAWL_DELAY
            return answer
        finally:
            now = time.monotonic()
            self.observer.end(
                host, now, now - began, retry_after=retry_after, crawl_delay=crawl_delay
            )

    def _response(self, host: str, path: str) -> tuple[str, web.Response]:
        number = _number(host)
        if path == "/robots.txt":
            delay = f"Crawl-delay: {CRAWL_DELAY:g}\n" if number % 10 == 1 else ""
            return "robots", web.Response(text=f"User-agent: *\n{delay}Disallow: /private\n")
        if number % 5 == 2 and self.observer.requests[host] % 25 == 0:
            headers = {"Retry-After": str(RETRY_AFTER)}
            return "429", web.Response(status=429, headers=headers)
        if path.startswith("/feed/"):
            if host.startswith("www.") and number % 4 == 3:
                to = f"http://hub{number // 4 % HUBS}.example{path}"
                return "redirect", web.Response(status=302, headers={"Location": to})
            return "feed", self._feed(*path.split("/")[2:4])
        return "page", web.Response(text=_page(f"http://{host}{path}"), content_type="text/html")

    def _feed(self, site: str, feed: str) -> web.Response:
        newest = LISTED + int((time.monotonic() - self._started) / PUBLISHES_EACH)
        links = [
            f"http://{_page_host(int(site), item)}/{site}/{feed}/{item}"
            for item in range(newest, newest - LISTED, -1)
        ]
        items = "".join(
            f"<item><title>{_title(link)}</title><link>{link}</link></item>" for link in links
        )
        text = f'<rss version="2.0"><channel><title>{site}</title>{items}</channel></rss>'
        return web.Response(text=text, content_type="application/rss+xml")


def _page_host(site: int, item: int) -> str:
    if (site + item) % 8 == 0:
        return f"pages{(site + item) // 8 % PAGE_HOSTS}.example"
    return f"www.site{site}.example"


def _page(url: str) -> str:
    """Return a page that shows the title of its item, and else has words of its own.

    Without its title it might be a wall, and would be held.
    """
    title = _title(url)
    text = " ".join(_words(Random(f"text of {url}"), 150))
    return f"<html><title>{title}</title><body><h1>{title}</h1><p>{text}</p></body></html>"


def _title(url: str) -> str:
    return " ".join(_words(Random(url), 6))


def _words(random: Random, number: int) -> list[str]:
    return ["".join(random.choices("abcdefghijklmnop", k=7)) for _ in range(number)]


def _number(host: str) -> int:
    """Return the number in the name of a host."""
    return int("".join(filter(str.isdigit, host)) or 0)


def _latency(host: str) -> tuple[float, float]:
    return SLOW_LATENCY if _number(host) % 20 == 5 else LATENCY
