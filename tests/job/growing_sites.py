"""Sites on loopback whose feeds name new pages at every poll, and which record how requests end.

    www.site0.example   /feed      twenty pages that no poll has named before
                        /page/N    an answer after PAUSE
    www.slow0.example   /feed      the same
                        /page/N    no answer: the request runs until it is cancelled

The sites are busy for as long as the workers run, so that every command meets waiting pages and
running requests.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from aiohttp import web

from demo.threaded_server import ThreadedServer
from models.crawl.feed import Feed

PAUSE = 0.05  # seconds until the answer of a page
_PAGES = 20  # new pages in each answer of a feed
_NEVER = 3_600.0  # seconds that no request waits for


@dataclass(slots=True)
class Request:
    """A request, with times in seconds since 1970.

    Attributes:
        url: address of the request.
        begin: time at which the site had read the headers of the request.
        end: time of the answer, or of the end of the connection; None while the request runs.
    """

    url: str
    begin: float
    end: float | None = None


class GrowingSites(ThreadedServer):
    """The sites; as a context manager, it serves them on a port.

    Args:
        number: number of sites that answer.
        slow: number of sites that do not answer requests for pages.

    Attributes:
        feeds: the feeds of the sites, one each.
        requests: all requests, in the order in which they began.
    """

    def __init__(self, number: int, slow: int = 0) -> None:
        super().__init__()
        names = [*(f"site{n}" for n in range(number)), *(f"slow{n}" for n in range(slow))]
        self.feeds = [
            Feed(site=f"{name}.example", url=f"http://www.{name}.example/feed") for name in names
        ]
        self.requests: list[Request] = []
        self._named = 0
        self.port = 0

    def settings(self) -> dict[str, object]:
        """Return settings that connect workers to these sites only, and ask them without rest."""
        return {
            "connect_to": f"::127.0.0.1:{self.port}",
            "allow_networks": "127.0.0.0/8",
            "requests_per_address": "1000",
            "requests_per_domain": "1000",
            "requests_per_domain_second": "1000",
            "fetches_at_once": "200",
            "host_pause": "0.3",
            "latency_factor": "0",
            "interval_min": "2",
            "interval_max": "4",
            **dict.fromkeys(("connect_seconds", "header_seconds", "total_seconds"), 60),
            "read_seconds": "60",
        }

    def of(self, host: str) -> list[Request]:
        """Return the requests to a host."""
        return [one for one in list(self.requests) if one.url.startswith(f"http://{host}/")]

    async def _close(self) -> None:
        await self._runner.cleanup()

    async def _listen(self) -> None:
        app = web.Application()
        app.router.add_get("/{path:.*}", self._answer)
        # A handler is cancelled when its connection ends; so the end of a request is seen.
        self._runner = web.AppRunner(
            app, access_log=None, handler_cancellation=True, shutdown_timeout=1
        )
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0, backlog=1_000).start()
        self.port = self._runner.addresses[0][1]

    async def _answer(self, request: web.Request) -> web.Response:
        host, path = request.host, request.path
        asked = Request(f"http://{host}{path}", time.time())
        self.requests.append(asked)
        try:
            if path == "/feed":
                return self._feed(host)
            if not path.startswith("/page/"):
                return web.Response(status=404)
            await asyncio.sleep(_NEVER if host.startswith("www.slow") else PAUSE)
            return _page(path)
        finally:
            asked.end = time.time()

    def _feed(self, host: str) -> web.Response:
        numbers = range(self._named, self._named + _PAGES)
        self._named += _PAGES
        items = "".join(
            f"<item><title>Story number {n}</title><link>http://{host}/page/{n}</link></item>"
            for n in numbers
        )
        text = f'<rss version="2.0"><channel><title>News</title>{items}</channel></rss>'
        return web.Response(text=text, content_type="application/rss+xml")


def _page(path: str) -> web.Response:
    number = path.rpartition("/")[2]
    words = " ".join(f"word{number}x{n}" for n in range(120))
    html = f"<title>Story number {number}</title><p>Story number {number}</p><p>{words}</p>"
    return web.Response(text=html, content_type="text/html")
