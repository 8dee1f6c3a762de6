"""Stage poll: follows feeds and stores their states. Its records are keyed by site.

    feeds ─────────▶ feed added: write its row; removed: delete it ────────▶ feed_state
    requests ◀────── a feed is due (agents.polling)
    poll-outcomes ─▶ answer: new items ─▶ fetches ──confirmed──▶ seen_items, feed_state
                                                └ not the poll that the row expects: no new state

The worker that owns the host of a feed sends the request to the web (`agents.fetching`). The
decisions are in `urltree.crawl.decisions.poll`.

An answer that is read again after a crash finds the same items and writes the same rows again:
after kill -9, RocksDB may be ahead of the changelog. If a feed was removed, the items of its last
answer are neither fetched nor stored.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace

from faust.types.tuples import Message

from agents.app import make_table
from agents.incoming import origin_of
from agents.kafka.delivery import OnFailure, Work
from agents.polling.feed_tables import FeedTables, feed_key
from agents.polling.new_items import NewItemSender
from agents.polling.service import Polling
from agents.settings.job import Settings, require_contact
from agents.settings.schemes import Schemes
from agents.stage import OURS, Stage
from agents.telemetry.logs import log
from models import feed as feeds
from models import poll_outcome as outcomes
from urltree.crawl.decisions.feed.address import has_credentials, mask_credentials
from urltree.crawl.decisions.poll.answer import PollAnswer
from urltree.crawl.decisions.poll.feed_state import FeedState, add_again, new_feed_state
from urltree.crawl.decisions.poll.interval import PollRules
from urltree.crawl.decisions.poll.outcome import PolledItem, PollOutcome
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
        self._sender = NewItemSender(self, self.rows, self._schemes)
        self._answers: dict[FeedKey, asyncio.Task[None]] = {}  # the newest answer of each feed
        # Answers of which the last part is missing: poll, number of parts, their items
        self._parts: dict[FeedKey, tuple[tuple[int, float], int, tuple[PolledItem, ...]]] = {}
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
        """Forget the schedule and the answers before the partitions move to other workers."""
        self.polling.clear()
        for task in self._answers.values():
            task.cancel()
        self._answers.clear()
        self._parts.clear()

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
        if has_credentials(url):
            raise PageError(
                Reason.MALFORMED,
                f"key: {mask_credentials(url)} contains a user name or password; remove it, and "
                "add it again without them and with --credentials",
            )
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
        record = outcomes.decode(message.value)
        if isinstance(record, PollAnswer):
            self.check_place(record.outcome.site, message)
            key = feed_key(message.partition, record.outcome.site, record.outcome.feed)
            before = self._answers.get(key)
            task = asyncio.create_task(self._answered(key, record, work, before))
            self._answers[key] = task
            work.wait_for(task)
        elif isinstance(record, PollOutcome):
            self.check_place(record.site, message)
            key = feed_key(message.partition, record.site, record.feed)
            await self._apply_outcome(key, record, work)

    async def _answered(
        self, key: FeedKey, answer: PollAnswer, work: Work, before: asyncio.Task[None] | None
    ) -> None:
        """Apply an answer after the earlier ones of the same feed."""
        try:
            if before is not None:
                await asyncio.wait({before})
            if await self.is_ours(work.message):
                await self._apply_answer(key, answer, work)
        except OURS:
            raise
        except Exception as error:  # noqa: BLE001 - one feed must not stop the others
            log.error("unexpected error while reading an answer", exc_info=error)
            await self.dead_letter(work, origin_of(work.message), Reason.INTERNAL, repr(error))
        finally:
            if self._answers.get(key) is asyncio.current_task():
                del self._answers[key]

    async def _apply_answer(self, key: FeedKey, answer: PollAnswer, work: Work) -> None:
        outcome, state = answer.outcome, self.rows.get(key)
        if state is None:
            self._parts.pop(key, None)
            self.polling.schedule_next(key, outcome.sequence, None)
            return
        if answer.postponed_until is not None:
            until, ready_at = answer.postponed_until, answer.host_ready_at
            self.polling.postpone(key, outcome.sequence, state, until, ready_at)
            return
        found = await self._sender.send(key[0], state, answer)
        if not await self.is_ours(work.message):
            return
        await self.rows.see(key[0], found, work)
        polled = self._join(key, answer, found.items)
        if polled is None:
            return
        self._count(outcome)
        await self._apply_outcome(key, replace(found, items=polled), work, answer.host_ready_at)

    def _join(
        self, key: FeedKey, answer: PollAnswer, items: tuple[PolledItem, ...]
    ) -> tuple[PolledItem, ...] | None:
        """Return the items of all parts of an answer; None if the answer is not complete.

        If another worker has read the first parts, the answer stays incomplete here: its items were
        sent, but its outcome is not applied, so this worker asks for the feed again.
        """
        poll = answer.outcome.sequence, answer.outcome.at
        before = self._parts.pop(key, None) if answer.part else (poll, 0, ())
        if before is None or before[:2] != (poll, answer.part):
            log.info("the first parts of an answer are missing; waiting for another", key=key)
            return None
        joined = (*before[2], *items)
        if answer.is_last:
            return joined
        self._parts[key] = poll, answer.part + 1, joined
        return None

    async def _apply_outcome(
        self, key: FeedKey, outcome: PollOutcome, work: Work, host_ready_at: float = 0.0
    ) -> None:
        state = self.rows.get(key)
        if state is not None and is_expected_outcome(state, outcome):
            state = apply_outcome(state, outcome, self._rules)
        else:
            self.metrics.stale_outcomes.inc()
        await self.rows.see(key[0], outcome, work)
        if state is not None:
            state = await self._sweep_if_due(key, state, outcome, work)
            await self.rows.put(key, state, work)
        self.polling.schedule_next(key, outcome.sequence, state, host_ready_at)

    def _count(self, outcome: PollOutcome) -> None:
        self.metrics.polls.labels(outcome.result).inc()
        if outcome.trouble is not None:
            self.metrics.poll_troubles.labels(outcome.trouble).inc()

    async def _sweep_if_due(
        self, key: FeedKey, state: FeedState, outcome: PollOutcome, work: Work
    ) -> FeedState:
        """Delete the expired items of the feed's site if that is due; return the feed's state."""
        if not is_sweep_due(state, outcome.at):
            return state
        self.metrics.evicted.inc(await self.rows.sweep(key[0], state.site, outcome.at, work))
        return replace(state, swept_at=outcome.at)
