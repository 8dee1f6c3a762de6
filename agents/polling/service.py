"""The service of `poll`: asks for each source when it is due.

    due ──▶ no other source of its host is asked ──▶ request, to the owner of the host
                                                         └──▶ answer ──▶ agent ──▶ next due time

The service sends no request to the web and writes no table. It reads the states of the feeds while
their partitions belong to this worker. When partitions move, it reads all feeds again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from time import monotonic

from agents.polling.feed_queue import LOST_AFTER, FeedQueue
from agents.polling.feed_tables import FeedTables
from agents.rules.watcher import RulesWatcher
from agents.settings.schemes import Schemes
from agents.stage import Stage
from agents.telemetry.logs import log
from models.crawl import host_request as requests
from models.crawl.host_request import HostRequest, Purpose
from urltree.address.url import normalise
from urltree.crawl.decisions.poll.content import needs_content
from urltree.crawl.decisions.poll.feed_state import FeedState, due_time
from urltree.crawl.decisions.poll.interval import PollRules
from urltree.crawl.decisions.poll.item_decision import needs_former
from urltree.crawl.decisions.poll.schedule import FeedKey
from urltree.crawl.decisions.poll.seen_items import is_reading_due
from urltree.crawl.decisions.poll.source_options import SourceKind
from urltree.crawl.decisions.poll.stored_times import bound_times
from urltree.crawl.decisions.poll.transition import conditional_headers, due_after_takeover
from urltree.crawl.decisions.rules.rules import WaitingPage
from urltree.crawl.decisions.timing import has_clock_moved
from urltree.page import PageError

_MAX_WAIT = 0.5  # maximum seconds between two checks of the schedule
_MIN_WAIT = 0.02  # minimum seconds between two checks, unless an event wakes the service
_DENIED = 3_600.0  # seconds after which a feed is looked at again that a rule forbids
_SLICE = 200  # number of rows that are read before other tasks may run; a row takes 20 µs


class Polling:
    """Service that polls the feeds of a worker.

    Args:
        stage: stage of the worker.
        rows: tables of the stage, read only.
        schemes: key schemes, which determine the domain of a page.
        rules: limits of the intervals.
        crawl_rules: rules of the operator that forbid requests.
        clock: returns seconds since 1970.
    """

    def __init__(  # noqa: PLR0913, PLR0917
        self,
        stage: Stage,
        rows: FeedTables,
        schemes: Schemes,
        rules: PollRules,
        crawl_rules: RulesWatcher,
        clock: Callable[[], float],
    ) -> None:
        self._stage = stage
        self._app = stage.app
        self._rows = rows
        self._schemes = schemes
        self._rules = rules
        self._crawl_rules = crawl_rules
        self._clocks = clock(), monotonic()
        self._clock = clock
        self._queue = FeedQueue()
        self._generation: int | None = (
            None  # generation of the consumer group in which the feeds were read
        )
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        gauge = stage.metrics.gauge
        gauge("feeds", "Feeds that this worker polls.", lambda: len(self._queue))
        gauge("feeds_overdue", "Due feeds that wait for their host.", lambda: self._queue.overdue)

    async def run(self) -> None:
        """Poll feeds until the worker stops. An error ends the worker."""
        self._task = asyncio.current_task()
        try:
            await self._crawl_rules.start()
            while not self._app.should_stop:
                await self._start_due_polls()
                await self._wait()
            await self._crawl_rules.stop()
        except Exception as error:  # noqa: BLE001 - after any error the worker would not poll
            self._stage.fail(error)

    async def stop(self) -> None:
        """Stop asking for feeds. Answers that arrive later are read by the next owner."""
        self.clear()
        self._wake.set()
        if self._task is not None:
            await asyncio.wait({self._task})

    def clear(self) -> None:
        """Empty the schedule, because the partitions move."""
        self._generation = None
        self._queue.clear()

    def wake(self) -> None:
        """Check at once which feeds are due."""
        self._wake.set()

    def put(self, key: FeedKey, state: FeedState) -> None:
        """Schedule a feed that was added."""
        self._queue.put(key, due_time(state))
        self._wake.set()

    def remove(self, key: FeedKey) -> None:
        """Stop polling a feed that was removed."""
        self._queue.remove(key)

    def schedule_next(
        self, key: FeedKey, sequence: int, state: FeedState | None, host_ready_at: float = 0.0
    ) -> None:
        """Schedule the next poll after an answer was applied.

        Args:
            key: key of the feed.
            sequence: sequence of the outcome that was read from Kafka.
            state: new state of the feed; None if the feed was removed.
            host_ready_at: time before which the feed's host is not asked for another feed, in
                seconds since 1970. The owner of the host keeps the host's pause itself.
        """
        self._end_poll(key, sequence, due_time(state), host_ready_at)

    def postpone(
        self, key: FeedKey, sequence: int, state: FeedState, until: float, host_ready_at: float
    ) -> None:
        """Schedule a poll again that was not carried out, because a host rests.

        Args:
            key: key of the feed.
            sequence: sequence of the answer that was read from Kafka.
            state: unchanged state of the feed.
            until: time before which the host must not be asked, in seconds since 1970. The host may
                be one behind a redirect, so the other feeds of the feed's own host do not wait.
            host_ready_at: as in `schedule_next`.
        """
        self._end_poll(key, sequence, max(due_time(state), until), host_ready_at)

    def _end_poll(self, key: FeedKey, sequence: int, due: float, host_ready_at: float) -> None:
        if self._queue.is_waiting_for(key, sequence):
            self._queue.put_back(key, due, host_ready_at)
        else:
            self._queue.put(key, due)
        self._wake.set()

    async def _start_due_polls(self) -> None:
        generation = self._app.consumer_generation_id
        if not self._may_poll():
            return
        if generation != self._generation and not await self._read_feeds(generation):
            return
        now = self._clock()
        before, self._clocks = self._clocks, (now, monotonic())
        if has_clock_moved(before, self._clocks):
            log.warning("the clock was set; reading the due times of all feeds again")
            await self._read_feeds(generation)
            return
        for key in self._queue.find_lost(monotonic()):
            log.warning("no answer arrived in time; asking for the feed again", key=key)
            self._queue.put_back(key, now, now)
        await self._queue_due(now)
        for key in self._queue.take_ready(now, self._room):
            await self._ask(key, now)

    async def _wait(self) -> None:
        next_at = self._queue.next_at(has_room=self._room > 0)
        wait = (
            _MAX_WAIT
            if next_at is None
            else min(max(next_at - self._clock(), _MIN_WAIT), _MAX_WAIT)
        )
        with suppress(TimeoutError):
            async with asyncio.timeout(wait):
                await self._wake.wait()
        self._wake.clear()

    @property
    def _room(self) -> int:
        return self._stage.settings.polls_at_once - self._queue.asked

    def _may_poll(self) -> bool:
        """Return whether the tables are complete and the partitions still belong to this worker."""
        app = self._app
        return bool(
            app.started
            and not (app.should_stop or app.rebalancing or app.tables.recovery.in_recovery)
            and app.tables.actives_ready
            and app.consumer.has_session
        )

    async def _read_feeds(self, generation: int) -> bool:
        """Schedule all feeds of the assigned partitions; return False if partitions have moved."""
        self.clear()
        topic = self._stage.settings.topic("feeds")
        for tp in self._app.consumer.assignment():
            if tp.topic != topic:
                continue
            for page in self._rows.pages(tp.partition):
                now = self._clock()
                for row in page:
                    self._queue.put(row.key, due_after_takeover(row.state, now, self._rules))
                await asyncio.sleep(0)
                if not self._may_poll() or generation != self._app.consumer_generation_id:
                    return False
        self._generation = generation
        log.info("all feeds of the assigned partitions were read", feeds=len(self._queue))
        return True

    async def _queue_due(self, now: float) -> None:
        """Move the feeds that are due to the queues of their hosts."""
        generation = self._generation
        for count, key in enumerate(self._queue.pop(now), start=1):
            if count % _SLICE == 0:
                await asyncio.sleep(0)
                if generation != self._generation:
                    return
            state = self._rows.get(key)
            if state is None or due_time(state) > now:
                self._queue.put(key, due_time(state))
            else:
                self._queue.queue(key, _host_of(state.url), now)

    async def _ask(self, key: FeedKey, now: float) -> None:
        """Send the request for a feed to the owner of its host."""
        state = self._rows.get(key)
        if state is None or due_time(state) > now:
            self._queue.put_back(key, due_time(state), now)
            return
        try:
            to = self._stage.key(self._schemes.domain(state.url))
        except PageError as error:
            later = now + self._stage.settings.interval_max
            log.error("the address of a feed cannot be requested", feed=state.feed, why=str(error))
            self._queue.put_back(key, later, now)
            return
        page = WaitingPage(None, state.feed, state.site, state.offset)
        await self._crawl_rules.until_current()
        if self._crawl_rules.verdict(state.url, page) is not None:
            self._queue.put_back(key, now + _DENIED, now)
            return
        self._queue.begin(key, state.sequence + 1, monotonic())
        value = requests.encode(request_for(bound_times(state, now, self._rules), now))
        (await self._stage.deliver("requests", to, value)).add_done_callback(self._on_sent)

    def _on_sent(self, sent: asyncio.Future[object]) -> None:
        error = None if sent.cancelled() else sent.exception()
        if error is not None:
            self._stage.fail(error)


def request_for(state: FeedState, now: float) -> HostRequest:
    """Return the request for the next poll of a feed."""
    sent, options = conditional_headers(state, now), state.options
    is_sitemap = options.kind is SourceKind.SITEMAP
    return HostRequest(
        purpose=Purpose.SOURCE,
        url=state.url,
        asked_at=now,
        expires=LOST_AFTER,
        site=state.site,
        feed=state.feed,
        sequence=state.sequence + 1,
        feed_offset=state.offset,
        kind=options.kind,
        etag=state.etag if sent else None,
        last_modified=state.last_modified if sent else None,
        body_hash=state.body_hash,
        is_read_again=is_reading_due(state, sent, now),
        with_content=needs_content(state, now),
        with_former=needs_former(state, now),
        is_first=is_sitemap and not state.was_read,
        taken_after=state.seen_before if is_sitemap else None,
        credentials=options.credentials,
    )


def _host_of(url: str) -> str:
    try:
        return normalise(url).netloc
    except PageError:
        return url  # its request will be refused
