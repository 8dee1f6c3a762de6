"""The sitemaps that an index names: each is a source of its own, with a row in `feed_state`.

index ──names──▶ new            a row; not all are due at once
another date   the row is due
no longer      the row is deleted
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from dataclasses import replace

from agents.kafka.delivery import Work
from agents.polling.feed_tables import FeedTables, feed_key
from agents.polling.service import Polling
from urltree.crawl.decisions.poll.answer import PollAnswer, SitemapChild
from urltree.crawl.decisions.poll.feed_state import FeedState, child_state, update_child
from urltree.crawl.decisions.poll.interval import PollRules
from urltree.crawl.decisions.poll.schedule import FeedKey
from urltree.crawl.decisions.poll.stored_times import spread_time
from urltree.crawl.decisions.source.known_addresses import KnownAddresses
from urltree.crawl.decisions.source.sitemap_plan import first_room, newest_children


class Sitemaps:
    """Access to the sitemaps that the indexes of a worker name.

    Args:
        rows: tables of the stage.
        polling: service that polls the sources.
        rules: limits of the intervals.
        clock: returns seconds since 1970.
    """

    def __init__(
        self, rows: FeedTables, polling: Polling, rules: PollRules, clock: Callable[[], float]
    ) -> None:
        self._rows = rows
        self._polling = polling
        self._rules = rules
        self._clock = clock

    async def apply(self, key: FeedKey, state: FeedState, answer: PollAnswer, work: Work) -> None:
        """Store the old pages of a sitemap, and follow the sitemaps that an index names.

        Args:
            key: key of the source.
            state: state of the source before the outcome is applied.
            answer: last part of the answer.
            work: record of the answer.
        """
        if answer.known is not None:
            known = KnownAddresses(b64decode(answer.known))
            await self._rows.put_known(key[0], state, known, work)
        if answer.children and state.parent is None:  # an index in an index is not followed
            await self._follow(key[0], state, newest_children(answer.children), work)

    async def update(self, key: FeedKey, state: FeedState, work: Work) -> None:
        """Give the sitemaps of an index the options with which it was added again."""
        now = self._clock()
        for row in list(self._rows.children(key[0], state)):
            await self._put(row.key, update_child(row.state, state, row.state.modified, now), work)

    async def remove(self, key: FeedKey, state: FeedState, work: Work) -> None:
        """Stop following the sitemaps that an index has named."""
        for row in list(self._rows.children(key[0], state)):
            await self._delete(row.key, row.state, work)

    async def _follow(
        self, partition: int, index: FeedState, named: list[SitemapChild], work: Work
    ) -> None:
        now = self._clock()
        there = {row.state.feed: row for row in self._rows.children(partition, index)}
        room = None if index.was_read else first_room(len(named))
        for child in named:
            row = there.pop(child.url, None)
            if row is not None:
                after = update_child(row.state, index, child.modified, now)
                if after != row.state or _is_written_here(row.state):
                    await self._put(row.key, after, work)
                continue
            key = feed_key(partition, index.site, child.url)
            if self._rows.get(key) is not None:
                continue  # a source of its own
            after = child_state(index, child.url, child.modified, now, room)
            if child.modified is None:  # not all at once
                after = replace(after, next_due=spread_time(after, now, self._rules))
            await self._put(key, after, work)
        for row in there.values():
            await self._delete(row.key, row.state, work)

    async def _put(self, key: FeedKey, state: FeedState, work: Work) -> None:
        await self._rows.put(key, state, work)
        self._polling.put(key, state)

    async def _delete(self, key: FeedKey, state: FeedState, work: Work) -> None:
        await self._rows.delete(key, state, work)
        self._polling.remove(key)


def _is_written_here(child: FeedState) -> bool:
    """Return whether an answer about the index wrote the row last, and not one about the sitemap.

    Such a row is written again: if the answer is read again after a crash, the changelog may lack
    the first write.
    """
    return child.sequence == 0 or child.modified != child.read_modified
