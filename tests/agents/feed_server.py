"""A server on loopback for sites with feeds, and settings with which workers reach it by name."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import escape

from aiohttp import web

from agents.settings.job import Settings


@dataclass
class Clock:
    """Clock that returns seconds since 1970 and advances by itself; a test can set it ahead.

    Attributes:
        ahead: seconds that have passed in the test alone.
        wrong: seconds by which the clock is wrong, although no time has passed.
    """

    ahead: float = 0.0
    wrong: float = 0.0

    def __call__(self) -> float:
        """Return the time in seconds since 1970."""
        return time.time() + self.ahead + self.wrong


@dataclass
class FeedServer:
    """Fake web server for all hosts; it sends prepared responses and records the requests.

    Attributes:
        answers: prepared status, headers and body of each address (host and path).
        requests: address (host and path) and headers of each request.
    """

    answers: dict[str, tuple[int, Mapping[str, str], bytes]] = field(default_factory=dict)
    requests: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)
    port: int = 0

    def put(self, address: str, body: bytes = b"", status: int = 200, **headers: str) -> None:
        """Prepare the response for an address (host and path).

        A keyword argument such as `Retry_After="9"` becomes a header.
        """
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        self.answers[address] = (status, {"Content-Type": "text/html", **named}, body)

    def asked(self, address: str) -> list[Mapping[str, str]]:
        """Return the headers of all requests for an address."""
        return [headers for found, headers in self.requests if found == address]

    async def answer(self, request: web.Request) -> web.Response:
        """Send the prepared response, or status 304 if the request contains the response's ETag."""
        address = f"{request.headers['Host']}{request.path_qs}"
        self.requests.append((address, dict(request.headers)))
        status, headers, body = self.answers.get(address, (404, {}, b""))
        if "ETag" in headers and request.headers.get("If-None-Match") == headers["ETag"]:
            return web.Response(status=304, headers={"ETag": headers["ETag"]})
        return web.Response(status=status, headers=headers, body=body)


@asynccontextmanager
async def serving() -> AsyncIterator[FeedServer]:
    """Run a feed server on a free port."""
    server = FeedServer()
    app = web.Application()
    app.router.add_get("/{path:.*}", server.answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.port = runner.addresses[0][1]
    try:
        yield server
    finally:
        await runner.cleanup()


def reaching(settings: Settings, server: FeedServer, **others: Any) -> Settings:
    """Return settings with which a worker's requests to any host reach this server."""
    return Settings.model_validate(
        settings.model_dump()
        | {
            "contact": "https://example.org/crawler",
            "allow_networks": "127.0.0.0/8",
            "connect_to": f"::127.0.0.1:{server.port}",
            "requests_per_address": 1_000,
            "requests_per_domain_second": 1_000,
            "host_pause": 0.01,
            **others,
        }
    )


def rss(*titles: str, host: str = "news.example.org") -> bytes:
    """Return a feed with one item per title, newest first.

    The first word of a title is the path of the item's link.
    """
    items = "".join(
        f"<item><title>{escape(title)}</title><link>https://{host}/{title.split()[0]}</link></item>"
        for title in titles
    )
    return f'<rss version="2.0"><channel><title>News</title>{items}</channel></rss>'.encode()
