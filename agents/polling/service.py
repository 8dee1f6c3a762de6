"""The service of `poll`: polls each feed when it is due, several at a time.

    due ──▶ host ready ──▶ request ──▶ new items in fetches ──▶ confirmed ──▶ outcome ──▶ agent
                                                                                 ▲
                        only the outcome contains the validators: if the poll ───┘
                        is lost before, it is repeated and finds the same items

The service writes no table. The agent writes the tables when it receives the outcome through Kafka.
The service reads both tables while their partitions belong to this worker. When partitions move,
the service cancels every poll and reads all feeds again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from time import monotonic

from agents.polling.feed_queue import FeedQueue
from agents.polling.feed_request import FeedRequester, failed_outcome, host_of
from agents.polling.feed_tables import FeedTables
from agents.polling.new_items import NewItemSender
from agents.polling.parsers import Parsers
from agents.settings.schemes import Schemes
from agents.stage import OURS, Stage
from agents.telemetry.logs import log
from models import poll_outcome as outcomes
from urltree.crawl.decisions.poll.feed_state import FeedState, due_time
from urltree.crawl.decisions.poll.outcome import PollOutcome
from urltree.crawl.decisions.poll.schedule import FeedKey
from urltree.crawl.decisions.poll.transition import due_after_takeover
from urltree.crawl.web.client import WebClient

_MAX_WAIT = 0.5  # maximum seconds between two checks of the schedule
_MIN_WAIT = 0.02  # minimum seconds between two checks, unless an event wakes the service
_SLICE = 200  # number of rows that are read before other tasks may run; a row takes 20 µs

_MESSAGE = 500  # largest number of characters of an unexpected error that are stored

_TOO_MANY = 429


class Polling:
    """Service that polls the feeds of a worker.

    Args:
        stage: stage of the worker.
        rows: tables of the stage, read only.
        schemes: key schemes, which determine the domain of a page.
        clock: returns seconds since 1970.
    """

    def __init__(
        self, stage: Stage, rows: FeedTables, schemes: Schemes, clock: Callable[[], float]
    ) -> None:
        self._stage = stage
        self._app = stage.app
        self._rows = rows
        self._sender = NewItemSender(stage, rows, schemes)
        self._clock = clock
        self._politeness = stage.settings.politeness
        self._queue = FeedQueue()
        self._generation: int | None = (
            None  # generation of the consumer group in which the feeds were read
        )
        self._polls: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._requester: FeedRequester | None = None
        self._task: asyncio.Task[None] | None = None
        gauge = stage.metrics.gauge
        gauge("feeds", "Feeds that this worker polls.", lambda: len(self._queue))
        gauge("feeds_overdue", "Due feeds that wait for their host.", lambda: self._queue.overdue)

    async def run(self) -> None:
        """Poll feeds until the worker stops. An error ends the worker."""
        self._task = asyncio.current_task()
        settings = self._stage.settings
        parsers = Parsers(settings.parsers, settings.parse_seconds, settings.max_feed_items)
        try:
            async with WebClient(settings.client) as client, parsers:
                self._requester = FeedRequester(client, parsers, settings, self._clock)
                while not self._app.should_stop:
                    await self._start_due_polls()
                    await self._wait()
                await self._cancel()
        except Exception as error:  # noqa: BLE001 - after any error the worker would not poll
            self._stage.fail(error)

    async def stop(self) -> None:
        """Cancel all polls and wait for their end."""
        await self._cancel()
        self._wake.set()
        if self._task is not None:
            await asyncio.wait({self._task})

    def clear(self) -> None:
        """Cancel all polls and empty the schedule, because the partitions move."""
        self._generation = None
        self._queue.clear()
        for poll in self._polls:
            poll.cancel()

    def put(self, key: FeedKey, state: FeedState) -> None:
        """Schedule a feed that was added."""
        self._queue.put(key, due_time(state))
        self._wake.set()

    def remove(self, key: FeedKey) -> None:
        """Stop polling a feed that was removed."""
        self._queue.remove(key)

    def schedule_next(self, key: FeedKey, outcome: PollOutcome, state: FeedState | None) -> None:
        """Schedule the next poll after an outcome was applied.

        Args:
            key: key of the feed.
            outcome: outcome that was read from Kafka.
            state: new state of the feed; None if the feed was removed.
        """
        now = self._clock()
        due = due_time(state)
        host_next_at = now + self._politeness.after(outcome.seconds)
        if outcome.status == _TOO_MANY:
            wait = outcome.retry_after or self._stage.settings.interval_min
            host_next_at = max(host_next_at, outcome.at + wait)
        if self._queue.is_waiting_for(key, outcome.sequence):
            self._queue.put_back(key, due, host_next_at)
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
        for key in self._queue.find_lost(monotonic()):
            log.warning("no outcome of the poll arrived in time; polling the feed again", key=key)
            self._queue.put_back(key, now, now)
        await self._queue_due(now)
        for key in self._queue.take_ready(now, self._room):
            poll = asyncio.create_task(self._poll(key, generation))
            self._polls.add(poll)
            poll.add_done_callback(self._on_poll_end)

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
        return self._stage.settings.polls_at_once - len(self._polls)

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
                    self._queue.put(row.key, due_after_takeover(row.state, now))
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
                self._queue.queue(key, host_of(state.url), now)

    def _on_poll_end(self, poll: asyncio.Task[None]) -> None:
        self._polls.discard(poll)
        self._wake.set()
        error = None if poll.cancelled() else poll.exception()
        if error is not None:
            self._stage.fail(error)

    async def _cancel(self) -> None:
        self.clear()
        await asyncio.gather(*self._polls, return_exceptions=True)

    async def _poll(self, key: FeedKey, generation: int) -> None:
        """Make one poll, from its request to its outcome in Kafka."""
        now = self._clock()
        state = self._rows.get(key)
        if state is None or due_time(state) > now:
            self._queue.put_back(key, due_time(state), now)
            return
        self._queue.begin(key, state.sequence + 1)
        outcome = await self._outcome(key, state, generation)
        if outcome is None:
            again = self._clock() + self._politeness.after(0.0)
            self._queue.put_back(key, again, again)
            return
        self._queue.mark_sent(key, monotonic())
        topic, to = self._stage.settings.topic("poll-outcomes"), self._stage.key(state.site)
        await (await self._app.producer.deliver(topic, *to, outcomes.encode(outcome)))
        self._count(outcome)

    async def _outcome(self, key: FeedKey, state: FeedState, generation: int) -> PollOutcome | None:
        """Return the outcome of a poll after Kafka has confirmed its new items.

        Return None if the feed may belong to another worker by now.
        """
        if self._requester is None:
            raise RuntimeError("the polling service is not running")
        try:
            polled = await self._requester.request(state)
            if self._generation != generation or not self._may_poll():
                return None
            return await self._sender.send(key[0], state, polled)
        except OURS:
            raise
        except Exception as error:  # noqa: BLE001 - one feed must not stop the others
            log.error("unexpected error while polling a feed", feed=state.feed, exc_info=error)
            return failed_outcome(state, self._clock(), f"internal: {error!r}"[:_MESSAGE])

    def _count(self, outcome: PollOutcome) -> None:
        metrics = self._stage.metrics
        metrics.polls.labels(outcome.result).inc()
        if outcome.trouble is not None:
            metrics.poll_troubles.labels(outcome.trouble).inc()
