"""The addresses to which a request may connect, and whether the proxy makes the connection.

    name ─▶ cache, 60 s ─▶ resolver ─▶ addresses ─▶ guard ─▶ IPv4 first ─▶ at most three

A request tries one address after the other, so that the limit for an address counts the address
that is used (`address_gate.py`). IPv4 comes first: nearly every site has it, and a second attempt
in parallel (Happy Eyeballs, RFC 8305) would use two addresses at once.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from socket import AF_INET, AF_INET6, AF_UNSPEC, IPPROTO_TCP, AddressFamily
from time import monotonic

from aiohttp.abc import ResolveResult
from yarl import URL

from urltree.crawl.decisions.response import Trouble, WebError
from urltree.crawl.web.guard import Guard
from urltree.crawl.web.resolver import Resolver
from urltree.crawl.web.routing.proxy import ProxyExceptions

_CACHED_SECONDS = 60
_CACHED_NAMES = 4_096
_MOST_ADDRESSES = 3  # addresses that a request tries

_Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Route:
    """The way of a request to a host.

    Attributes:
        origin: scheme, host and port of the request.
        targets: addresses to try, one after the other; at least one.
        is_proxied: whether the proxy connects to the first of them.
    """

    origin: URL
    targets: tuple[ResolveResult, ...]
    is_proxied: bool = False


class Routes:
    """The routes of a client.

    Args:
        resolver: resolver of host names.
        guard: guard that refuses private addresses.
        seconds: limit for the resolution of a name.
        exceptions: targets that are requested without the proxy; None if there is no proxy.
    """

    def __init__(
        self,
        resolver: Resolver,
        guard: Guard,
        seconds: float,
        exceptions: ProxyExceptions | None = None,
    ) -> None:
        self._resolver = resolver
        self._guard = guard
        self._seconds = seconds
        self._exceptions = exceptions
        self._cache: OrderedDict[_Key, tuple[float, list[ResolveResult]]] = OrderedDict()

    async def find(self, url: URL) -> Route:
        """Return the route of a request.

        Raises:
            WebError: DNS: the name has no address; REFUSED_ADDRESS: it has only private addresses.
        """
        host, port = (url.raw_host or "").lower(), url.port or 80
        found = await self._resolve(host, port)
        allowed = [one for one in found if self._guard.allows(one["host"], one["port"])]
        if not allowed:
            refused = ", ".join(f"{one['host']} port {one['port']}" for one in found)
            raise WebError(Trouble.REFUSED_ADDRESS, f"not a public web address: {refused}")
        if self._exceptions is None or self._exceptions.match(host, allowed[0]["host"]):
            return Route(url.origin(), tuple(allowed[:_MOST_ADDRESSES]))
        is_chosen_here = url.scheme == "https"  # for http, the proxy chooses any of the addresses
        if not is_chosen_here and (len(allowed) < len(found) or not self._guard.allows_port(port)):
            raise WebError(
                Trouble.REFUSED_ADDRESS,
                f"not a public web address: {host} port {port} has a private address or the port "
                "of another protocol, and the proxy would choose among its addresses",
            )
        return Route(url.origin(), tuple(allowed[:1]), is_proxied=True)

    def avoid(self, url: URL, target: ResolveResult) -> None:
        """Try an address of a host last, until the name is resolved again."""
        key = (url.raw_host or "").lower(), url.port or 80
        if key in self._cache:
            found = self._cache[key][1]
            found.sort(key=lambda one: one["host"] == target["host"])

    async def _resolve(self, host: str, port: int) -> list[ResolveResult]:
        if (literal := _literal(host, port)) is not None:
            return [literal]
        now, key = monotonic(), (host, port)
        expires, found = self._cache.get(key, (0.0, []))
        if now < expires:
            return list(found)
        found = await self._look_up(host, port)
        found.sort(key=_is_ipv6)
        self._cache[key] = (monotonic() + _CACHED_SECONDS, found)
        self._cache.move_to_end(key)
        if len(self._cache) > _CACHED_NAMES:
            self._cache.popitem(last=False)
        return list(found)

    async def _look_up(self, host: str, port: int) -> list[ResolveResult]:
        limit = asyncio.timeout(self._seconds)
        try:
            async with limit:
                return await self._resolver.resolve(host, port, AF_UNSPEC)
        except OSError as error:  # TimeoutError is one, too
            if limit.expired():
                problem = f"there was no answer within {self._seconds:g} s"
            else:
                problem = error.strerror or str(error)
            raise WebError(
                Trouble.DNS, f"the name {host[:253]} cannot be resolved: {problem}"
            ) from error


def _literal(host: str, port: int) -> ResolveResult | None:
    """Return the address of a URL whose host is an IP address; rules do not apply to it."""
    try:
        ip = ip_address(host)
    except ValueError:
        return None
    family: AddressFamily = AF_INET6 if isinstance(ip, IPv6Address) else AF_INET
    return ResolveResult(
        hostname=host, host=str(ip), port=port, family=family, proto=IPPROTO_TCP, flags=0
    )


def _is_ipv6(found: ResolveResult) -> bool:
    return ":" in found["host"]
