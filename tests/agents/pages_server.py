"""A web server on loopback for all hosts, with responses that a test prepares."""

from __future__ import annotations

import asyncio
import ssl
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from hashlib import shake_128
from time import monotonic
from typing import Any

from aiohttp import web

HTML = "text/html; charset=utf-8"
_LETTERS = str.maketrans("0123456789", "ghijklmnop")  # numbers do not count as text

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Web:
    """Fake web server with prepared pages; all other addresses get status 404.

    Attributes:
        asked: host and path of each request, in order.
        requests: address (host and path) and headers of each request.
        at: times of the requests to each host, in monotonic seconds.
        busy, most_at_once: current and maximum number of simultaneous requests to each host.
        port, tls_port: ports for http and https.
    """

    def __init__(self) -> None:
        self._answers: dict[str, list[Answer]] = {}
        self.asked: list[tuple[str, str]] = []
        self.requests: list[tuple[str, Mapping[str, str]]] = []
        self.at: dict[str, list[float]] = defaultdict(list)
        self.busy: dict[str, int] = defaultdict(int)
        self.most_at_once: dict[str, int] = defaultdict(int)
        self.port = self.tls_port = 0

    def put(self, address: str, *answers: Answer) -> None:
        """Prepare responses for an address (host and path); the last one is repeated."""
        self._answers[address] = list(answers)

    def page(self, address: str, text: str | None = None, **headers: str) -> None:
        """Prepare a page with one paragraph: the text, or the address if no text is given."""
        self.put(address, html(story(address, text or address), **headers))

    def headers(self, address: str) -> list[Mapping[str, str]]:
        """Return the headers of all requests for an address."""
        return [headers for found, headers in self.requests if found == address]

    def times(self, address: str) -> int:
        """Return the number of requests for an address."""
        return sum(host + path == address for host, path in self.asked)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Send the next prepared response for the address of a request."""
        host, path = request.host, request.path_qs
        self.asked.append((host, path))
        self.requests.append((host + path, dict(request.headers)))
        self.at[host].append(monotonic())
        self.busy[host] += 1
        self.most_at_once[host] = max(self.most_at_once[host], self.busy[host])
        try:
            answers = self._answers.get(host + path)
            if not answers:
                return web.Response(status=404)
            return await (answers.pop(0) if len(answers) > 1 else answers[0])(request)
        finally:
            self.busy[host] -= 1


def story(address: str, text: str) -> str:
    """Return the HTML of a page with more than 100 words of its own, so that it is not held."""
    digest = shake_128(address.encode()).hexdigest(160).translate(_LETTERS)
    words = " ".join(digest[at : at + 3] for at in range(0, len(digest), 3))
    return f"<html><body><p>{text}</p><p>{words}</p></body></html>"


def html(body: str, status: int = 200, **headers: str) -> Answer:
    """Return a response with an HTML body; in the names of headers, underscores become hyphens."""

    async def answer(_: web.Request) -> web.StreamResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(
            body=body.encode(), status=status, headers={"Content-Type": HTML} | named
        )

    return answer


def redirect(to: str, status: int = 301) -> Answer:
    """Return a redirect to this URL."""
    return html("", status, Location=to)


def slowly(seconds: float, then: Answer) -> Answer:
    """Return a response that sends the response `then` after a delay in seconds."""

    async def answer(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(seconds)
        return await then(request)

    return answer


@asynccontextmanager
async def serving(pages: Web, tls: ssl.SSLContext | None = None) -> AsyncIterator[Web]:
    """Run the server on a free port, and on another one for https if it has a TLS context."""
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", pages.answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    address: Any = runner.addresses[0]
    pages.port = address[1]
    if tls is not None:
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
        address = next(a for a in runner.addresses if a[1] != pages.port)
        pages.tls_port = address[1]
    try:
        yield pages
    finally:
        await runner.cleanup()
