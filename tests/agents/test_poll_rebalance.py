"""When feeds move to another worker, no feed is lost, and no feed is polled by two workers."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agents.kafka.transport import Consumer
from agents.poll import Poll
from agents.settings.job import Settings
from models.crawl.feed import Feed
from tests.agents.feed_server import Clock, reaching, rss, serving
from tests.agents.followed import (
    ANOTHER_POLL,
    HOST,
    FetchWithoutPages,
    follow,
    passing,
    polled,
    polling_and_fetching,
    publish,
    titles,
)
from tests.agents.records import ReadAll
from tests.agents.workers import is_ready, run, started, until
from urltree.crawl.decisions.poll.outcome import PollResult

pytestmark = pytest.mark.kafka

SITES = [f"site-{number}.example" for number in range(24)]  # enough sites for all six partitions


@pytest.fixture
def job(job: Settings, tmp_path: Path) -> Settings:
    """Return settings of a job whose workers have their own data directory."""
    return job.model_copy(update={"data_dir": tmp_path, "commit_seconds": 0.3})


def answered(stage: Poll) -> int:
    """Return the number of polls whose outcomes a worker has read."""
    return int(sum(stage.metrics.polls.labels(str(result))._value.get() for result in PollResult))


async def polled_by_all(times: int, *stages: Poll) -> None:
    """Wait until each site was polled `times` times and a worker has applied the outcomes."""

    def is_so() -> bool:
        states = [
            row.state
            for stage in stages
            for tp in stage.app.consumer.assignment()
            if tp.topic.endswith("-feeds")
            for page in stage.rows.pages(tp.partition)
            for row in page
        ]
        return len(states) == len(SITES) and all(s.sequence >= times for s in states)

    await until(is_so)


def test_feeds_are_shared_and_taken_over(job: Settings, read_all: ReadAll) -> None:
    """A second worker takes over some of the feeds; after its end the first worker has all again.

    Each feed is polled once per interval, with its validators.
    """
    clock = Clock()
    make = partial(Poll, clock=clock)

    async def scenario() -> None:
        with passing(clock):
            await scene()

    async def scene() -> None:
        async with serving() as server:
            first = reaching(job, server)
            second = first.model_copy(update={"data_dir": job.data_dir / "second"})
            second.data_dir.mkdir()
            for site in SITES:
                server.put(f"{site}/rss", rss(site, host=site), ETag="1")
                await publish(job, Feed(site=site, url=f"http://{site}/rss"))
            asking = partial(FetchWithoutPages, clock=clock)
            async with started(first, make, asking) as [one, _]:
                assert isinstance(one, Poll)
                await polled_by_all(1, one)
                async with started(second, make) as [two]:
                    assert isinstance(two, Poll)
                    await until(lambda: is_ready(one) and is_ready(two))
                    await until(lambda: 0 < len(one.polling._queue) < len(SITES))
                    await until(lambda: len(one.polling._queue) + len(two.polling._queue) == 24)
                    clock.ahead += ANOTHER_POLL
                    await polled_by_all(2, one, two)
                    await until(lambda: answered(two) == len(two.polling._queue))
                await until(lambda: len(one.polling._queue) == len(SITES))
                clock.ahead += ANOTHER_POLL
                await polled_by_all(3, one)
            assert len(server.requests) == 3 * len(SITES)
            assert all(
                headers["If-None-Match"] == "1"
                for site in SITES
                for headers in server.asked(f"{site}/rss")[1:]
            )

    run(scenario())
    assert sorted(map(str, titles(read_all))) == sorted(SITES)


def test_a_worker_that_has_lost_its_session_asks_nobody(
    job: Settings, monkeypatch: pytest.MonkeyPatch, read_all: ReadAll
) -> None:
    """A worker without a Kafka session asks for no feed, because another worker may own its feeds.

    The worker continues when Kafka responds again.
    """

    async def scenario() -> None:
        clock = Clock()
        async with serving() as server, polling_and_fetching(job, server, clock) as [stage, _]:
            server.put(f"{HOST}/rss", rss("a"))
            await follow(job)
            await polled(stage, 1)
            with monkeypatch.context() as lost:
                lost.setattr(Consumer, "has_session", False)
                clock.ahead += ANOTHER_POLL
                await asyncio.sleep(1.5)
                assert stage.polling._queue.asked == 0
                assert len(server.requests) == 1
            await polled(stage, 2)

    run(scenario())
    assert len(read_all("requests")) == 2


def test_what_is_answered_after_the_session_was_lost_is_sent_when_it_is_back(
    job: Settings, monkeypatch: pytest.MonkeyPatch, read_all: ReadAll
) -> None:
    """A worker of fetch that loses its session during a request sends no answer without it.

    If the host still belongs to the worker when Kafka responds again, the worker sends the answer
    then; nobody asks the host a second time.
    """

    async def scenario() -> None:
        async with serving() as server, polling_and_fetching(job, server, Clock()) as stages:
            stage, fetch = stages
            server.put(f"{HOST}/rss", rss("a"))
            parse, is_lost = fetch.fetching._parsers.parse, asyncio.Event()
            deliver, sent = fetch.deliver, list[str]()

            async def losing(*body: Any) -> Any:
                found = await parse(*body)
                monkeypatch.setattr(Consumer, "has_session", False)
                is_lost.set()
                return found

            async def noted(topic: str, *record: Any) -> Any:
                sent.append(topic)
                return await deliver(topic, *record)

            fetch.fetching._parsers.parse, fetch.deliver = losing, noted
            await follow(job)
            await is_lost.wait()
            await asyncio.sleep(1)
            assert sent == []
            monkeypatch.undo()
            await polled(stage, 1)
            assert sent == ["poll-outcomes"]
            assert len(server.requests) == 1

    run(scenario())
    assert titles(read_all) == ["a"]
