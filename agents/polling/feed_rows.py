"""The two tables of `poll`: what is known of each feed, and which items its site has shown.

feed_state   site NUL xxh3_128(feed)   `urltree.crawl.decisions.poll.state.FeedState`
seen_items   site NUL item hash        `urltree.crawl.decisions.poll.seen_items.Seen`
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import xxhash

from agents.kafka.delivery import Work
from agents.kafka.tables.table import ConfirmedTable, row_key, row_prefix
from urltree.crawl.decisions.poll.outcome import Outcome
from urltree.crawl.decisions.poll.schedule import Key
from urltree.crawl.decisions.poll.seen_items import Seen, row_after
from urltree.crawl.decisions.poll.state import FeedState


class Row(NamedTuple):
    """A feed with the key under which it is stored and scheduled."""

    key: Key
    state: FeedState


def feed_key(partition: int, site: str, feed: str) -> Key:
    """The partition of a feed's row, and its key there."""
    return partition, row_key(site, xxhash.xxh3_128_digest(feed.encode()))


class FeedRows:
    """Reads and writes both tables.

    Args:
        states, seen: the tables.
        days: an item is forgotten so long after it was last seen.
    """

    def __init__(self, states: ConfirmedTable, seen: ConfirmedTable, days: float) -> None:
        self._states = states
        self._seen = seen
        self._days = days

    def get(self, key: Key) -> FeedState | None:
        """What is known of a feed, None where it is not followed.

        Raises:
            StateError: the row cannot be read.
        """
        row = self._states.get(*key)
        return None if row is None else FeedState.decode(row)

    def pages(self, partition: int) -> Iterator[list[Row]]:
        """All feeds of a partition, in lists; see `Table.pages`."""
        for page in self._states.scan_batches(partition, b""):
            yield [Row((partition, key), FeedState.decode(row)) for key, row in page]

    async def put(self, key: Key, state: FeedState, work: Work) -> None:
        """Put what is known of a feed now."""
        row = state.encode()
        work.wait_for(await self._states.put(*key, row), len(row))

    async def delete(self, key: Key, work: Work) -> None:
        """Forget a feed; what its site has shown stays until it expires."""
        work.wait_for(await self._states.delete(*key))

    def is_known(self, partition: int, site: str, item: bytes) -> bool:
        """Whether an item of that hash was seen at that site."""
        return self._seen.get(partition, row_key(site, item)) is not None

    async def see(self, partition: int, outcome: Outcome, work: Work) -> None:
        """Note which items a poll has found."""
        for item in outcome.items:
            key = row_key(outcome.site, item.hash)
            row = self._seen.get(partition, key)
            after = row_after(
                None if row is None else Seen.decode(row), item, outcome.at, self._days
            )
            if after is not None:
                work.wait_for(await self._seen.put(partition, key, after.encode()))

    async def sweep(self, partition: int, site: str, now: float, work: Work) -> int:
        """Delete what a site has not shown for long; gives the number of rows."""
        rows = self._seen.scan(partition, row_prefix(site))
        past = [key for key, row in rows if Seen.decode(row).is_past(now, self._days)]
        for key in past:
            work.wait_for(await self._seen.delete(partition, key))
        return len(past)
