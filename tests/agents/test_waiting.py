"""A page waits in a worker only if its host can serve it soon; others are sent to Kafka again."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, cast

import pytest

from agents.fetching.hosts import Hosts
from agents.fetching.jobs import PageJob
from agents.fetching.waiting import ParkedPages, WaitingPages
from agents.stage import OURS
from agents.telemetry.metrics import Metrics
from models.crawl.fetch import FetchRequest
from tests.agents.requesting import FakeStage, FakeTable, FakeWork
from urltree.crawl.decisions.host.host_state import HostState
from urltree.crawl.decisions.timing import HOUR
from urltree.page import PageError, Reason

PARK = 60.0
EACH = 2.0


class Waiting:
    """The waiting pages of a worker, with a clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.stage = FakeStage()
        self.hosts = Hosts(cast("Any", FakeTable()))
        self.places = WaitingPages(
            self.hosts,
            cast("Any", self.stage),
            Metrics(),
            PARK,
            lambda _: EACH,
            lambda: self.now,
        )

    async def add(self, count: int = 1, **fields: Any) -> list[PageJob]:
        """Add `count` pages of one host to the waiting pages."""
        loop = asyncio.get_running_loop()
        work = cast("Any", FakeWork())
        url = "http://news.example/{}"
        fetches = [FetchRequest(url=url.format(n), **fields) for n in range(count)]
        jobs = [PageJob(work, "", "news.example", loop.create_future(), fetch=f) for f in fetches]
        for job in jobs:
            await self.places.place(job)
        return jobs

    async def host(self, **fields: Any) -> None:
        """Store a state of the host news.example."""
        state = HostState(host="news.example", **fields)
        await self.hosts.put(3, "news.example", state, self.now, cast("Any", FakeWork()))

    async def left(self) -> list[PageJob]:
        """Take out the parked pages that are due, place each of them anew, and return them."""
        jobs = self.places.take_due()
        for job in jobs:
            await self.places.place(job)
        return jobs


def run(scenario: Coroutine[Any, Any, None]) -> None:
    """Run the scenario of a test."""
    asyncio.run(scenario)


def test_pages_wait_in_their_hosts_queue_as_far_as_they_are_served_soon() -> None:
    """A host's queue takes the pages that the host can serve within a minute; others are parked.

    A parked page waits outside the queue; after a minute it moves to the queue.
    """

    async def scenario() -> None:
        waiting = Waiting()
        await waiting.add(40)
        assert waiting.places.queues.waiting("news.example") == 31
        waiting.places.queues.withdraw("news.example")
        waiting.now += PARK
        assert len(await waiting.left()) == 9
        assert waiting.places.queues.waiting("news.example") == 9
        assert not waiting.stage.sent

    run(scenario())


def test_a_page_whose_turn_is_far_off_is_sent_again_with_its_time() -> None:
    """A page that must wait for long is kept for a minute, and then sent to Kafka again.

    The new record contains the time until which the page must wait, and the same number of
    attempts. The old record is done.
    """

    async def scenario() -> None:
        waiting = Waiting()
        await waiting.host(backoff_until=5_000.0)
        (job,) = await waiting.add(attempt=2)
        waiting.now += PARK - 1
        assert not await waiting.left()
        waiting.now += 1
        assert await waiting.left() == [job]
        assert waiting.stage.sent == [replace(job.fetch, not_before=5_000.0)]
        assert job.future.done()

    run(scenario())


def test_a_full_window_makes_room_earlier() -> None:
    """If the stage is full, pages that must wait for long are sent again after ten seconds.

    They are not sent at once, so that records do not circulate too fast.
    """

    async def scenario() -> None:
        waiting = Waiting()
        waiting.stage.full = True
        await waiting.add(not_before=5_000.0)
        waiting.now += 5.0
        assert not await waiting.left()
        waiting.now += 5.0
        assert len(await waiting.left()) == 1
        assert len(waiting.stage.sent) == 1

    run(scenario())


def test_a_page_is_not_tried_before_its_time() -> None:
    """A page with `not_before` waits until that time, and does not delay other pages."""

    async def scenario() -> None:
        waiting = Waiting()
        await waiting.add(not_before=1_010.0)
        await waiting.add()
        assert len(waiting.places.queues.take(waiting.now)) == 1
        waiting.now = 1_009.0
        assert not await waiting.left()
        waiting.now = 1_010.0
        assert len(await waiting.left()) == 1

    run(scenario())


def test_a_host_that_backs_off_gives_its_queue_back() -> None:
    """All pages of a host leave its queue when the host has to wait for long."""

    async def scenario() -> None:
        waiting = Waiting()
        jobs = await waiting.add(5)
        queues = waiting.places.queues
        queues.take(waiting.now)
        queues.done("news.example", waiting.now + EACH)
        assert waiting.places.overflow("news.example", jobs[0]) == []
        queues.pause_until("news.example", waiting.now + HOUR)
        assert waiting.places.overflow("news.example", jobs[0]) == jobs[1:]

    run(scenario())


def test_pages_of_a_host_that_is_given_up_are_refused() -> None:
    """If a host is given up, its pages are refused with the host's last error."""

    async def scenario() -> None:
        waiting = Waiting()
        since = waiting.now - 7 * HOUR
        await waiting.host(
            failing_since=since, backoff_until=9_000.0, errors=2, trouble="status 503"
        )
        with pytest.raises(PageError, match="status 503") as caught:
            await waiting.add()
        assert caught.value.reason is Reason.UNREACHABLE

    run(scenario())


def test_nothing_waits_in_a_worker_that_stops() -> None:
    """When a worker stops, its pages are sent again unchanged."""

    async def scenario() -> None:
        waiting = Waiting()
        waiting.places.is_closed = True
        (job,) = await waiting.add(not_before=7.0)
        assert waiting.stage.sent == [job.fetch]
        assert job.future.done()

    run(scenario())


def test_far_pages_leave_in_the_order_in_which_they_were_parked() -> None:
    """Parked pages leave in the order in which they were parked.

    Pages that wait for a near time leave in the order of these times.
    """
    parked: ParkedPages[str] = ParkedPages(60.0)
    parked.park("a", 0.0)
    parked.park("b", 1.0)
    parked.wait("c", 30.0)
    parked.wait("d", 20.0)
    assert (len(parked), parked.next_at()) == (4, 20.0)
    assert list(parked.due(30.0)) == ["d", "c"]
    assert parked.next_at() == 60.0
    assert list(parked.parked_before(0.5)) == ["a"]
    assert parked.empty() == ["b"]
    assert parked.next_at() is None


class DamagedTable(FakeTable):
    """Fake table whose rows cannot be decoded."""

    def get(self, *_: object) -> bytes:
        """Return a row of an unknown version."""
        return b"\xff"


def test_a_damaged_row_of_a_host_ends_the_worker() -> None:
    """A damaged row of a host raises an error that ends the worker without a commit."""
    with pytest.raises(OURS, match="table host_state"):
        Hosts(cast("Any", DamagedTable())).get(3, "news.example", "news.example")


def test_a_wrong_clock_parks_no_page_for_long() -> None:
    """A time that no rule allows does not count, and a clock that is set back restarts all waits.

    Retry-After counts up to seven days.
    """

    async def scenario() -> None:
        waiting = Waiting()
        await waiting.add(not_before=waiting.now + 8 * 24 * HOUR)
        assert waiting.places.queues.waiting("news.example") == 1
        await waiting.add(not_before=waiting.now + PARK / 2)
        assert waiting.places.queues.waiting("news.example") == 1
        waiting.places.queues.pause_until("news.example", 1e9)
        (queued, parked) = waiting.places.restart()
        assert (queued.target, parked.target) == ("http://news.example/0",) * 2
        assert waiting.places.queues.expected("news.example", waiting.now, 1.0) < waiting.now + 10
        assert waiting.places.next_at() is None

    run(scenario())
