"""Asks the web, one request at a time: bounded in time and bytes, to public addresses only.

    connect ───────▶ headers ─────────▶ body ──────────────▶ Answer
    connect_seconds  header_seconds     read_seconds a piece
    guard.py         max_header_bytes   decoding.py: max_bytes, budget.py
    └──────────────────── total_seconds ───────────────────┘

header_seconds, too, count from the beginning; a byte now and then prolongs neither.

Whatever goes wrong is a `WebError` (failures.py). Redirects, statuses and retries are the
caller's: it alone knows whose turn it is.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import version
from time import monotonic
from types import TracebackType
from typing import Self

import aiohttp
from yarl import URL

from urltree.crawl.decisions.response import Response, Trouble, WebError
from urltree.crawl.web.budget import BodyBudget
from urltree.crawl.web.connection import BoundedConnection
from urltree.crawl.web.decoding import BodyDecoder
from urltree.crawl.web.failures import web_error
from urltree.crawl.web.guard import Connecting, Guard
from urltree.crawl.web.options import ClientOptions
from urltree.crawl.web.redirects import request_url
from urltree.crawl.web.resolver import Resolver

_PIECE = 64 * 1024
_BODIES = 32 * 1024 * 1024  # held at once by all requests; issue 4 allows 100 MB above idle
_MAX_HEADERS = 500
_KEPT_SECONDS = 5  # beyond the pause of a host, and 55 polls a second hold 275 idle sockets
_DNS_SECONDS = 60
_CONTROL = dict.fromkeys([*range(32), 127])

WantsBody = Callable[[int, Mapping[str, str]], bool]


def want_every_body(status: int, headers: Mapping[str, str]) -> bool:  # noqa: ARG001 - the shape of `Wants`
    """Want every body."""
    return True


class WebClient:
    """A worker's connections to the web; an async context manager.

    Args:
        options: identity, limits, and permitted networks.
    """

    def __init__(self, options: ClientOptions) -> None:
        self._options = options
        self._guard = Guard(options.allow_networks)
        self._tls = ssl.create_default_context(cafile=options.ca_file)
        self._session: aiohttp.ClientSession | None = None
        self._bodies = BodyBudget(_BODIES)

    async def __aenter__(self) -> Self:
        options = self._options
        connector = aiohttp.TCPConnector(
            limit=0,  # the callers make one request a host at a time, and a bounded number of them
            resolver=Resolver(options.connect_to),
            ttl_dns_cache=_DNS_SECONDS,
            keepalive_timeout=_KEPT_SECONDS,
            ssl=self._tls,
            socket_factory=self._guard.socket,
        )
        connector._factory = BoundedConnection.maker(asyncio.get_running_loop())  # noqa: SLF001
        self._session = aiohttp.ClientSession(
            connector=connector,
            headers={"User-Agent": user_agent(options.contact), "Accept-Encoding": "gzip"},
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(
                total=None, connect=options.connect_seconds, sock_read=options.read_seconds
            ),
            auto_decompress=False,
            trust_env=False,
            max_line_size=options.max_header_bytes,
            max_field_size=options.max_header_bytes,
            max_headers=_MAX_HEADERS,
            middlewares=(self._once,),
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def get(
        self,
        url: str,
        headers: Mapping[str, str] = {},
        *,
        max_bytes: int,
        wants: WantsBody = want_every_body,
    ) -> Response:
        """Ask once; a redirect or an error status is an answer too.

        Args:
            url: goes out as given, apart from what no browser would send either.
            headers: besides User-Agent and Accept-Encoding.
            max_bytes: of the decompressed body.
            wants: where it says no, the body stays unread and the connection is closed.

        Raises:
            WebError: there is no answer.
        """
        address = URL(request_url(url), encoded=True)
        with self._guard.watch() as connecting:
            try:
                async with _within(self._options.total_seconds, "no complete answer"):
                    return await self._ask(url, address, headers, max_bytes, wants)
            except WebError:
                raise
            except (aiohttp.ClientError, OSError, ValueError, EOFError) as error:
                raise web_error(error, connecting) from error

    async def _ask(
        self, url: str, address: URL, headers: Mapping[str, str], max_bytes: int, wants: WantsBody
    ) -> Response:
        if self._session is None:
            raise RuntimeError("the client was not entered")
        began = monotonic()
        async with _within(self._options.header_seconds, "no headers"):
            response = await self._session.get(address, headers=headers, allow_redirects=False)
        seconds = monotonic() - began
        try:
            self._check(response)
            found = _headers(response.raw_headers)
            body = b""
            if wants(response.status, found):
                body = await self._read(response, found, max_bytes)
            return Response(url, response.status, found, body, seconds)
        finally:
            _drop(response)

    async def _read(
        self, response: aiohttp.ClientResponse, headers: Mapping[str, str], max_bytes: int
    ) -> bytes:
        body = BodyDecoder(headers.get("content-encoding", ""), max_bytes)
        protocol = response.connection.protocol if response.connection else None
        with self._bodies.share() as share:
            async for piece in response.content.iter_chunked(_PIECE):
                body.feed(piece)
                await share.hold(body.size)
        # Where only the end of the connection ends the body, aiohttp takes a reset for that end.
        is_framed = "content-length" in headers or "transfer-encoding" in headers
        if protocol is not None and not is_framed:
            error = protocol.exception()
            if isinstance(error, aiohttp.ClientOSError):
                raise WebError(Trouble.TRUNCATED, f"the connection was reset: {error}")
        return body.whole()

    def _check(self, response: aiohttp.ClientResponse) -> None:
        size = sum(len(name) + len(value) + 4 for name, value in response.raw_headers)
        if size > self._options.max_header_bytes:
            raise WebError(
                Trouble.HEADERS_TOO_LARGE,
                f"headers have {size} bytes, more than {self._options.max_header_bytes}",
            )
        if response.status < 200 or response.status > 599:
            raise WebError(Trouble.PROTOCOL, f"status {response.status}")

    async def _once(
        self, request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        """Keep aiohttp from asking twice, except where a kept connection was closed meanwhile.

        RFC 9112, 9.3.1 allows the second; a server that resets everybody has one request a turn.
        """
        connecting: Connecting = self._guard.connecting()
        try:
            return await handler(request)
        except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
            if connecting.tried or connecting.refused:
                raise web_error(error, connecting) from error
            raise


def user_agent(contact: str | None) -> str:
    """Say who asks, and where its owner is reached."""
    name = f"urltree/{version('urltree')}"
    return f"{name} (+{contact})" if contact else name


@asynccontextmanager
async def _within(seconds: float, failing: str) -> AsyncIterator[None]:
    deadline = asyncio.timeout(seconds)
    try:
        async with deadline:
            yield
    except TimeoutError:
        if deadline.expired():
            raise WebError(Trouble.TIMEOUT, f"{failing} within {seconds:g} s") from None
        raise


def _drop(response: aiohttp.ClientResponse) -> None:
    """End a connection whose answer was not read to its end; others are kept already.

    Closing alone would read on for 30 s over TLS, until the other side agrees.
    """
    if response.connection is not None and response.connection.transport is not None:
        response.connection.transport.abort()
    response.close()


def _headers(raw: tuple[tuple[bytes, bytes], ...]) -> dict[str, str]:
    """Join what came several times, once each: servers repeat a Content-Type word for word."""
    found: dict[str, dict[str, None]] = {}
    for name, value in raw:
        found.setdefault(_text(name).lower(), {})[_text(value)] = None
    return {name: ", ".join(values) for name, values in found.items()}


def _text(raw: bytes) -> str:
    """UTF-8 if it can be, else Latin-1; without control characters, which no request may have."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return text.translate(_CONTROL).strip()
