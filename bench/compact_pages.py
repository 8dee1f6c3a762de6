"""Compact pages of invented sites, generated from a seed: 2 to 3 kB of HTML, about 20 blocks.

Real pages are about fifteen times as large (bench/pages.py). Many domains and long runs need pages
that cost little to make. Each site has a menu, teasers that change every 20 pages, and a footer.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from random import Random
from typing import NamedTuple

from bench.workers import Message
from models import raw_html
from urltree.page import Page

START = datetime(2026, 3, 1, tzinfo=UTC)

_SYLLABLES = [a + b for a in "bdfgjklmnprstvxz" for b in "aeiou"]
_WORDS = [a + b + c for a in _SYLLABLES[::4] for b in _SYLLABLES[::4] for c in _SYLLABLES[::8]]


class Published(NamedTuple):
    """A page to publish: its number, the rank of its domain, and its record."""

    number: int
    rank: int
    message: Message


class CompactSites:
    """Sites with compact pages; the same seed gives the same pages.

    Args:
        domains: number of domains.
        skew: exponent of the Zipf distribution of pages over domains; 0 is uniform.
        seed: seed of all choices.
    """

    def __init__(self, domains: int, skew: float = 1.0, seed: int = 1) -> None:
        self._domains = domains
        self._weights = list(accumulate(rank**-skew for rank in range(1, domains + 1)))
        self._random = Random(seed)
        self._seed = seed

    def ranks(self, number: int) -> list[int]:
        """Return the ranks, from 0, of the domains of the next `number` pages."""
        return self._random.choices(range(self._domains), cum_weights=self._weights, k=number)

    def pages(self, ranks: list[int], first: int, time: datetime) -> Iterator[Published]:
        """Return pages of the domains with these ranks, numbered from `first`, of one time."""
        for number, rank in enumerate(ranks, first):
            yield self.page(number, rank, time)

    def page(self, number: int, rank: int, time: datetime) -> Published:
        """Return one page; the user's string `n` is its number."""
        domain = f"site{rank}.example"
        page = Page(
            url=f"https://{domain}/{_WORDS[rank % 97]}/{number % 7}/{number}.html",
            html=self._html(domain, number),
            fetched_at=time.isoformat(),
            meta={"n": str(number)},
        )
        return Published(number, rank, Message(domain, raw_html.encode(page)))

    def _html(self, domain: str, number: int) -> str:
        own = Random(f"{self._seed} {domain} {number // 20 % 50}")
        menu = "".join(f"<li><a href=/{name}>{name} of {domain}</a>" for name in _WORDS[:5])
        teasers = "".join(f"<p>{_text(own, 8)}</p>" for _ in range(3))
        body = "".join(f"<p>{_text(self._random, 30)}</p>" for _ in range(8))
        return (
            f"<!doctype html><html lang=en><head><title>{_text(self._random, 4)} | {domain}</title>"
            f"</head><body><ul class=menu>{menu}</ul><div class=article><h1>Page {number}</h1>"
            f"{body}</div><aside><h2>More</h2>{teasers}</aside><footer>© {domain}</footer>"
        )


def time_at(days: float) -> datetime:
    """Return the document time after a number of simulated days."""
    return START + timedelta(days=days)


def _text(random: Random, words: int) -> str:
    return " ".join(random.choices(_WORDS, k=words)).capitalize()
