"""What an answer to the request for a source changes; used by `agents.poll`.

    answer ──▶ items decided ──new──▶ fetches ──confirmed──▶ seen_items ──▶ feed_state
               │                                              └ last part missing: no outcome yet
               └ answer of another poll than the row expects: its items count, its outcome does not

Feeds of a site share their items, so the answers of a site are applied one after the other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from agents.incoming import origin_of
from agents.kafka.delivery import Work
from agents.polling.feed_tables import FeedTables, feed_key
from agents.polling.new_items import NewItemSender
from agents.polling.service import Polling
from agents.polling.sitemaps import Sitemaps
from agents.rules.watcher import RulesWatcher
from agents.settings.schemes import Schemes
from agents.stage import OURS, Stage
from agents.telemetry.logs import log
from urltree.crawl.decisions.poll.answer import PollAnswer
from urltree.crawl.decisions.poll.feed_state import FeedState
from urltree.crawl.decisions.poll.identity import link_key
from urltree.crawl.decisions.poll.interval import PollRules
from urltree.crawl.decisions.poll.item_decision import Decision, ItemRules, decide_items
from urltree.crawl.decisions.poll.outcome import PolledItem, PollOutcome, PollResult
from urltree.crawl.decisions.poll.schedule import FeedKey
from urltree.crawl.decisions.poll.seen_items import is_sweep_due
from urltree.crawl.decisions.poll.source_options import SourceKind
from urltree.crawl.decisions.poll.stored_times import bound_times
from urltree.crawl.decisions.poll.transition import (
    apply_outcome,
    is_applied_outcome,
    is_expected_outcome,
)
from urltree.crawl.decisions.source.section_articles import new_articles
from urltree.crawl.decisions.timing import may_sweep
from urltree.page import Reason


class _Parts(NamedTuple):
    """The first parts of an answer of which the last part is missing.

    Attributes:
        poll: sequence and time of the poll.
        number: number of parts that were read.
        items: items of these parts.
        is_denied: whether a rule forbids one of the items.
    """

    poll: tuple[int, float]
    number: int = 0
    items: tuple[PolledItem, ...] = ()
    is_denied: bool = False


class Answers:
    """The answers that a worker of `poll` is applying.

    Args:
        stage: stage of the worker.
        rows: tables of the stage.
        polling: service that polls the sources.
        sitemaps: sitemaps that indexes name.
        schemes: key schemes, which determine the domain of a page.
        rules: limits of the intervals.
        crawl_rules: rules of the operator that forbid requests.
        clock: returns seconds since 1970.
    """

    def __init__(  # noqa: PLR0913, PLR0917
        self,
        stage: Stage,
        rows: FeedTables,
        polling: Polling,
        sitemaps: Sitemaps,
        schemes: Schemes,
        rules: PollRules,
        crawl_rules: RulesWatcher,
        clock: Callable[[], float],
    ) -> None:
        settings = stage.settings
        self._stage = stage
        self._rows = rows
        self._polling = polling
        self._sitemaps = sitemaps
        self._rules = rules
        self._crawl_rules = crawl_rules
        self._clock = clock
        self._sender = NewItemSender(stage, schemes)
        self._items = ItemRules(
            seen_days=settings.seen_days,
            revisits_a_day=settings.revisits_a_day if settings.revisits == "replace" else 0,
            first_poll_days=settings.first_poll_days,
            is_denied=self._is_denied,
        )
        self._tasks: dict[tuple[int, str], asyncio.Task[None]] = {}  # the newest of each site
        self._parts: dict[FeedKey, _Parts] = {}

    def begin(self, answer: PollAnswer, work: Work) -> None:
        """Apply an answer after the earlier ones of the same site; the work waits for it."""
        site = work.message.partition, answer.outcome.site
        task = asyncio.create_task(self._answered(answer, work, self._tasks.get(site)))
        self._tasks[site] = task
        work.wait_for(task)

    async def wait(self, partition: int, site: str) -> None:
        """Wait until the answers of a site were applied, because they write the site's rows."""
        task = self._tasks.get((partition, site))
        if task is not None:
            await asyncio.wait({task})

    def clear(self) -> None:
        """Forget the answers before the partitions move to other workers."""
        for task in self._tasks.values():
            task.cancel()
        self._tasks.clear()
        self._parts.clear()

    async def _answered(
        self, answer: PollAnswer, work: Work, before: asyncio.Task[None] | None
    ) -> None:
        """Apply an answer after the earlier ones of the same site."""
        partition, site = work.message.partition, answer.outcome.site
        try:
            if before is not None:
                await asyncio.wait({before})
            if await self._stage.is_ours(work.message):
                key = feed_key(partition, site, answer.outcome.feed)
                await self._apply(key, answer, work)
        except OURS:
            raise
        except Exception as error:  # noqa: BLE001 - one feed must not stop the others
            log.error("unexpected error while reading an answer", exc_info=error)
            await self._stage.dead_letter(
                work, origin_of(work.message), Reason.INTERNAL, repr(error)
            )
        finally:
            if self._tasks.get((partition, site)) is asyncio.current_task():
                del self._tasks[partition, site]

    async def _apply(self, key: FeedKey, answer: PollAnswer, work: Work) -> None:
        outcome, state = answer.outcome, self._rows.get(key)
        if state is None:
            self._parts.pop(key, None)
            self._polling.schedule_next(key, outcome.sequence, None)
            return
        if state.parent is not None and self._rows.get(self._parent_key(key, state)) is None:
            # The worker that has removed the index was killed before it had removed its sitemaps.
            await self._rows.delete(key, state, work)
            self._polling.schedule_next(key, outcome.sequence, None)
            return
        if answer.postponed_until is not None:
            until, ready_at = answer.postponed_until, answer.host_ready_at
            self._polling.postpone(key, outcome.sequence, state, until, ready_at)
            return
        if outcome.result is not PollResult.ITEMS:
            self._count(outcome)
            await self.apply_outcome(key, state, outcome, work, answer)
            return
        await self._crawl_rules.until_current()
        state = bound_times(state, self._clock(), self._rules)
        decision = self._decide(key, state, answer)
        if not is_applied_outcome(state, outcome):
            await self._sender.send(state, decision, outcome.at)
            if not await self._stage.is_ours(work.message):
                return
        await self._rows.see(key[0], state.site, decision.rows, work)
        after = decision.state if is_expected_outcome(state, outcome) else state
        whole = self._join(key, answer, decision.items)
        if whole is None:
            await self._rows.put(key, after, work)
            return
        self._count(outcome)
        if answer.children or answer.known:  # before the state, whose row ends the first poll
            await self._sitemaps.apply(key, after, answer, work)
        await self.apply_outcome(key, after, whole, work, answer)

    def _decide(self, key: FeedKey, state: FeedState, answer: PollAnswer) -> Decision:
        """Decide which items of a part of an answer are new."""
        items, learned, at = answer.items, state.learned, answer.outcome.at
        before = self._parts.get(key) if answer.part else None
        taken = () if before is None else before.items
        rules = replace(self._items, taken=sum(item.is_new for item in taken))
        if state.options.kind is SourceKind.SECTION:
            # A link that is denied is not learned, so it is new once the rule has ended.
            links = tuple(item for item in items if not self._is_denied(item.link))
            items, learned = new_articles(links, state.learned or None)
            lookup, found = self._rows.lookup(key[0], state.site), {item.link for item in items}
            items += tuple(
                link
                for link in links
                if link.link not in found
                and (row := lookup(link_key(link.link))) is not None
                and row.is_dropped
            )
        elif state.options.kind is SourceKind.SITEMAP:
            known = self._rows.known(key[0], state)
            items = tuple(item for item in items if item.link not in known)
        decision = decide_items(items, state, self._rows.lookup(key[0], state.site), at, rules)
        after = replace(decision.state, learned=learned)
        if answer.is_undated and not state.was_read:
            after = replace(after, seen_before=None)  # an old date does not make a page old
        return replace(decision, state=after)

    def _join(
        self, key: FeedKey, answer: PollAnswer, items: tuple[PolledItem, ...]
    ) -> PollOutcome | None:
        """Return the outcome with the items of all parts; None if the answer is not complete.

        If another worker has read the first parts, the answer stays incomplete here: its items were
        sent, but its outcome is not applied, so this worker asks for the feed again.
        """
        poll = answer.outcome.sequence, answer.outcome.at
        before = self._parts.pop(key, None) if answer.part else _Parts(poll)
        if before is None or (before.poll, before.number) != (poll, answer.part):
            log.info("the first parts of an answer are missing; waiting for another", key=key)
            return None
        is_denied = before.is_denied or any(self._is_denied(item.link) for item in answer.items)
        joined = _Parts(poll, answer.part + 1, (*before.items, *items), is_denied)
        if not answer.is_last:
            self._parts[key] = joined
            return None
        outcome = replace(answer.outcome, items=joined.items)
        if is_denied:
            # Otherwise an unchanged body would hide the items after the end of the rule.
            outcome = replace(outcome, etag=None, last_modified=None, body_hash=None)
        return outcome

    async def apply_outcome(
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
            self._stage.metrics.stale_outcomes.inc()
        if state is not None:
            state = await self._sweep_if_due(key, state, outcome, work)
            await self._rows.put(key, state, work)
        ready_at = 0.0 if answer is None else answer.host_ready_at
        self._polling.schedule_next(key, outcome.sequence, state, ready_at)

    def _count(self, outcome: PollOutcome) -> None:
        self._stage.metrics.polls.labels(outcome.result).inc()
        if outcome.trouble is not None:
            self._stage.metrics.poll_troubles.labels(outcome.trouble).inc()

    async def _sweep_if_due(
        self, key: FeedKey, state: FeedState, outcome: PollOutcome, work: Work
    ) -> FeedState:
        """Delete the expired items of the feed's site if that is due; return the feed's state."""
        is_safe = may_sweep(self._clock(), self._stage.broker_time.now())
        if not is_safe or not is_sweep_due(state, outcome.at):
            return state
        self._stage.metrics.evicted.inc(
            await self._rows.sweep(key[0], state.site, outcome.at, work)
        )
        return replace(state, swept_at=outcome.at)

    def _is_denied(self, url: str) -> bool:
        return self._crawl_rules.verdict(url) is not None

    @staticmethod
    def _parent_key(key: FeedKey, state: FeedState) -> FeedKey:
        return feed_key(key[0], state.site, state.parent or "")
