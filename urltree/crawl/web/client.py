"""HTTP client that sends single requests, only to public addresses, and limits time and size.

    connect ───────▶ headers ─────────▶ body ──────────────▶ Response
    connect_seconds  header_seconds     read_seconds between two reads
    guard.py         max_header_bytes   decoding.py: max_bytes, budget.py
    └──────────────────── total_seconds ───────────────────┘

Both header_seconds and total_seconds are measured from the start of the request. So a server that
sends one byte after the other cannot extend them.

Every failure is a `WebError` (failures.py). The caller handles redirects, error statuses and
retries, because the caller knows when the next request to a host is allowed.
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

_READ_BYTES = 64 * 1024
_BODIES = 32 * 1024 * 1024  # limit on the bytes of all bodies in memory
_MAX_HEADERS = 500
# Seconds for which an idle connection stays open, longer than the default pause of a host. At 55
# polls per second, 275 connections are idle.
_KEPT_SECONDS = 5
_DNS_SECONDS = 60
_CONTROL = dict.fromkeys([*range(32), 127])

WantsBody = Callable[[int, Mapping[str, str]], bool]


def want_every_body(status: int, headers: Mapping[str, str]) -> bool:  # noqa: ARG001 - see `WantsBody`
    """Return True: read the body of every response."""
    return True


class WebClient:
    """The HTTP client of a worker; an asynchronous context manager.

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
            limit=0,  # no limit: callers send one request per host and limit the total number
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
        """Send one request; a redirect or an error status is a response too.

        Args:
            url: URL of the request. It is normalised as browsers do, and otherwise unchanged.
            headers: header fields to send in addition to User-Agent and Accept-Encoding.
            max_bytes: maximum size of the decompressed body.
            wants: function of status and headers that returns whether to read the body. If it
                returns False, the connection is closed.

        Raises:
            WebError: there is no usable response.
        """
        address = URL(request_url(url), encoded=True)
        with self._guard.watch() as connecting:
            try:
                async with _within(self._options.total_seconds, "the response was not complete"):
                    return await self._ask(url, address, headers, max_bytes, wants)
            except WebError:
                raise
            except (aiohttp.ClientError, OSError, ValueError, EOFError) as error:
                raise web_error(error, connecting) from error

    async def _ask(
        self, url: str, address: URL, headers: Mapping[str, str], max_bytes: int, wants: WantsBody
    ) -> Response:
        if self._session is None:
            raise RuntimeError("WebClient is not open: use it in `async with`")
        began = monotonic()
        async with _within(self._options.header_seconds, "the headers were not complete"):
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
            async for chunk in response.content.iter_chunked(_READ_BYTES):
                body.feed(chunk)
                await share.hold(body.size)
        # If only the end of the connection marks the end of the body, aiohttp treats a reset like
        # the end.
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
                f"the headers have {size} bytes, more than {self._options.max_header_bytes}",
            )
        if response.status < 200 or response.status > 599:
            raise WebError(
                Trouble.PROTOCOL, f"the response has the invalid status {response.status}"
            )

    async def _once(
        self, request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        """Prevent aiohttp from sending a failed request a second time.

        A second attempt is allowed only if the request reused a connection that the server had
        closed (RFC 9112, 9.3.1). Otherwise a server that resets every connection would always get
        two requests.
        """
        connecting: Connecting = self._guard.connecting()
        try:
            return await handler(request)
        except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
            if connecting.tried or connecting.refused:
                raise web_error(error, connecting) from error
            raise


def user_agent(contact: str | None) -> str:
    """Return the User-Agent: the crawler's name and version, and the operator's address."""
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
    """Abort the connection of a response that was not read completely.

    The connection of a complete response was already released for reuse. If a TLS connection were
    closed and not aborted, it would keep reading until the server confirms, for up to 30 s.
    """
    if response.connection is not None and response.connection.transport is not None:
        response.connection.transport.abort()
    response.close()


def _headers(raw: tuple[tuple[bytes, bytes], ...]) -> dict[str, str]:
    """Return the header fields by name. Different values of a repeated field are joined.

    Equal values are not joined, because some servers send the same Content-Type twice.
    """
    found: dict[str, dict[str, None]] = {}
    for name, value in raw:
        found.setdefault(_text(name).lower(), {})[_text(value)] = None
    return {name: ", ".join(values) for name, values in found.items()}


def _text(raw: bytes) -> str:
    """Decode a header as UTF-8 or Latin-1, and remove control characters.

    A later request may send the header back (ETag) and must not contain control characters.
    """
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return text.translate(_CONTROL).strip()
