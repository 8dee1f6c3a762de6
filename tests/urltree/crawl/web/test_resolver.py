from __future__ import annotations

import asyncio

import pytest

from tests.urltree.crawl.web.conftest import Ask
from tests.urltree.crawl.web.misbehaving import Misbehaving
from urltree.crawl.web.resolver import Resolver


def resolved(host: str, port: int, *rules: str) -> tuple[str, int]:
    """Return the first address and port that a resolver with these rules finds for a host."""

    async def run() -> tuple[str, int]:
        resolver = Resolver(rules)
        try:
            first, *_ = await resolver.resolve(host, port)
        finally:
            await resolver.close()
        return first["host"], first["port"]

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ("a.example:80:127.0.0.3:8080", ("127.0.0.3", 8080)),
        ("A.example:80:127.0.0.3:8080", ("127.0.0.3", 8080)),
        (":80:127.0.0.3:8080", ("127.0.0.3", 8080)),
        ("a.example::127.0.0.3:8080", ("127.0.0.3", 8080)),
        ("::127.0.0.3:8080", ("127.0.0.3", 8080)),
        ("::127.0.0.3:", ("127.0.0.3", 80)),
        ("b.example:80:127.0.0.3:8080", ("127.0.0.9", 9)),
        ("a.example:443:127.0.0.3:8080", ("127.0.0.9", 9)),
    ],
)
def test_the_first_rule_that_fits_counts(rule: str, found: tuple[str, int]) -> None:
    """The first matching rule applies. An empty part matches anything or replaces nothing."""
    assert resolved("a.example", 80, rule, "::127.0.0.9:9") == found


def test_a_rule_may_change_the_port_alone() -> None:
    """A rule without an address changes only the port, as curl's option --connect-to does."""
    host, port = resolved("localhost", 80, ":80::8080")
    assert (host in ("127.0.0.1", "::1"), port) == (True, 8080)


def test_the_server_is_asked_by_the_name_of_the_url(ask: Ask, server: Misbehaving) -> None:
    """A rule changes only where the client connects.

    The Host header, the TLS server name and the expected certificate are still those of the URL.
    """
    ask("https://by-name.example/page", "https://by-name.example:443/page")
    assert sum(request.host == "by-name.example" for request in server.requests) == 2
