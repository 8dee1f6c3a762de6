from __future__ import annotations

import asyncio
import socket
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

import aiohttp
import pytest
from aiohttp.abc import AbstractResolver, ResolveResult
from hypothesis import given
from hypothesis import strategies as st

from tests.urltree.crawl.web.conftest import Ask
from tests.urltree.crawl.web.misbehaving import Misbehaving
from urltree.crawl.decisions.response import Response, Trouble, WebError
from urltree.crawl.web.guard import Guard, is_public

NOTHING_ALLOWED: dict[str, Any] = {"allow_networks": ()}


@pytest.mark.parametrize(
    "address",
    [
        *("0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1"),  # noqa: S104 - no socket binds to it
        *("127.0.0.1", "127.255.0.1"),
        *("169.254.169.254", "172.16.0.1", "172.31.255.255", "192.168.1.1", "192.0.0.1"),
        *("192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "192.88.99.1"),
        *("224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"),
        *("::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:169.254.169.254"),
        *("64:ff9b::8.8.8.8", "64:ff9b::a00:1", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1"),
        *("2002:7f00:1::", "2002:808:808::1", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254"),
        *("fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1"),
    ],
)
def test_what_is_not_public_is_refused(address: str) -> None:
    """The guard refuses private, local, reserved, multicast and tunnel addresses, among others."""
    assert not Guard().allows(address)


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "93.184.215.14", "172.32.0.1", "100.128.0.1", "::ffff:8.8.8.8", "2606:4700::1111"],
)
def test_what_is_public_is_allowed(address: str) -> None:
    """The guard allows public addresses, also a public IPv4 address that is written as IPv6."""
    assert Guard().allows(address)


@given(st.ip_addresses())
def test_nothing_is_public_that_python_knows_as_special(ip: IPv4Address | IPv6Address) -> None:
    """Our table of special networks refuses all that Python's `ipaddress` calls special.

    Our table is written by hand. Hypothesis generates many addresses in special networks.
    """
    if is_public(ip):
        assert ip.is_global
        assert not ip.is_multicast


@given(st.ip_addresses(v=4))
def test_ipv6_that_carries_ipv4_is_judged_as_that(ip: IPv4Address) -> None:
    """The guard treats an IPv6 address such as `::ffff:10.0.0.1` as the IPv4 address in it."""
    guard = Guard([ip_network("10.0.0.0/8")])
    assert guard.allows(f"::ffff:{ip}") == guard.allows(str(ip))


def test_allowed_networks_are_allowed_and_their_neighbours_not() -> None:
    """The guard allows an address in an allowed network and still refuses its neighbours.

    So tests can connect to 127.0.0.1 while 127.0.0.2 is refused.
    """
    guard = Guard([ip_network("127.0.0.1/32"), ip_network("fd00::/8")])
    allowed = ["127.0.0.1", "::ffff:127.0.0.1", "fd12::1"]
    assert all(guard.allows(address) for address in allowed)
    assert not any(guard.allows(address) for address in ("127.0.0.2", "::1", "fe80::1"))


@pytest.mark.parametrize(
    "url",
    [
        "http://any.example/page",  # a name that resolves to 127.0.0.1
        "https://any.example/page",
        "http://localhost/page",
        "http://127.0.0.1/page",
        "http://2130706433/page",
        "http://0x7f000001/page",
        "http://0177.0.0.1/page",
        "http://127.1/page",
        "http://①②⑦.0.0.1/page",
        "http://[::1]/page",
        "http://[::ffff:127.0.0.1]/page",
        "http://[::]/page",
        "http://0/page",
        "http://169.254.169.254/latest/meta-data/",
        "http://user:secret@127.0.0.1/page",
        "http://8.8.8.8:25/page",  # a bad port in the Fetch standard
    ],
)
def test_no_url_reaches_a_private_address(ask: Ask, server: Misbehaving, url: str) -> None:
    """A private address is refused in every spelling, and the server receives no request."""
    before = len(server.requests)
    with pytest.raises(WebError) as raised:
        ask(url, change=NOTHING_ALLOWED)
    assert raised.value.trouble is Trouble.REFUSED_ADDRESS, raised.value.message
    assert len(server.requests) == before


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_name_that_resolves_to_a_private_address_is_refused(
    ask: Ask, server: Misbehaving, scheme: str
) -> None:
    """The client does not connect to 127.0.0.2 although a server listens at this address."""
    (answer,) = ask(f"{scheme}://any.example/page")
    assert answer.status == 200
    with pytest.raises(WebError) as raised:
        ask(f"{scheme}://private.example/page")
    assert raised.value.trouble is Trouble.REFUSED_ADDRESS
    assert "127.0.0.2" in raised.value.message
    assert server.private_connections == 0


class _Names(AbstractResolver):
    """Resolver that returns the same given addresses for every name."""

    def __init__(self, port: int, *addresses: str) -> None:
        self._port, self._addresses = port, addresses

    async def resolve(
        self,
        host: str,
        port: int = 0,  # noqa: ARG002 - aiohttp's interface of a resolver
        family: socket.AddressFamily = socket.AF_UNSPEC,  # noqa: ARG002
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=self._port,
                family=socket.AF_INET6 if ip_address(address).version == 6 else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for address in self._addresses
        ]

    async def close(self) -> None:
        """Do nothing."""


@pytest.mark.parametrize(
    ("addresses", "refused", "is_reached"),
    [
        (("127.0.0.2", "127.0.0.1"), ["127.0.0.2"], True),
        (("10.0.0.1", "::1", "127.0.0.1"), ["10.0.0.1", "::1"], True),
        (("127.0.0.2", "::1"), ["127.0.0.2", "::1"], False),
    ],
)
def test_of_a_name_with_several_addresses_only_the_allowed_are_tried(
    server: Misbehaving, addresses: tuple[str, ...], refused: list[str], is_reached: bool
) -> None:
    """If a name has several addresses, the client tries only those that the guard allows."""
    guard = Guard([ip_network("127.0.0.1/32")])

    async def run() -> None:
        connector = aiohttp.TCPConnector(
            resolver=_Names(server.http_port, *addresses), socket_factory=guard.socket
        )
        with guard.watch() as connecting:
            async with aiohttp.ClientSession(connector=connector) as session:
                if is_reached:
                    async with session.get("http://mixed.example/page") as response:
                        assert response.status == 200
                else:
                    with pytest.raises(aiohttp.ClientConnectorError):
                        await session.get("http://mixed.example/page")
        assert {text.split(" ")[0] for text in connecting.refused} <= set(refused)
        assert connecting.tried == is_reached

    asyncio.run(run())
    assert server.private_connections == 0


def test_an_answer_from_a_public_name_is_an_answer(ask: Ask) -> None:
    """The guard lets requests to an allowed address pass, over http and over https."""
    answers: list[Response] = ask("http://any.example/page", "https://any.example/page")
    assert [answer.status for answer in answers] == [200, 200]
