"""The two tables of `poll`: the state of each feed, and the items found in a site's feeds.

feed_state   site NUL xxh3_128(feed)   `urltree.crawl.decisions.poll.feed_state.FeedState`
seen_items   site NUL key of an item   `urltree.crawl.decisions.poll.seen_items.SeenItemRow`
             site NUL key of a sitemap  digests of the pages that count as seen since its first poll
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import xxhash

from agents.kafka.delivery import Work
from agents.kafka.tables.table import ConfirmedTable, row_key, row_prefix
from urltree.crawl.decisions.poll.feed_state import FeedState
from urltree.crawl.decisions.poll.item_decision import Lookup
from urltree.crawl.decisions.poll.schedule import FeedKey
from urltree.crawl.decisions.poll.seen_items import SeenItemRow
from urltree.crawl.decisions.poll.source_options import SourceKind
from urltree.crawl.decisions.source.known_addresses import KnownAddresses

_LEAST_KNOWN = 100  # bytes; rows of items have at most 32


class FeedRow(NamedTuple):
    """A feed's state with the key under which it is stored and scheduled."""

    key: FeedKey
    state: FeedState


def feed_key(partition: int, site: str, feed: str) -> FeedKey:
    """Return the partition and the key of a feed's row."""
    return partition, row_key(site, xxhash.xxh3_128_digest(feed.encode()))


def _known_key(state: FeedState) -> bytes:
    return row_key(state.site, xxhash.xxh3_128_digest(f"known {state.feed}".encode()))


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

    async def delete(self, key: FeedKey, state: FeedState | None, work: Work) -> None:
        """Delete the state of a feed. The items of its site stay until they expire.

        The row is deleted even if it cannot be found: after kill -9, the changelog may have it.
        """
        work.wait_for(await self._states.delete(*key))
        if state is not None and state.options.kind is SourceKind.SITEMAP:
            work.wait_for(await self._seen.delete(key[0], _known_key(state)))

    def children(self, partition: int, parent: FeedState) -> Iterator[FeedRow]:
        """Yield the sitemaps that an index has named."""
        for key, row in self._states.scan(partition, row_prefix(parent.site)):
            state = FeedState.decode(row)
            if state.parent == parent.feed:
                yield FeedRow((partition, key), state)

    def known(self, partition: int, state: FeedState) -> KnownAddresses:
        """Return the pages of a sitemap that count as seen since its first poll."""
        return KnownAddresses(self._seen.get(partition, _known_key(state)) or b"")

    async def put_known(
        self, partition: int, state: FeedState, known: KnownAddresses, work: Work
    ) -> None:
        """Store the pages of a sitemap that count as seen since its first poll."""
        # A row of an item is shorter. Digests of zeros before the others keep the two apart, and
        # keep the digests in ascending order.
        packed = known.packed.rjust(_LEAST_KNOWN, b"\0")
        work.wait_for(await self._seen.put(partition, _known_key(state), packed), len(packed))

    def lookup(self, partition: int, site: str) -> Lookup:
        """Return the function that reads a row of `seen_items` by the key of an item.

        Raises:
            FeedStateError: a row cannot be read; raised by the function.
        """

        def read(item: bytes) -> SeenItemRow | None:
            row = self._seen.get(partition, row_key(site, item))
            return None if row is None else SeenItemRow.decode(row)

        return read

    async def see(
        self, partition: int, site: str, rows: Mapping[bytes, SeenItemRow], work: Work
    ) -> None:
        """Write rows of `seen_items`, by the keys of their items."""
        for item, row in rows.items():
            stored = self._seen.put(partition, row_key(site, item), row.encode())
            work.wait_for(await stored)

    async def sweep(self, partition: int, site: str, now: float, work: Work) -> int:
        """Delete the expired items of a site; return their number."""
        rows = self._seen.scan(partition, row_prefix(site))
        items = ((key, row) for key, row in rows if len(row) < _LEAST_KNOWN)
        past = [key for key, row in items if SeenItemRow.decode(row).is_past(now, self._days)]
        for key in past:
            work.wait_for(await self._seen.delete(partition, key))
        return len(past)
