"""A web server that accepts requests and holds back its responses until a test releases them.

For pages and feeds, it holds back robots.txt, the headers of a response, or the rest of its body.
On a connection that expects TLS, it sends nothing. Each URL has its own site.
"""

from __future__ import annotations

import asyncio
import threading
from asyncio import StreamReader, StreamWriter
from collections.abc import Iterator
from contextlib import contextmanager

from aiohttp import web

from tests.agents.pages_server import HTML, Answer, Web, html, serving, story
from tests.job.feed_formats import rss

EACH = 8  # number of sites for each way of holding back a response


def _urls(url: str, *ways: str) -> tuple[str, ...]:
    return tuple(url.format(f"{way}{n}") for way in ways for n in range(EACH))


PAGES = _urls("http://{}.example/page", "robots", "headers", "body")
TLS = _urls("https://{}.example/page", "tls")
FEEDS = _urls("http://{}-feed.example/feed", "headers", "body")


class HeldWeb(Web):
    """The sites of the server, which run in a separate thread.

    Attributes:
        rules: rules for the setting `connect_to`, which match every host.
    """

    def __init__(self) -> None:
        super().__init__()
        self.rules: tuple[str, ...] = ()
        self._tls = 0
        self._loop = asyncio.new_event_loop()
        self._released = asyncio.Event()
        for host in (url.split("/")[2] for url in PAGES):
            is_begun, robots = host.startswith("body"), f"{host}/robots.txt"
            self.put(robots, self._later("") if host.startswith("robots") else html("", 404))
            self.put(f"{host}/page", self._later(story(host, "Released."), is_begun=is_begun))
        for url in FEEDS:
            address = url.removeprefix("http://")
            feed = self._later(rss(url, []), is_begun=address.startswith("body"))
            self.put(address, feed)

    @property
    def held(self) -> int:
        """Number of requests and TLS connections that wait for a response."""
        return sum(self.busy.values()) + self._tls

    def release(self) -> None:
        """Answer all waiting requests, and answer later requests at once."""
        self._loop.call_soon_threadsafe(self._released.set)

    def _later(self, body: str, *, is_begun: bool = False) -> Answer:
        first = body[:2] if is_begun else ""

        async def answer(request: web.Request) -> web.StreamResponse:
            response = web.StreamResponse(headers={"Content-Type": HTML})
            if is_begun:
                await response.prepare(request)
                await response.write(first.encode())
            await self._released.wait()
            await response.prepare(request)
            await response.write(body.removeprefix(first).encode())
            return response

        return answer

    async def _silent(self, _: StreamReader, writer: StreamWriter) -> None:
        self._tls += 1
        await self._released.wait()
        writer.close()

    async def _serve(self, started: threading.Event, over: asyncio.Event) -> None:
        tls = await asyncio.start_server(self._silent, "127.0.0.1")
        async with serving(self), tls:
            port = tls.sockets[0].getsockname()[1]
            self.rules = (f":443:127.0.0.1:{port}", f"::127.0.0.1:{self.port}")
            started.set()
            await over.wait()
            self._released.set()

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Serve requests until the block ends."""
        started, over = threading.Event(), asyncio.Event()
        thread = threading.Thread(
            target=self._loop.run_until_complete, args=(self._serve(started, over),)
        )
        thread.start()
        started.wait()
        try:
            yield
        finally:
            self._loop.call_soon_threadsafe(over.set)
            thread.join()
            self._loop.close()
