"""Helpers to run parser processes, and feeds that are small, slow, or need much memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import psutil
import pytest

from agents.fetching.parsers import Parsers
from tests.agents.limits import GUARD
from urltree.crawl.decisions.response import Trouble, WebError

FEED = "https://news.example.org/feed.xml"


def rss(items: int, text: str = "") -> bytes:
    """Return a feed with this number of items, each of which contains `text`."""
    inside = "".join(
        f"<item><title>{number}</title><link>https://news.example.org/{number}</link>{text}</item>"
        for number in range(items)
    )
    head = '<rss version="2.0"><channel><title>News</title>'
    return f"{head}{inside}<ttl>60</ttl></channel></rss>".encode()


# In UTF-16 without a byte order mark, our parser cannot cut the feed after the maximum number of
# items, so feedparser parses all of them, about 4,000 items per second.
SLOW = rss(300_000).decode().encode("utf-16-le")
SMALL = rss(2)
JSON = b'{"version":"https://jsonfeed.org/version/1.1","items":[%s]}'
GREEDY = JSON % b",".join([b"{}"] * 5_000_000)  # 14 MB as text, 360 MB as objects


def children() -> list[psutil.Process]:
    """Return the parser processes that this process has started."""
    return [child for child in psutil.Process().children(recursive=True) if _parses(child)]


def _parses(child: psutil.Process) -> bool:
    try:
        return "spawn_main" in " ".join(child.cmdline())
    except psutil.Error:  # the process has just ended
        return False


def run(test: Callable[[Parsers], Coroutine[Any, Any, None]], **parameters: Any) -> None:
    """Run a test with parser processes, and check that they all end with it."""

    async def all_of_it() -> None:
        async with Parsers(
            **({"processes": 1, "seconds": GUARD, "max_items": 1_000} | parameters)
        ) as p:
            await test(p)

    asyncio.run(all_of_it())
    assert children() == []


async def trouble(parsers: Parsers, body: bytes) -> Trouble:
    """Parse a body that the parsers must refuse, and return the kind of the error."""
    with pytest.raises(WebError) as caught:
        await parsers.parse(body, "text/xml", FEED)
    return caught.value.trouble


async def is_well(parsers: Parsers) -> bool:
    """Return whether the parsers can parse a small feed."""
    return len((await parsers.parse(SMALL, "text/xml", FEED)).items) == 2
