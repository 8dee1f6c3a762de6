"""HTTP client that sends single requests, only to public addresses, and limits time and size.

    resolve ─────▶ slot ───────▶ connect ───────▶ headers ────────▶ body ──────────────▶ Response
    connect_       one of 8 at   connect_seconds  header_seconds    read_seconds between two reads
    seconds        the address   guard.py         max_header_bytes  max_bytes; see decoding.py
    └─────── routing/ ────────┘  └─────────────────── total_seconds ──────────────────┘

Both header_seconds and total_seconds are measured from the start of the request. So a server that
sends one byte after the other cannot extend them. No limit counts the wait for a slot. If no
connection can be made to an address, the next address of the host is tried with a slot of its own.

Every failure is a `WebError` (failures.py). The caller handles redirects, error statuses and
retries, because the caller knows when the next request to a host is allowed.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.metadata import version
from time import monotonic
from types import TracebackType
from typing import Any, Self

import aiohttp
from aiohttp import hdrs
from aiohttp.abc import ResolveResult
from yarl import URL

from urltree.crawl.decisions.response import Response, Trouble, WebError
from urltree.crawl.web.budget import BodyBudget
from urltree.crawl.web.cookies import ChainCookies
from urltree.crawl.web.credentials import is_same_origin, read_credentials
from urltree.crawl.web.decoding import BodyDecoder
from urltree.crawl.web.failures import web_error
from urltree.crawl.web.guard import Connecting, Guard
from urltree.crawl.web.options import ClientOptions
from urltree.crawl.web.redirects import request_url, without_credentials
from urltree.crawl.web.resolver import Resolver
from urltree.crawl.web.routing.address_gate import AddressGate, AddressSlot
from urltree.crawl.web.routing.connector import RoutedConnector
from urltree.crawl.web.routing.proxy import ProxyExceptions, parse_proxy
from urltree.crawl.web.routing.routes import Route, Routes

_READ_BYTES = 64 * 1024
_BODIES = 32 * 1024 * 1024  # limit on the bytes of all bodies in memory
_MAX_HEADERS = 500
# Seconds for which an idle connection stays open, longer than the default pause of a host. At 55
# polls per second, 275 connections are idle.
_KEPT_SECONDS = 5
_DNS_SECONDS = 60  # of the proxy's name; `routing/routes.py` keeps the others
_CONTROL = dict.fromkeys([*range(32), 127])

WantsBody = Callable[[int, Mapping[str, str]], bool]


def want_every_body(status: int, headers: Mapping[str, str]) -> bool:  # noqa: ARG001 - see `WantsBody`
    """Return True: read the body of every response."""
    return True


@dataclass(frozen=True, slots=True)
class _Request:
    """One request.

    Attributes:
        url: URL as the caller has it.
        address: URL to request.
        headers: header fields of the caller.
        max_bytes, wants, cut, cookies: arguments of `WebClient.get`.
    """

    url: str
    address: URL
    headers: Mapping[str, str]
    max_bytes: int
    wants: WantsBody
    cut: bool
    cookies: ChainCookies | None


@dataclass(slots=True)
class _HeldSlot:
    """A slot that a caller of `WebClient.slot` holds, and the route that was found for it.

    Attributes:
        client: client to which the slot belongs; None after the end of the context.
        is_free: whether a request may use the slot. Tasks that the caller starts see the slot, too,
            but only one request at a time has it, and none after its end.
    """

    client: WebClient | None
    slot: AddressSlot
    route: Route | WebError | None = None
    is_free: bool = True


_held: ContextVar[_HeldSlot | None] = ContextVar("held", default=None)


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
        self._addresses = AddressGate(options.requests_per_address)
        self._proxy = None if options.proxy is None else parse_proxy(options.proxy)

    async def __aenter__(self) -> Self:
        options = self._options
        self._resolvers = Resolver(options.connect_to), Resolver()
        self._routes = Routes(
            self._resolvers[0],
            self._guard,
            options.connect_seconds,
            None if self._proxy is None else ProxyExceptions(options.no_proxy),
        )
        connector = RoutedConnector(
            self._guard,
            limit=0,  # no limit: callers send one request per host and limit the total number
            resolver=self._resolvers[1],
            ttl_dns_cache=_DNS_SECONDS,
            keepalive_timeout=_KEPT_SECONDS,
            ssl=self._tls,
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            headers={"User-Agent": user_agent(options.contact), "Accept-Encoding": "gzip"},
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=self._timeout(options.connect_seconds),
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
            for resolver in self._resolvers:
                await resolver.close()

    @asynccontextmanager
    async def slot(self, url: str) -> AsyncIterator[None]:
        """Wait until a request to the address of a URL may begin; keep this slot in the context.

        `get` waits itself if it is called without such a context. A caller that has a limit of its
        own on all requests should wait for the slot before, so that hosts at a crowded address do
        not use up this limit. A `get` for a host at another address moves the slot there.

        A URL that cannot be requested raises no error here. `get` raises it.
        """
        held = _HeldSlot(self, AddressSlot(self._addresses))
        token = _held.set(held)
        try:
            try:
                held.route = await self._routes.find(URL(request_url(url), encoded=True))
                await held.slot.move(_slot_address(held.route, held.route.targets[0]))
            except WebError as error:
                held.route = error
            yield
        finally:
            _held.reset(token)
            held.client = None
            held.slot.leave()

    async def get(  # noqa: PLR0913 - the properties of a request, passed by name
        self,
        url: str,
        headers: Mapping[str, str] = {},
        *,
        max_bytes: int,
        wants: WantsBody = want_every_body,
        cut: bool = False,
        cookies: ChainCookies | None = None,
        credentials: str | None = None,
        credentials_for: str | None = None,
    ) -> Response:
        """Send one request; a redirect or an error status is a response too.

        Args:
            url: URL of the request. It is normalised as browsers do, and otherwise unchanged. User
                name and password are never sent.
            headers: header fields to send in addition to User-Agent and Accept-Encoding.
            max_bytes: maximum size of the decompressed body.
            wants: function of status and headers that returns whether to read the body. If it
                returns False, the connection is closed.
            cut: what to do with a larger body: True returns its first `max_bytes` bytes and closes
                the connection, False raises TOO_LARGE.
            cookies: cookies of the chain of redirects to which the request belongs. The request
                sends them, and its response may add some.
            credentials: name of the file with the credentials to send (`credentials.py`).
            credentials_for: URL to whose scheme, host and port the credentials are sent; https
                only. A caller that follows a redirect passes no credentials.

        Raises:
            WebError: there is no usable response.
        """
        address = URL(request_url(url), encoded=True)
        if (
            credentials is not None
            and credentials_for is not None
            and is_same_origin(address, credentials_for)
        ):
            headers = {**headers, hdrs.AUTHORIZATION: await self._read_credentials(credentials)}
        if cookies is not None and (sent := cookies.header(address)):
            headers = {**headers, hdrs.COOKIE: sent}
        request = _Request(
            without_credentials(url), address, headers, max_bytes, wants, cut, cookies
        )
        held = _held.get()
        if held is not None and held.client is self and held.is_free:
            return await self._use_slot(request, held)
        slot = AddressSlot(self._addresses)
        try:
            return await self._follow_route(request, slot, None)
        finally:
            slot.leave()

    async def _use_slot(self, request: _Request, held: _HeldSlot) -> Response:
        route, held.route = held.route, None
        if isinstance(route, Route) and route.origin != request.address.origin():
            route = None
        held.is_free = False
        try:
            return await self._follow_route(request, held.slot, route)
        finally:
            held.is_free = True
            if held.client is None:
                held.slot.leave()

    async def _follow_route(
        self, request: _Request, slot: AddressSlot, route: Route | WebError | None
    ) -> Response:
        """Try the addresses of a host until a connection is made."""
        if isinstance(route, WebError):
            raise route
        route = route or await self._routes.find(request.address)
        options = self._options
        total, connect = options.total_seconds, options.connect_seconds
        for target in route.targets:
            is_last = target is route.targets[-1]
            await slot.move(_slot_address(route, target))
            used = None if route.is_proxied else target
            with self._guard.watch(used, is_proxied=route.is_proxied) as connecting:
                began = monotonic()
                seconds = connect if is_last else connect / 2
                try:
                    async with _within(total, "the response was not complete"):
                        return await self._ask(request, route, seconds)
                except (WebError, aiohttp.ClientError, OSError, ValueError, EOFError) as error:
                    failure = self._web_error(error, connecting, request)
                    if is_last or connecting.is_connected or not connecting.tried:
                        raise failure from (None if failure is error else error)
            took = monotonic() - began
            total, connect = total - took, max(connect - took, connect / 4)
            self._routes.avoid(request.address, target)
        raise AssertionError  # a route has at least one target

    def _web_error(self, error: Exception, connecting: Connecting, request: _Request) -> WebError:
        if isinstance(error, WebError):
            return error
        return web_error(error, connecting, is_https=request.address.scheme == "https")

    async def _ask(self, request: _Request, route: Route, connect_seconds: float) -> Response:
        if self._session is None:
            raise RuntimeError("WebClient is not open: use it in `async with`")
        address, options = request.address, await self._proxy_options(request, route)
        if connect_seconds != self._options.connect_seconds:
            options["timeout"] = self._timeout(connect_seconds)
        address = options.pop("url", address)
        options.setdefault("headers", request.headers)
        began = monotonic()
        async with _within(self._options.header_seconds, "the headers were not complete"):
            response = await self._session.get(address, allow_redirects=False, **options)
        seconds = monotonic() - began
        try:
            self._check(response)
            if route.is_proxied and response.status == 407:  # a host cannot send this status
                raise WebError(Trouble.CONNECT, "the proxy did not connect: status 407")
            found = _headers(response.raw_headers)
            if request.cookies is not None and hdrs.SET_COOKIE in response.headers:
                request.cookies.store(request.address, _set_cookies(response.raw_headers))
            body, is_cut = b"", False
            if request.wants(response.status, found):
                body, is_cut = await self._read(response, found, request)
            return Response(request.url, response.status, found, body, seconds, is_cut)
        finally:
            _drop(response)

    async def _proxy_options(self, request: _Request, route: Route) -> dict[str, Any]:
        """Return the arguments of aiohttp for a request through the proxy; none without a proxy."""
        if not route.is_proxied:
            return {}
        address, name, headers = request.address, self._options.proxy_credentials, {}
        if name is not None:
            headers[hdrs.PROXY_AUTHORIZATION] = await self._read_credentials(name)
        if address.scheme == "http":
            return {"proxy": self._proxy, "headers": {**request.headers, **headers}}
        target = route.targets[0]
        return {
            "proxy": self._proxy,
            "proxy_headers": headers or None,
            "url": address.with_host(target["host"]).with_port(target["port"]),
            "server_hostname": (address.raw_host or "").rstrip("."),
            "headers": {**request.headers, hdrs.HOST: address.raw_authority},
        }

    async def _read_credentials(self, name: str) -> str:
        return await asyncio.to_thread(read_credentials, self._options.credentials_dir, name)

    def _timeout(self, connect_seconds: float) -> aiohttp.ClientTimeout:
        return aiohttp.ClientTimeout(
            total=None, connect=connect_seconds, sock_read=self._options.read_seconds
        )

    async def _read(
        self, response: aiohttp.ClientResponse, headers: Mapping[str, str], request: _Request
    ) -> tuple[bytes, bool]:
        """Return the body of a response, and whether it was cut."""
        body = BodyDecoder(headers.get("content-encoding", ""), request.max_bytes, cut=request.cut)
        protocol = response.connection.protocol if response.connection else None
        with self._bodies.share() as share:
            async for chunk in response.content.iter_chunked(_READ_BYTES):
                body.feed(chunk)
                if body.is_cut:
                    return body.whole(), True
                await share.hold(body.size)
        # If only the end of the connection marks the end of the body, aiohttp treats a reset like
        # the end.
        is_framed = "content-length" in headers or "transfer-encoding" in headers
        if protocol is not None and not is_framed:
            error = protocol.exception()
            if isinstance(error, aiohttp.ClientOSError):
                raise WebError(Trouble.TRUNCATED, f"the connection was reset: {error}")
        return body.whole(), False

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
                is_https = request.url.scheme == "https"
                raise web_error(error, connecting, is_https=is_https) from error
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


def _slot_address(route: Route, target: ResolveResult) -> str | None:
    """Return the address whose slot a request needs; None behind a proxy, which needs none."""
    return None if route.is_proxied else target["host"].removeprefix("::ffff:")


def _set_cookies(raw: tuple[tuple[bytes, bytes], ...]) -> list[str]:
    return [_text(value) for name, value in raw if name.lower() == b"set-cookie"]


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
