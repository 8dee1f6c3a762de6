"""Feeds are added, polled and removed, and each new item is sent to the topic fetches once."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from aiokafka.errors import KafkaError

from agents.kafka.client import producer
from agents.kafka.partitions import route_key
from agents.poll import Poll
from agents.settings.job import Settings
from models.crawl import feed as feeds
from models.crawl import fetch as fetches
from models.crawl.feed import Feed
from models.headers.names import REASON, header
from tests.agents.feed_server import Clock, reaching, rss, serving
from tests.agents.followed import (
    ANOTHER_POLL,
    DAY,
    FEED,
    HOST,
    SITE,
    FetchWithoutPages,
    follow,
    polled,
    polling,
    publish,
    state_of,
    titles,
)
from tests.agents.records import PARTITIONS, ReadAll
from tests.agents.workers import run, started, until

pytestmark = pytest.mark.kafka


@pytest.fixture
def job(job: Settings, tmp_path: Path) -> Settings:
    """Return settings of a job whose worker has its own data directory."""
    return job.model_copy(update={"data_dir": tmp_path, "commit_seconds": 0.3})


def test_items_of_a_feed_are_sent_once_and_oldest_first(job: Settings, read_all: ReadAll) -> None:
    """New items are sent once, oldest first, to the partition of their link's domain.

    Each record contains the fields from the feed.
    """

    async def scenario() -> None:
        clock = Clock()
        async with serving() as server, polling(job, server, clock) as stage:
            server.put(f"{HOST}/rss", rss("c", "b", "a"), ETag='W/"1 "')
            await follow(job, meta={"crawl": "7"})
            state = await polled(stage, 1)
            assert (state.title, state.items, state.etag) == ("News", 3, 'W/"1 "')
            clock.ahead += ANOTHER_POLL
            await polled(stage, 2)
            assert server.asked(f"{HOST}/rss")[1]["If-None-Match"] == 'W/"1 "'
            server.put(f"{HOST}/rss", rss("b, now true", "c", "b", "a"), ETag="2")
            clock.ahead += ANOTHER_POLL
            await polled(stage, 3)
            metrics = stage.metrics
            assert metrics.items._value.get() == 4
            assert metrics.polls.labels("unchanged")._value.get() == 1
            assert metrics.stale_outcomes._value.get() == 0

    run(scenario())
    records = read_all("fetches")
    assert titles(read_all) == ["a", "b", "c", "b, now true"]
    first = fetches.decode(records[0].value)
    assert (first.url, first.feed, first.meta) == (f"https://{HOST}/a", FEED, {"crawl": "7"})
    assert {(r.key, r.partition) for r in records} == {route_key(SITE, PARTITIONS)[::-1]}


def test_two_feeds_of_a_site_with_the_same_item_send_it_once(
    job: Settings, read_all: ReadAll
) -> None:
    """An item in two feeds of a site is sent once, because seen items are stored by site."""

    async def scenario() -> None:
        async with serving() as server, polling(job, server, Clock()) as stage:
            for name in ("rss", "sport"):
                server.put(f"{HOST}/{name}", rss(name, "both"))
                await follow(job, f"http://{HOST}/{name}")
            for name in ("rss", "sport"):
                await polled(stage, 1, f"http://{HOST}/{name}")

    run(scenario())
    assert sorted(map(str, titles(read_all))) == ["both", "rss", "sport"]


def test_what_stays_in_a_feed_is_remembered_and_what_has_left_it_is_forgotten(
    job: Settings, read_all: ReadAll
) -> None:
    """An item that stays in its feed is not sent again, even after months of status 304.

    An item that has left the feed for months is deleted, and is new when it returns.
    """

    async def scenario() -> None:
        clock = Clock()
        async with serving() as server, polling(job, server, clock) as stage:
            server.put(f"{HOST}/rss", rss("stays", "leaves"), ETag="1")
            await follow(job)
            await polled(stage, 1)
            server.put(f"{HOST}/rss", rss("stays"), ETag="2")
            for poll in (2, 3, 4):
                clock.ahead += 40 * DAY
                await polled(stage, poll)
            server.put(f"{HOST}/rss", rss("new", "stays", "leaves"), ETag="3")
            clock.ahead += ANOTHER_POLL
            await polled(stage, 5)
            assert stage.metrics.evicted._value.get() == 1

    run(scenario())
    assert titles(read_all) == ["leaves", "stays", "leaves", "new"]


def test_a_removed_feed_is_polled_no_more_until_it_is_added_again(job: Settings) -> None:
    """A removed feed is not polled until it is added again; even then its old items are not new."""

    async def scenario() -> None:
        clock = Clock()
        async with serving() as server, polling(job, server, clock) as stage:
            server.put(f"{HOST}/rss", rss("a"))
            await follow(job)
            await polled(stage, 1)
            await publish(job, Feed(site=SITE, url=FEED), remove=True)
            await until(lambda: state_of(stage) is None)
            clock.ahead += ANOTHER_POLL
            await asyncio.sleep(1.5)
            assert len(server.requests) == 1
            await follow(job)
            await polled(stage, 1)
            assert len(server.requests) == 2
            assert stage.metrics.items._value.get() == 1

    run(scenario())


def test_a_worker_goes_on_where_the_one_before_stopped(job: Settings, read_all: ReadAll) -> None:
    """A restarted worker polls its feeds at the same times and with their validators."""

    async def scenario() -> None:
        clock = Clock()
        async with serving() as server:
            server.put(f"{HOST}/rss", rss("a"), ETag="1")
            async with polling(job, server, clock) as stage:
                await follow(job)
                before = await polled(stage, 1)
            async with polling(job, server, clock) as stage:
                await until(lambda: len(stage.polling._queue) == 1)
                assert state_of(stage) == before
                assert len(server.requests) == 1
                clock.ahead += ANOTHER_POLL
                await polled(stage, 2)
                assert server.requests[-1][1]["If-None-Match"] == "1"

    run(scenario())
    assert titles(read_all) == ["a"]


def test_validators_are_not_stored_before_the_items_are_safe(
    job: Settings, read_all: ReadAll
) -> None:
    """If Kafka refuses an item, the worker ends without storing the validators of the poll.

    So the next worker reads the answer again, and its own request is unconditional.
    """

    async def scenario() -> None:
        async with serving() as server:
            server.put(f"{HOST}/rss", rss("b", "a"), ETag="1")
            await follow(job)
            failures: list[BaseException] = []
            asking = started(reaching(job, server), FetchWithoutPages)
            stage = Poll(reaching(job, server), failures.append)
            deliver, left = stage.app.producer.deliver, [1]

            async def failing(topic: str, *record: Any, **fields: Any) -> Any:
                if topic.endswith("fetches") and left and left.pop():
                    raise KafkaError("refused")
                return await deliver(topic, *record, **fields)

            stage.app.producer.deliver = failing
            async with asking:
                await stage.app.start()
                await until(lambda: bool(failures))
                state = state_of(stage)
                stage.delivery.clear()  # as when the process ends: it does not wait for the answer
                await stage.app.stop()
            assert isinstance(failures[0], KafkaError)
            assert state is not None
            assert (state.sequence, state.etag) == (0, None)
            async with polling(job, server, Clock()) as after:
                await polled(after, 1)
            assert not any("If-None-Match" in headers for _, headers in server.requests)

    run(scenario())
    assert titles(read_all)[-2:] == ["a", "b"]


def test_a_record_of_feeds_that_is_none_is_a_dead_letter(job: Settings, read_all: ReadAll) -> None:
    """A record of the topic feeds that is invalid or misplaced becomes a dead letter.

    The worker continues.
    """

    async def scenario() -> None:
        partition = route_key(SITE, PARTITIONS).partition
        async with serving() as server, polling(job, server, Clock()) as stage:
            server.put(f"{HOST}/rss", rss("a"))
            async with producer(job) as client:
                for key, at in (
                    (b"no-url", partition),
                    (b"example.org http://", partition),
                    (feeds.Feed(site=SITE, url=FEED).key, (partition + 1) % PARTITIONS),
                ):
                    await client.send_and_wait(job.topic("feeds"), b'{"schema":1}', key, at)
            await follow(job)
            await polled(stage, 1)

    run(scenario())
    reasons = [header(record.headers, REASON) for record in read_all("dead-letters")]
    assert sorted(map(str, reasons)) == ["bad-url", "malformed", "misplaced"]
