"""A guard that refuses connections to non-public addresses (server-side request forgery).

A feed can name any host, and a host name can resolve to any address. So the guard checks the
address of each socket just before the socket connects. No URL parser, resolver or redirect comes
after this check:

    URL ─▶ resolver ─▶ addresses ─▶ socket() ─▶ connect
                                       └─ each address is checked, and refused, here

Behind a proxy the socket connects to the proxy, and `routing/proxy.py` says what is promised.

The tables are written out because `ipaddress.is_global` differs between releases of Python.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from aiohttp import AddrInfoType
from aiohttp.abc import ResolveResult

from urltree.crawl.web.options import Network

# IANA IPv4 Special-Purpose Address Registry (RFC 6890), multicast and class E
_NOT_PUBLIC_4 = tuple(
    ip_network(network)
    for network in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
        *("172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16"),
        *("198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
    )
)
# The IPv6 addresses that are assigned to hosts (RFC 4291). This range does not contain loopback,
# mapped and compatible addresses, NAT64 (64:ff9b::/96, 64:ff9b:1::/48), fc00::/7, fe80::/10,
# fec0::/10 and multicast.
_UNICAST_6 = IPv6Network("2000::/3")
# Networks in this range that are not public: IETF protocols, which include Teredo (2001::/32),
# documentation (two networks) and 6to4
_NOT_PUBLIC_6 = tuple(
    ip_network(network) for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)
# Ports of other protocols, to which no HTTP request may be sent (Fetch standard, "bad port")
_BAD_PORTS = frozenset(
    {
        *(0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95),
        *(101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179),
        *(389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601),
        *(636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000),
        *(6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080),
    }
)

_CACHED_ADDRESSES = 8_192  # a check takes 20 µs


@dataclass(slots=True)
class Connecting:
    """Record of the attempts of one request to connect.

    A request that reuses a connection makes no attempt.

    Attributes:
        refused: addresses that the guard refused.
        tried: number of sockets that the guard made.
        target: address to which the request connects; None if the connector resolves the name.
        is_proxied: whether the sockets are for the operator's proxy, which may be private.
        is_tunnelled: whether the proxy has connected, so that an error of TLS is the host's.
        is_connected: whether a new connection was made, so that the host may have got the request.
    """

    refused: list[str] = field(default_factory=list)
    tried: int = 0
    target: ResolveResult | None = None
    is_proxied: bool = False
    is_tunnelled: bool = False
    is_connected: bool = False


_connecting: ContextVar[Connecting] = ContextVar("connecting")


class Guard:
    """The factory for a client's sockets; it refuses addresses that are not public.

    Args:
        allowed: networks to which connections are allowed although they are not public.
    """

    def __init__(self, allowed: Sequence[Network] = ()) -> None:
        self._allowed = tuple(allowed)
        self._is_allowed = lru_cache(maxsize=_CACHED_ADDRESSES)(self._check)

    @contextmanager
    def watch(
        self, target: ResolveResult | None = None, *, is_proxied: bool = False
    ) -> Iterator[Connecting]:
        """Record the attempts to connect of a request that is made in this context.

        The attempts of tasks that the request starts are included.

        Args:
            target: address to which the request connects; None if the connector resolves the name.
            is_proxied: whether the request connects to the operator's proxy.
        """
        connecting = Connecting(target=target, is_proxied=is_proxied)
        token = _connecting.set(connecting)
        try:
            yield connecting
        finally:
            _connecting.reset(token)

    def connecting(self) -> Connecting:
        """Return the attempts to connect that the current request has made so far."""
        return _connecting.get()

    def socket(self, info: AddrInfoType) -> socket.socket:
        """Make the socket for an address (`socket_factory` of `aiohttp.TCPConnector`).

        Raises:
            OSError: the address is refused. aiohttp may then try another address of the host.
        """
        family, kind, protocol, _, (host, port, *_) = info
        connecting = _connecting.get()
        if not connecting.is_proxied and not self.allows(str(host), port):
            connecting.refused.append(f"{host} port {port}")
            raise OSError(errno.EACCES, f"{host} port {port} is not a public web address")
        connecting.tried += 1
        return socket.socket(family, kind, protocol)

    def allows(self, address: str, port: int = 80) -> bool:
        """Return whether connections to an IP address and port are allowed.

        An IPv6 address that contains an IPv4 address (IPv4-mapped) is checked as the IPv4 address.
        """
        return self.allows_port(port) and self._is_allowed(address)

    def allows_port(self, port: int) -> bool:
        """Return whether connections to a port are allowed."""
        return port not in _BAD_PORTS

    def _check(self, address: str) -> bool:
        ip = ip_address(address.partition("%")[0])
        if isinstance(ip, IPv6Address) and ip.ipv4_mapped is not None:
            ip = ip.ipv4_mapped
        return is_public(ip) or any(
            ip in network for network in self._allowed if network.version == ip.version
        )


def is_public(ip: IPv4Address | IPv6Address) -> bool:
    """Return whether an address belongs to a host on the public internet."""
    if isinstance(ip, IPv4Address):
        return not any(ip in network for network in _NOT_PUBLIC_4)
    return ip in _UNICAST_6 and not any(ip in network for network in _NOT_PUBLIC_6)
