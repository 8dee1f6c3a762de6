"""The publication of the feeds' items: one item of each site every PACE seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from demo.sites.feed import SampleItem
from demo.sites.sample import SiteSample

PACE = 0.2  # seconds between two items of a site; the whole sample takes 35 s
LISTED = 20  # number of the newest items that a feed lists


@dataclass(frozen=True, slots=True)
class Issue:
    """The content of a feed at one moment.

    Attributes:
        items: listed items, newest first.
        changed: publication time of the newest item, in seconds since 1970.
    """

    items: tuple[SampleItem, ...]
    changed: float


class Press:
    """A publisher of the items of all feeds in real time.

    A feed lists its newest items, and older items that no reader has requested yet. So a run on a
    machine that pauses for some seconds takes longer, but misses no item.

    Args:
        sample: sites with their feeds.
        pace: seconds between two items of a site.
        clock: returns the seconds since 1970.
    """

    def __init__(
        self, sample: SiteSample, pace: float = PACE, clock: Callable[[], float] = time.time
    ) -> None:
        self._feeds = sample.feeds
        self._pace = pace
        self._clock = clock
        self._started: float | None = None
        self._read = dict.fromkeys(self._feeds, 0)

    def start(self) -> None:
        """Publish the first item of each feed now."""
        self._started = self._clock()

    @property
    def published(self) -> int:
        """Number of items that are published so far, in all feeds together."""
        return sum(map(self._out, self._feeds))

    @property
    def is_done(self) -> bool:
        """Whether all items are published."""
        return self.published == sum(map(len, self._feeds.values()))

    def issue(self, host: str) -> Issue:
        """Return the feed of a host as it is now, and note that a reader has seen it."""
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
