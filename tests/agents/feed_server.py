"""Sites with feeds on loopback, and the settings with which a worker reaches them by name."""

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
    """A clock that returns seconds since 1970; a test can move it, and it advances by itself."""

    ahead: float = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return time.time() + self.ahead


@dataclass
class FeedServer:
    """A server for all hosts that gives prepared responses and records the requests.

    Attributes:
        answers: status, headers and body by address without scheme.
        requests: address and headers of each request.
    """

    answers: dict[str, tuple[int, Mapping[str, str], bytes]] = field(default_factory=dict)
    requests: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)
    port: int = 0

    def put(self, address: str, body: bytes = b"", status: int = 200, **headers: str) -> None:
        """Prepare the response for an address; `Retry_After="9"` becomes a header."""
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        self.answers[address] = (status, {"Content-Type": "text/html", **named}, body)

    def asked(self, address: str) -> list[Mapping[str, str]]:
        """Return the headers of all requests for an address."""
        return [headers for found, headers in self.requests if found == address]

    async def answer(self, request: web.Request) -> web.Response:
        """Send the prepared response; 304 if the request has its ETag."""
        address = f"{request.headers['Host']}{request.path_qs}"
        self.requests.append((address, dict(request.headers)))
        status, headers, body = self.answers.get(address, (404, {}, b""))
        if "ETag" in headers and request.headers.get("If-None-Match") == headers["ETag"]:
            return web.Response(status=304, headers={"ETag": headers["ETag"]})
        return web.Response(status=status, headers=headers, body=body)


@asynccontextmanager
async def serving() -> AsyncIterator[FeedServer]:
    """Run a server on a port of its own."""
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
    """Return settings with which a worker reaches every host at that server."""
    return Settings.model_validate(
        settings.model_dump()
        | {
            "contact": "https://example.org/crawler",
            "allow_networks": "127.0.0.0/8",
            "connect_to": f"::127.0.0.1:{server.port}",
            "host_pause": 0.01,
            **others,
        }
    )


def rss(*titles: str, host: str = "news.example.org") -> bytes:
    """Return a feed with one item per title, newest first; the first word is the link."""
    items = "".join(
        f"<item><title>{escape(title)}</title><link>https://{host}/{title.split()[0]}</link></item>"
        for title in titles
    )
    return f'<rss version="2.0"><channel><title>News</title>{items}</channel></rss>'.encode()
