"""The two tables of `poll`: the state of each feed, and the items found in a site's feeds.

feed_state   site NUL xxh3_128(feed)   `urltree.crawl.decisions.poll.feed_state.FeedState`
seen_items   site NUL item hash        `urltree.crawl.decisions.poll.seen_items.SeenItemRow`
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import xxhash

from agents.kafka.delivery import Work
from agents.kafka.tables.table import ConfirmedTable, row_key, row_prefix
from urltree.crawl.decisions.poll.feed_state import FeedState
from urltree.crawl.decisions.poll.outcome import PollOutcome
from urltree.crawl.decisions.poll.schedule import FeedKey
from urltree.crawl.decisions.poll.seen_items import SeenItemRow, update_row


class FeedRow(NamedTuple):
    """A feed's state with the key under which it is stored and scheduled."""

    key: FeedKey
    state: FeedState


def feed_key(partition: int, site: str, feed: str) -> FeedKey:
    """Return the partition and the key of a feed's row."""
    return partition, row_key(site, xxhash.xxh3_128_digest(feed.encode()))


class FeedTables:
    """Access to both tables of `poll`.

    Args:
        states: table `feed_state`.
        seen: table `seen_items`.
        days: days after which an item that no longer appears in its feed is deleted.
    """

    def __init__(self, states: ConfirmedTable, seen: ConfirmedTable, days: float) -> None:
        self._states = states
        self._seen = seen
        self._days = days

    def get(self, key: FeedKey) -> FeedState | None:
        """Return the state of a feed; None if the feed is not followed.

        Raises:
            FeedStateError: the feed's row cannot be read.
        """
        row = self._states.get(*key)
        return None if row is None else FeedState.decode(row)

    def pages(self, partition: int) -> Iterator[list[FeedRow]]:
        """Yield all feeds of a partition, in lists; see `ConfirmedTable.scan_batches`."""
        for page in self._states.scan_batches(partition, b""):
            yield [FeedRow((partition, key), FeedState.decode(row)) for key, row in page]

    async def put(self, key: FeedKey, state: FeedState, work: Work) -> None:
        """Write the state of a feed."""
        row = state.encode()
        work.wait_for(await self._states.put(*key, row), len(row))

    async def delete(self, key: FeedKey, work: Work) -> None:
        """Delete the state of a feed. The items of its site stay until they expire."""
        work.wait_for(await self._states.delete(*key))

    def is_known(self, partition: int, site: str, item: bytes) -> bool:
        """Return whether an item with this hash was found in a feed of the site before."""
        return self._seen.get(partition, row_key(site, item)) is not None

    async def see(self, partition: int, outcome: PollOutcome, work: Work) -> None:
        """Store the items that a poll has found."""
        for item in outcome.items:
            key = row_key(outcome.site, item.hash)
            row = self._seen.get(partition, key)
            after = update_row(
                None if row is None else SeenItemRow.decode(row), item, outcome.at, self._days
            )
            if after is not None:
                work.wait_for(await self._seen.put(partition, key, after.encode()))

    async def sweep(self, partition: int, site: str, now: float, work: Work) -> int:
        """Delete the expired items of a site; return their number."""
        rows = self._seen.scan(partition, row_prefix(site))
        past = [key for key, row in rows if SeenItemRow.decode(row).is_past(now, self._days)]
        for key in past:
            work.wait_for(await self._seen.delete(partition, key))
        return len(past)
