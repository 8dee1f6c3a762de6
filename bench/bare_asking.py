"""Request addresses with aiohttp alone, to measure the lowest possible cost of a fetch or poll."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping, Sequence
from time import process_time

import aiohttp
import feedparser
from aiohttp.abc import AbstractResolver, ResolveResult


class _Loopback(AbstractResolver):
    """A resolver that resolves every name to 127.0.0.1."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found: ResolveResult = {
            "hostname": host,
            "host": "127.0.0.1",
            "port": port,
            "family": family,
            "proto": 0,
            "flags": socket.AI_NUMERICHOST,
        }
        return [found]

    async def close(self) -> None:
        """Do nothing, because the resolver has no open resource."""


async def seconds_each(
    urls: Sequence[str],
    *,
    at_once: int,
    headers: Mapping[str, str] | None = None,
    is_parsed: bool = False,
) -> float:
    """Send `at_once` requests in parallel, and return the mean CPU time of a request in seconds.

    The CPU time is that of this process, without the web server.
    """
    left = iter(urls)
    connector = aiohttp.TCPConnector(resolver=_Loopback(), limit=0)
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:
        before = process_time()

        async def ask() -> None:
            for url in left:
                async with session.get(url) as answer:
                    body = await answer.read()
                if is_parsed:
                    feedparser.parse(body, sanitize_html=False, resolve_relative_uris=False)

        await asyncio.gather(*(ask() for _ in range(at_once)))
        return (process_time() - before) / len(urls)
