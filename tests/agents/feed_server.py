"""Sites with feeds on loopback, and the settings under which a worker reaches them by name."""

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
    """Seconds since 1970, as a test says; they go on by themselves."""

    ahead: float = 0.0

    def __call__(self) -> float:
        """The time."""
        return time.time() + self.ahead


@dataclass
class FeedServer:
    """Answers for all hosts as it is told, and remembers who asked what.

    Attributes:
        answers: by address without scheme; status, headers and body.
        requests: address and headers of each.
    """

    answers: dict[str, tuple[int, Mapping[str, str], bytes]] = field(default_factory=dict)
    requests: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)
    port: int = 0

    def put(self, address: str, body: bytes = b"", status: int = 200, **headers: str) -> None:
        """Answer so from now on; `Retry_After="9"` is a header."""
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        self.answers[address] = (status, {"Content-Type": "text/html", **named}, body)

    def asked(self, address: str) -> list[Mapping[str, str]]:
        """The headers of all requests for an address."""
        return [headers for found, headers in self.requests if found == address]

    async def answer(self, request: web.Request) -> web.Response:
        """As it was told; 304 where the request has the ETag."""
        address = f"{request.headers['Host']}{request.path_qs}"
        self.requests.append((address, dict(request.headers)))
        status, headers, body = self.answers.get(address, (404, {}, b""))
        if "ETag" in headers and request.headers.get("If-None-Match") == headers["ETag"]:
            return web.Response(status=304, headers={"ETag": headers["ETag"]})
        return web.Response(status=status, headers=headers, body=body)


@asynccontextmanager
async def serving() -> AsyncIterator[FeedServer]:
    """A server on a port of its own."""
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
    """Settings of a worker for which every host is that server."""
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
    """A feed with one item a title, whose first word is its link; newest first, as in most."""
    items = "".join(
        f"<item><title>{escape(title)}</title><link>https://{host}/{title.split()[0]}</link></item>"
        for title in titles
    )
    return f'<rss version="2.0"><channel><title>News</title>{items}</channel></rss>'.encode()
