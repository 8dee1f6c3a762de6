"""The two tables of `poll`: what is known of each feed, and which items its site has shown.

feed_state   site NUL xxh3_128(feed)   `urltree.crawl.decisions.poll.feed_state.FeedState`
seen_items   site NUL item hash        `urltree.crawl.decisions.poll.seen_items.SeenItemRow`
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import xxhash

from agents.kafka.delivery import Work
from agents.kafka.tables.table import Table, key_of, prefix_of
from urltree.crawl.decisions.poll.feed_state import FeedState
from urltree.crawl.decisions.poll.outcome import PollOutcome
from urltree.crawl.decisions.poll.schedule import FeedKey
from urltree.crawl.decisions.poll.seen_items import SeenItemRow, update_row


class FeedRow(NamedTuple):
    """A feed with the key under which it is stored and scheduled."""

    key: FeedKey
    state: FeedState


def feed_key(partition: int, site: str, feed: str) -> FeedKey:
    """The partition of a feed's row, and its key there."""
    return partition, key_of(site, xxhash.xxh3_128_digest(feed.encode()))


class FeedTables:
    """Reads and writes both tables.

    Args:
        states, seen: the tables.
        days: an item is forgotten so long after it was last seen.
    """

    def __init__(self, states: Table, seen: Table, days: float) -> None:
        self._states = states
        self._seen = seen
        self._days = days

    def get(self, key: FeedKey) -> FeedState | None:
        """What is known of a feed, None where it is not followed.

        Raises:
            StateError: the row cannot be read.
        """
        row = self._states.get(*key)
        return None if row is None else FeedState.decode(row)

    def pages(self, partition: int) -> Iterator[list[FeedRow]]:
        """All feeds of a partition, in lists; see `Table.pages`."""
        for page in self._states.pages(partition, b""):
            yield [FeedRow((partition, key), FeedState.decode(row)) for key, row in page]

    async def put(self, key: FeedKey, state: FeedState, work: Work) -> None:
        """Put what is known of a feed now."""
        row = state.encode()
        work.wait_for(await self._states.put(*key, row), len(row))

    async def delete(self, key: FeedKey, work: Work) -> None:
        """Forget a feed; what its site has shown stays until it expires."""
        work.wait_for(await self._states.delete(*key))

    def is_known(self, partition: int, site: str, item: bytes) -> bool:
        """Whether an item of that hash was seen at that site."""
        return self._seen.get(partition, key_of(site, item)) is not None

    async def see(self, partition: int, outcome: PollOutcome, work: Work) -> None:
        """Note which items a poll has found."""
        for item in outcome.items:
            key = key_of(outcome.site, item.hash)
            row = self._seen.get(partition, key)
            after = update_row(
                None if row is None else SeenItemRow.decode(row), item, outcome.at, self._days
            )
            if after is not None:
                work.wait_for(await self._seen.put(partition, key, after.encode()))

    async def sweep(self, partition: int, site: str, now: float, work: Work) -> int:
        """Delete what a site has not shown for long; gives the number of rows."""
        rows = self._seen.scan(partition, prefix_of(site))
        past = [key for key, row in rows if SeenItemRow.decode(row).is_past(now, self._days)]
        for key in past:
            work.wait_for(await self._seen.delete(partition, key))
        return len(past)
