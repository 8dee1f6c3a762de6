"""Request addresses with aiohttp alone, as the smallest possible cost of a fetch or a poll."""

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
        """Do nothing, because nothing is open."""


async def seconds_each(
    urls: Sequence[str],
    *,
    at_once: int,
    headers: Mapping[str, str] | None = None,
    is_parsed: bool = False,
) -> float:
    """Return this process's seconds of CPU for each address, `at_once` requests in parallel."""
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
