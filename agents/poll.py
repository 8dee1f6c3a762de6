"""Stage poll: follows feeds and stores their states. Its records are keyed by site.

    feeds ─────────▶ feed added: write its row; removed: delete it ─────▶ feed_state
    poll-outcomes ─▶ outcome of the poll that the row expects? ─────────▶ feed_state, seen_items
                       └ no: it is stale and changes no state

A service beside this agent makes the polls (`agents.polling`). Only a Faust agent can write a
table, so the service sends its results through poll-outcomes. The decisions are in
`urltree.crawl.decisions.poll.transition`.

A stale outcome does not change the state of its feed, but the agent writes the same rows again:
after kill -9, RocksDB may be ahead of the changelog. If a feed was removed, the items of its last
poll are still stored as seen, because items belong to the site.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from faust.types.tuples import Message

from agents.app import make_table
from agents.kafka.delivery import OnFailure, Work
from agents.polling.feed_tables import FeedTables, feed_key
from agents.polling.service import Polling
from agents.settings.job import Settings, require_contact
from agents.settings.schemes import Schemes
from agents.stage import Stage
from models import feed as feeds
from models import poll_outcome as outcomes
from urltree.crawl.decisions.poll.feed_state import FeedState, add_again, new_feed_state
from urltree.crawl.decisions.poll.interval import PollRules
from urltree.crawl.decisions.poll.outcome import PollOutcome
from urltree.crawl.decisions.poll.schedule import FeedKey
from urltree.crawl.decisions.poll.seen_items import is_sweep_due
from urltree.crawl.decisions.poll.transition import apply_outcome, is_expected_outcome
from urltree.page import PageError, Reason


class Poll(Stage):
    """The stage from feeds to fetches.

    Args:
        settings: settings of the job.
        on_failure: called when the worker cannot continue.
        clock: returns seconds since 1970.
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
        self._rules = PollRules(
            settings.interval_min, settings.interval_max, settings.quarantine_errors
        )
        self._schemes = Schemes(settings)
        self.rows = FeedTables(
            make_table(self.app, "feed_state"),
            make_table(self.app, "seen_items"),
            settings.seen_days,
        )
        self.polling = Polling(self, self.rows, self._schemes, clock)
        self.app.task(self.polling.run)
        self.app.before_stop = self.polling.stop

    async def process(self, message: Message, origin: str, work: Work) -> None:  # noqa: ARG002
        """Follow a feed, stop following it, or apply the outcome of its poll.

        Raises:
            PageError: the record is invalid.
        """
        if message.topic == self.settings.topic("feeds"):
            await self._follow(message, work)
        else:
            await self._apply(message, work)

    def drop(self, partition: int, domain: str) -> None:
        """Do nothing: memory contains only due times, and the rows contain them, too."""

    def clear(self) -> None:
        """Cancel all polls before the partitions move to other workers."""
        self.polling.clear()

    async def _follow(self, message: Message, work: Work) -> None:
        site, url = feeds.split_key(message.key)
        to = self.key(site)
        if message.partition != to.partition:
            raise PageError(
                Reason.MISPLACED,
                f"the record of site {site} is in partition {message.partition} instead of "
                f"{to.partition}; send it to the partition of its site, as `feeds add` does",
            )
        key = feed_key(to.partition, site, url)
        if message.value is None:
            await self.rows.delete(key, work)
            self.polling.remove(key)
            return
        feed = feeds.decode(message.key, message.value)
        self._schemes.domain(url)
        now, state = self._clock(), self.rows.get(key)
        if state is None:
            state = new_feed_state(url, site, now, feed.title, feed.meta)
        else:
            state = add_again(state, now, feed.title, feed.meta)
        await self.rows.put(key, state, work)
        self.polling.put(key, state)

    async def _apply(self, message: Message, work: Work) -> None:
        outcome = outcomes.decode(message.value)
        self.check_place(outcome.site, message)
        key = feed_key(message.partition, outcome.site, outcome.feed)
        state = self.rows.get(key)
        if state is not None and is_expected_outcome(state, outcome):
            state = apply_outcome(state, outcome, self._rules)
        else:
            self.metrics.stale_outcomes.inc()
        await self.rows.see(message.partition, outcome, work)
        if state is not None:
            state = await self._sweep_if_due(key, state, outcome, work)
            await self.rows.put(key, state, work)
        self.polling.schedule_next(key, outcome, state)

    async def _sweep_if_due(
        self, key: FeedKey, state: FeedState, outcome: PollOutcome, work: Work
    ) -> FeedState:
        """Delete the expired items of the feed's site if that is due; return the feed's state."""
        if not is_sweep_due(state, outcome.at):
            return state
        self.metrics.evicted.inc(await self.rows.sweep(key[0], state.site, outcome.at, work))
        return replace(state, swept_at=outcome.at)
