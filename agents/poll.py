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
from base64 import b64decode
from collections.abc import Callable
from dataclasses import replace

from faust.types.tuples import Message

from agents.app import make_table
from agents.incoming import origin_of
from agents.kafka.delivery import OnFailure, Work
from agents.polling.feed_tables import FeedTables, feed_key
from agents.polling.new_items import NewItemSender
from agents.polling.service import Polling
from agents.rules.watcher import RulesWatcher
from agents.settings.job import Settings, require_contact
from agents.settings.schemes import Schemes
from agents.stage import OURS, Stage
from agents.telemetry.logs import log
from models.crawl import feed as feeds
from models.crawl import poll_outcome as outcomes
from urltree.crawl.decisions.feed.address import has_credentials, mask_credentials
from urltree.crawl.decisions.poll.answer import PageReport, PollAnswer
from urltree.crawl.decisions.poll.content import apply_report
from urltree.crawl.decisions.poll.feed_state import (
    FeedState,
    Subscription,
    add_again,
    child_state,
    new_feed_state,
    update_child,
)
from urltree.crawl.decisions.poll.identity import link_key
from urltree.crawl.decisions.poll.interval import PollRules
from urltree.crawl.decisions.poll.item_decision import Decision, ItemRules, decide_items
from urltree.crawl.decisions.poll.outcome import PolledItem, PollOutcome, PollResult
from urltree.crawl.decisions.poll.schedule import FeedKey
from urltree.crawl.decisions.poll.seen_items import dropped_row, former_rows, is_sweep_due
from urltree.crawl.decisions.poll.source_options import SourceKind
from urltree.crawl.decisions.poll.stored_times import bound_times, spread_time
from urltree.crawl.decisions.poll.transition import apply_outcome, is_expected_outcome
from urltree.crawl.decisions.source.known_addresses import KnownAddresses
from urltree.crawl.decisions.source.section_articles import new_articles
from urltree.crawl.decisions.source.sitemap_plan import first_room, newest_children
from urltree.crawl.decisions.timing import may_sweep
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
        self._items = ItemRules(
            seen_days=settings.seen_days,
            revisits_a_day=settings.revisits_a_day if settings.revisits == "replace" else 0,
            first_poll_days=settings.first_poll_days,
        )
        self._sender = NewItemSender(self, self._schemes)
        self._answers: dict[tuple[int, str], asyncio.Task[None]] = {}  # the newest of each site
        # Answers of which the last part is missing: poll, number of parts, their items
        self._parts: dict[FeedKey, tuple[tuple[int, float], int, tuple[PolledItem, ...]]] = {}
        self.crawl_rules = RulesWatcher(settings, self.fail, self.metrics, self._on_rules)
        self._items = replace(self._items, is_denied=self._is_denied)
        self.polling = Polling(self, self.rows, self._schemes, self._rules, self.crawl_rules, clock)
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

    def _is_denied(self, url: str) -> bool:
        return self.crawl_rules.verdict(url) is not None

    def _on_rules(self) -> None:
        self.polling.wake()

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
            await self._forget(key, work)
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
        added = Subscription(
            title=feed.title, meta=feed.meta, options=feed.options, offset=message.offset
        )
        if state is None:
            state = new_feed_state(url, site, now, added)
        else:
            state = add_again(state, now, added)
        await self.rows.put(key, state, work)
        self.polling.put(key, state)

    async def _forget(self, key: FeedKey, work: Work) -> None:
        """Stop following a source, and the sitemaps that it has named."""
        state = self.rows.get(key)
        if state is not None:
            for child in list(self.rows.children(key[0], state)):
                await self.rows.delete(child.key, child.state, work)
                self.polling.remove(child.key)
        await self.rows.delete(key, state, work)
        self.polling.remove(key)

    async def _apply(self, message: Message, work: Work) -> None:
        record = outcomes.decode(message.value)
        if isinstance(record, PollAnswer):
            outcome = record.outcome
            self.check_place(outcome.site, message)
            site = message.partition, outcome.site
            # Feeds of a site share their items, so their answers are applied one after the other.
            before = self._answers.get(site)
            task = asyncio.create_task(self._answered(record, work, before))
            self._answers[site] = task
            work.wait_for(task)
            return
        self.check_place(record.site, message)
        key = feed_key(message.partition, record.site, record.feed)
        if isinstance(record, PageReport):
            before = self._answers.get((message.partition, record.site))
            if before is not None:  # it may be writing the rows of pages that were dropped
                await asyncio.wait({before})
            await self._apply_report(key, record, work)
            return
        lookup = self.rows.lookup(message.partition, record.site)
        rows = former_rows(record, lookup, self.settings.seen_days)
        await self.rows.see(message.partition, record.site, rows, work)
        await self._apply_outcome(key, self.rows.get(key), record, work)

    async def _apply_report(self, key: FeedKey, report: PageReport, work: Work) -> None:
        """Count what the pages of a source have shown, and make dropped pages count as not seen."""
        state, now = self.rows.get(key), self._clock()
        if state is not None and (report.walls or report.coverage):
            await self.rows.put(key, apply_report(state, report, now), work)
        dropped = {link_key(url): dropped_row(now) for url in report.dropped}
        await self.rows.see(key[0], report.site, dropped, work)

    async def _answered(
        self, answer: PollAnswer, work: Work, before: asyncio.Task[None] | None
    ) -> None:
        """Apply an answer after the earlier ones of the same site."""
        partition, site = work.message.partition, answer.outcome.site
        try:
            if before is not None:
                await asyncio.wait({before})
            if await self.is_ours(work.message):
                key = feed_key(partition, site, answer.outcome.feed)
                await self._apply_answer(key, answer, work)
        except OURS:
            raise
        except Exception as error:  # noqa: BLE001 - one feed must not stop the others
            log.error("unexpected error while reading an answer", exc_info=error)
            await self.dead_letter(work, origin_of(work.message), Reason.INTERNAL, repr(error))
        finally:
            if self._answers.get((partition, site)) is asyncio.current_task():
                del self._answers[partition, site]

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
        if outcome.result is not PollResult.ITEMS:
            await self._apply_outcome(key, state, outcome, work, answer)
            return
        await self.crawl_rules.until_current()
        state = bound_times(state, self._clock(), self._rules)
        decision = self._decide(key, state, answer)
        if is_expected_outcome(state, outcome):
            await self._sender.send(state, decision, outcome.at)
            if not await self.is_ours(work.message):
                return
        await self.rows.see(key[0], state.site, decision.rows, work)
        polled = self._join(key, answer, decision.items)
        if polled is None:
            if is_expected_outcome(state, outcome):
                await self.rows.put(key, decision.state, work)
            return
        self._count(outcome)
        whole = replace(outcome, items=polled)
        if any(self._is_denied(item.link) for item in answer.items):
            # Otherwise an unchanged body would hide the items after the end of the rule.
            whole = replace(whole, etag=None, last_modified=None, body_hash=None)
        await self._apply_outcome(key, decision.state, whole, work, answer)
        if answer.is_last and (answer.children or answer.known):
            await self._apply_sitemap(key, state, answer, work)

    def _decide(self, key: FeedKey, state: FeedState, answer: PollAnswer) -> Decision:
        """Decide which items of a part of an answer are new."""
        items, learned, at = answer.items, state.learned, answer.outcome.at
        taken = self._parts.get(key, ((0, 0.0), 0, ()))[2] if answer.part else ()
        rules = replace(self._items, taken=sum(item.is_new for item in taken))
        if state.options.kind is SourceKind.SECTION:
            items, learned = new_articles(items, state.learned or None)
        elif state.options.kind is SourceKind.SITEMAP:
            known = self.rows.known(key[0], state)
            items = tuple(item for item in items if item.link not in known)
        decision = decide_items(items, state, self.rows.lookup(key[0], state.site), at, rules)
        return replace(decision, state=replace(decision.state, learned=learned))

    async def _apply_sitemap(
        self, key: FeedKey, state: FeedState, answer: PollAnswer, work: Work
    ) -> None:
        """Store the old pages of a sitemap, and follow the sitemaps that an index names.

        Args:
            key: key of the source.
            state: state of the source before the poll.
            answer: last part of the answer.
            work: record of the answer.
        """
        if answer.known is not None:
            known = KnownAddresses(b64decode(answer.known))
            await self.rows.put_known(key[0], state, known, work)
        if not answer.children or state.parent is not None:
            return  # an index that an index names is not followed further
        now = self._clock()
        there = {row.state.feed: row for row in self.rows.children(key[0], state)}
        named = newest_children(answer.children)
        for child in named:
            row = there.pop(child.url, None)
            child_key = feed_key(key[0], state.site, child.url)
            if row is not None:
                after = update_child(row.state, state, child.modified, now)
            elif self.rows.get(child_key) is None:
                room = None if state.was_read else first_room(len(named))
                after = child_state(state, child.url, child.modified, now, room)
                if child.modified is None:  # not all at once
                    after = replace(after, next_due=spread_time(after, now, self._rules))
            else:
                continue  # a source of its own
            if row is None or after != row.state:
                await self.rows.put(child_key, after, work)
                self.polling.put(child_key, after)
        for row in there.values():
            await self.rows.delete(row.key, row.state, work)
            self.polling.remove(row.key)

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
        self,
        key: FeedKey,
        state: FeedState | None,
        outcome: PollOutcome,
        work: Work,
        answer: PollAnswer | None = None,
    ) -> None:
        """Store what a poll changes in the state of a source, and schedule its next poll.

        Args:
            key: key of the source.
            state: state with what the items have shown; None if the source was removed.
            outcome: outcome with all items.
            work: record of the answer.
            answer: last part of the answer; None for a record of a release before 0.3.
        """
        now = self._clock()
        if state is not None:
            state = bound_times(state, now, self._rules)
        if state is not None and is_expected_outcome(state, outcome):
            state = apply_outcome(state, outcome, self._rules, now)
        else:
            self.metrics.stale_outcomes.inc()
        if state is not None:
            state = await self._sweep_if_due(key, state, outcome, work)
            await self.rows.put(key, state, work)
        ready_at = 0.0 if answer is None else answer.host_ready_at
        self.polling.schedule_next(key, outcome.sequence, state, ready_at)

    def _count(self, outcome: PollOutcome) -> None:
        self.metrics.polls.labels(outcome.result).inc()
        if outcome.trouble is not None:
            self.metrics.poll_troubles.labels(outcome.trouble).inc()

    async def _sweep_if_due(
        self, key: FeedKey, state: FeedState, outcome: PollOutcome, work: Work
    ) -> FeedState:
        """Delete the expired items of the feed's site if that is due; return the feed's state."""
        is_safe = may_sweep(self._clock(), self.broker_time.now())
        if not is_safe or not is_sweep_due(state, outcome.at):
            return state
        self.metrics.evicted.inc(await self.rows.sweep(key[0], state.site, outcome.at, work))
        return replace(state, swept_at=outcome.at)
