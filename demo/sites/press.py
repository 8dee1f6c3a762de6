"""When the items of the feeds come out: one a site every PACE seconds, as if days were seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from demo.sites.feed import Item
from demo.sites.sample import Sample

PACE = 0.2  # seconds from item to item of a site: the whole sample takes 35 s
LISTED = 20  # newest items that a feed lists


@dataclass(frozen=True, slots=True)
class Issue:
    """A feed as it is now.

    Attributes:
        items: newest first.
        changed: when the newest came out, seconds since 1970.
    """

    items: tuple[Item, ...]
    changed: float


class Press:
    """Lets the items of all feeds come out.

    A feed lists its newest items, and older ones too if nobody has asked since they came out: on
    a machine that is busy for some seconds a run is slower, and nothing is missing.

    Args:
        sample: whose feeds these are.
        pace: seconds from item to item of a site.
        clock: seconds since 1970.
    """

    def __init__(
        self, sample: Sample, pace: float = PACE, clock: Callable[[], float] = time.time
    ) -> None:
        self._feeds = sample.feeds
        self._pace = pace
        self._clock = clock
        self._started: float | None = None
        self._read = dict.fromkeys(self._feeds, 0)

    def start(self) -> None:
        """The first item of each feed comes out now."""
        self._started = self._clock()

    @property
    def published(self) -> int:
        """Items of all feeds that are out."""
        return sum(map(self._out, self._feeds))

    @property
    def is_done(self) -> bool:
        """Whether all of them are."""
        return self.published == sum(map(len, self._feeds.values()))

    def issue(self, host: str) -> Issue:
        """The feed of a host, which a reader takes now."""
        out = self._out(host)
        oldest = max(0, min(out - LISTED, self._read[host]))
        self._read[host] = out
        return Issue(self._feeds[host][oldest:out][::-1], self._changed(out))

    def _out(self, host: str) -> int:
        if self._started is None:
            return 0
        passed = self._clock() - self._started
        return min(len(self._feeds[host]), 1 + int(passed / self._pace))

    def _changed(self, out: int) -> float:
        started = self._clock() if self._started is None else self._started
        return started + max(0, out - 1) * self._pace
