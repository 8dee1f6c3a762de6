"""Parser processes, and feeds for them: small, slow, and with a high memory use."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import psutil
import pytest

from agents.polling.parsers import Parsers
from tests.agents.limits import GUARD
from urltree.crawl.decisions.response import Trouble, WebError

FEED = "https://news.example.org/feed.xml"


def rss(items: int, text: str = "") -> bytes:
    """Return a feed with a number of items."""
    inside = "".join(
        f"<item><title>{number}</title><link>https://news.example.org/{number}</link>{text}</item>"
        for number in range(items)
    )
    head = '<rss version="2.0"><channel><title>News</title>'
    return f"{head}{inside}<ttl>60</ttl></channel></rss>".encode()


# without a byte order mark nothing is cut out, and feedparser reads 4,000 items a second
SLOW = rss(300_000).decode().encode("utf-16-le")
SMALL = rss(2)
JSON = b'{"version":"https://jsonfeed.org/version/1.1","items":[%s]}'
GREEDY = JSON % b",".join([b"{}"] * 5_000_000)  # 14 MB as text, 360 MB as objects


def children() -> list[psutil.Process]:
    """Return the parser processes of this process."""
    return [child for child in psutil.Process().children(recursive=True) if _parses(child)]


def _parses(child: psutil.Process) -> bool:
    try:
        return "spawn_main" in " ".join(child.cmdline())
    except psutil.Error:  # it has just ended
        return False


def run(test: Callable[[Parsers], Coroutine[Any, Any, None]], **parameters: Any) -> None:
    """Run a test with parsers; check that no process of them is left."""

    async def all_of_it() -> None:
        async with Parsers(
            **({"processes": 1, "seconds": GUARD, "max_items": 1_000} | parameters)
        ) as p:
            await test(p)

    asyncio.run(all_of_it())
    assert children() == []


async def trouble(parsers: Parsers, body: bytes) -> Trouble:
    """Return the trouble of a feed."""
    with pytest.raises(WebError) as caught:
        await parsers.parse(body, "text/xml", FEED)
    return caught.value.trouble


async def is_well(parsers: Parsers) -> bool:
    """Return whether a feed can be parsed."""
    return len((await parsers.parse(SMALL, "text/xml", FEED)).items) == 2
