"""poll: follows feeds, and keeps what is known of them. Keyed by site.

    feeds ─────────▶ added: a row; removed: none ──────────▶ feed_state
    poll-outcomes ─▶ of the poll that the row waits for? ──▶ feed_state, seen_items
                       └ stale: dropped, counted

The polls themselves are made by a service beside this agent (`agents.polling`): a task of Faust's
cannot write a table, so what it finds comes back through poll-outcomes. Decides nothing:
`urltree.crawl.decisions.poll.polling` does.

Also an outcome that is not applied puts its rows again, as every replay here does: after kill -9
RocksDB is ahead of the changelog. The items of a removed feed count as seen, they are its site's.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from faust.types.tuples import Message

from agents.app import make_table
from agents.kafka.delivery import OnFailure, Work
from agents.polling.feed_rows import FeedRows, feed_key
from agents.polling.service import Polling
from agents.settings.job import Settings, require_contact
from agents.settings.schemes import Schemes
from agents.stage import Stage
from models import feed as feeds
from models import poll_outcome as outcomes
from urltree.crawl.decisions.poll.following import added_again
from urltree.crawl.decisions.poll.interval import Rules
from urltree.crawl.decisions.poll.outcome import Outcome
from urltree.crawl.decisions.poll.polling import after, first, is_next
from urltree.crawl.decisions.poll.schedule import Key
from urltree.crawl.decisions.poll.seen_items import is_sweep_due
from urltree.crawl.decisions.poll.state import FeedState
from urltree.page import PageError, Reason


class Poll(Stage):
    """The stage from feeds to fetches.

    Args:
        settings: of the job.
        on_failure: called when the worker cannot go on.
        clock: seconds since 1970.
    """

    name = "poll"
    reads = ("feeds", "poll-outcomes")

    def __init__(
        self,
        settings: Settings,
        on_failure: OnFailure,
        clock: Callable[[], float] = time.time,
    ) -> None:
        require_contact(settings)
        super().__init__(settings, on_failure)
        self._clock = clock
        self._rules = Rules(
            settings.interval_min, settings.interval_max, settings.quarantine_errors
        )
        self._schemes = Schemes(settings)
        self.rows = FeedRows(
            make_table(self.app, "feed_state"),
            make_table(self.app, "seen_items"),
            settings.seen_days,
        )
        self.polling = Polling(self, self.rows, self._schemes, clock)
        self.app.task(self.polling.run)
        self.app.before_stop = self.polling.stop

    async def process(self, message: Message, origin: str, work: Work) -> None:  # noqa: ARG002
        """Follow a feed, follow it no more, or apply what its poll has found.

        Raises:
            PageError: the record's fault.
        """
        if message.topic == self.settings.topic("feeds"):
            await self._follow(message, work)
        else:
            await self._apply(message, work)

    def drop(self, partition: int, domain: str) -> None:
        """Nothing of a site is kept in memory but when its feeds are due, which the rows say."""

    def clear(self) -> None:
        """Partitions move: what is being polled is another's."""
        self.polling.clear()

    async def _follow(self, message: Message, work: Work) -> None:
        site, url = feeds.split_key(message.key)
        to = self.key(site)
        if message.partition != to.partition:
            raise PageError(Reason.MISPLACED, f"{site}: not in its site's partition")
        key = feed_key(to.partition, site, url)
        if message.value is None:
            await self.rows.delete(key, work)
            self.polling.remove(key)
            return
        feed = feeds.decode(message.key, message.value)
        self._schemes.domain(url)
        now, state = self._clock(), self.rows.get(key)
        if state is None:
            state = first(url, site, now, feed.title, feed.meta)
        else:
            state = added_again(state, now, feed.title, feed.meta)
        await self.rows.put(key, state, work)
        self.polling.put(key, state)

    async def _apply(self, message: Message, work: Work) -> None:
        outcome = outcomes.decode(message.value)
        self.check_place(outcome.site, message)
        key = feed_key(message.partition, outcome.site, outcome.feed)
        state = self.rows.get(key)
        if state is not None and is_next(state, outcome):
            state = after(state, outcome, self._rules)
        else:
            self.metrics.stale_outcomes.inc()
        await self.rows.see(message.partition, outcome, work)
        if state is not None:
            state = await self._swept(key, state, outcome, work)
            await self.rows.put(key, state, work)
        self.polling.applied(key, outcome, state)

    async def _swept(self, key: Key, state: FeedState, outcome: Outcome, work: Work) -> FeedState:
        """The state once the site's expired items are deleted, where that is due."""
        if not is_sweep_due(state, outcome.at):
            return state
        self.metrics.evicted.inc(await self.rows.sweep(key[0], state.site, outcome.at, work))
        return replace(state, swept_at=outcome.at)
