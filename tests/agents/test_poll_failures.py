"""Feeds fail, move, are gone or have to wait, and outcomes of polls arrive late."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from agents.kafka.client import producer
from agents.kafka.partitions import route_key
from agents.settings.job import Settings
from models.crawl import poll_outcome
from tests.agents.feed_server import Clock, rss, serving
from tests.agents.followed import (
    ANOTHER_POLL,
    DAY,
    FEED,
    HOST,
    HOURS,
    SITE,
    follow,
    polled,
    polling,
    polling_and_fetching,
    state_of,
    titles,
)
from tests.agents.records import PARTITIONS, ReadAll
from tests.agents.workers import run, until
from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.poll.answer import PollAnswer
from urltree.crawl.decisions.poll.feed_state import FeedStatus
from urltree.crawl.decisions.poll.outcome import PollOutcome, PollResult

pytestmark = pytest.mark.kafka


@pytest.fixture
def job(job: Settings, tmp_path: Path) -> Settings:
    """Return settings of a job whose worker has its own data directory."""
    return job.model_copy(update={"data_dir": tmp_path, "commit_seconds": 0.3})


@pytest.mark.parametrize(
    ("status", "body", "trouble"),
    [
        (200, b"<!doctype html><html><body><p>We have moved.</p></body></html>", "not-a-feed"),
        (500, b"", "status"),
        (304, b"", "status"),
        (301, b"", "status"),
    ],
)
def test_what_is_no_feed_is_an_error_of_its_class_and_is_tried_later(
    job: Settings, status: int, body: bytes, trouble: str
) -> None:
    """If a response is not a feed, the feed's state gets an error, and the feed is polled later."""

    async def scenario() -> None:
        async with serving() as server, polling(job, server, Clock()) as stage:
            server.put(f"{HOST}/rss", body, status)
            await follow(job)
            state = await polled(stage, 1)
            assert (state.errors, state.trouble) == (1, trouble)
            assert state.message
            assert state.last_poll is not None
            assert state.next_due > state.last_poll
            assert state.last_success is None
            troubles = stage.metrics.poll_troubles.labels(trouble)._value
            await until(lambda: troubles.get() >= 1)  # the metric counts after Kafka's confirmation

    run(scenario())


def test_a_feed_that_is_gone_is_asked_no_more_until_it_is_added_again(job: Settings) -> None:
    """A feed with status 410 is not polled again unless the user adds it again."""

    async def scenario() -> None:
        clock = Clock()
        async with serving() as server, polling(job, server, clock) as stage:
            server.put(f"{HOST}/rss", status=410)
            await follow(job)
            assert (await polled(stage, 1)).status is FeedStatus.GONE
            clock.ahead += 30 * DAY
            await asyncio.sleep(1.5)
            assert len(server.requests) == 1
            server.put(f"{HOST}/rss", rss("a"))
            await follow(job)
            assert (await polled(stage, 2)).status is FeedStatus.ACTIVE

    run(scenario())


def test_a_permanent_redirect_is_believed_after_seven_days(
    job: Settings, read_all: ReadAll
) -> None:
    """A permanent redirect replaces the feed's URL after seven days; a temporary one never does."""
    moved = "http://feeds.example.com/rss"

    async def scenario() -> None:
        clock = Clock()
        async with serving() as server, polling(job, server, clock) as stage:
            server.put(f"{HOST}/rss", status=301, Location=moved)
            server.put("feeds.example.com/rss", status=302, Location="/today")
            server.put("feeds.example.com/today", rss("a"))
            await follow(job)
            state = await polled(stage, 1)
            assert (state.url, state.redirect) == (FEED, moved)
            clock.ahead += 7 * DAY + HOURS
            assert (await polled(stage, 2)).url == moved
            clock.ahead += ANOTHER_POLL
            assert (await polled(stage, 3)).feed == FEED
            assert len(server.asked(f"{HOST}/rss")) == 2

    run(scenario())
    assert titles(read_all) == ["a"]


def test_redirects_in_a_circle_are_an_error(job: Settings) -> None:
    """A redirect loop ends a poll with the error `redirect` after two requests."""

    async def scenario() -> None:
        async with serving() as server, polling(job, server, Clock()) as stage:
            server.put(f"{HOST}/rss", status=302, Location="/other")
            server.put(f"{HOST}/other", status=302, Location="/rss")
            await follow(job)
            assert (await polled(stage, 1)).trouble == "redirect"
            assert len(server.requests) == 2

    run(scenario())


def test_a_host_that_has_too_many_requests_is_left_alone(job: Settings) -> None:
    """After a 429 with Retry-After all feeds of the host wait, but no feed of another host."""

    async def scenario() -> None:
        clock = Clock()
        async with serving() as server, polling(job, server, clock) as stage:
            server.put(f"{HOST}/rss", status=429, Retry_After="7200")
            server.put(f"{HOST}/sport", rss("sport"))
            server.put("blog.example.org/rss", rss("blog"))
            await follow(job)
            assert (await polled(stage, 1)).trouble == "status"
            await follow(job, f"http://{HOST}/sport")
            await follow(job, "http://blog.example.org/rss")
            await polled(stage, 1, "http://blog.example.org/rss")
            queue = stage.polling._queue
            await until(lambda: len(queue) == 3 and not queue.asked)
            await asyncio.sleep(1)
            assert not server.asked(f"{HOST}/sport")
            assert not queue.asked
            clock.ahead += 2 * HOURS + 1
            await polled(stage, 1, f"http://{HOST}/sport")

    run(scenario())


def test_an_outcome_that_comes_late_changes_no_state(job: Settings, read_all: ReadAll) -> None:
    """The outcome of an earlier poll does not change a feed's state, but its items count as seen.

    The row of the state is written again unchanged, because the disk may be ahead of the
    changelog. Records of releases before 0.3 name the hashes of items that are in fetches; a newer
    record has the items, and those that are new are sent.
    """
    late = PollOutcome(site=SITE, feed=FEED, sequence=1, at=1.0, result=PollResult.ITEMS, etag="9")
    item = FeedItem(f"https://{HOST}/late", "late")
    old = {
        "schema": 1,
        "site": SITE,
        "feed": FEED,
        "sequence": 1,
        "at": 1.0,
        "result": "items",
        "etag": "late",
        "items": [["6c" * 16, None, True]],
    }

    async def scenario() -> None:
        partition, key = route_key(SITE, PARTITIONS)
        async with serving() as server, polling(job, server, Clock()) as stage:
            server.put(f"{HOST}/rss", rss("a"), ETag="1")
            await follow(job)
            before = await polled(stage, 1)
            async with producer(job) as client:
                for value in (
                    json.dumps(old).encode(),
                    poll_outcome.encode(PollAnswer(outcome=late, items=(item,))),
                ):
                    await client.send_and_wait(job.topic("poll-outcomes"), value, key, partition)
            await until(lambda: stage.metrics.stale_outcomes._value.get() == 2)
            await until(lambda: stage.rows.lookup(partition, SITE)(b"l" * 16) is not None)
            assert state_of(stage) == before

    run(scenario())
    assert titles(read_all) == ["a", "late"]
    added, applied, *again = read_all("urltree-poll-feed_state-changelog")
    assert [applied.value] * 2 == [row.value for row in again]
    assert added.value != applied.value


def test_an_error_of_our_own_in_one_poll_stops_no_other(job: Settings) -> None:
    """An unexpected error in a poll is stored in the feed's state; other feeds are still polled."""

    async def scenario() -> None:
        async with serving() as server, polling_and_fetching(job, server, Clock()) as stages:
            stage, fetch = stages
            for name in ("rss", "sport"):
                server.put(f"{HOST}/{name}", rss(name))
            ask = fetch.fetching._sources.request

            async def failing(asked: Any) -> Any:
                if asked.request.feed == FEED:
                    raise ValueError("a bug")
                return await ask(asked)

            fetch.fetching._sources.request = failing
            await follow(job)
            await follow(job, f"http://{HOST}/sport")
            state = await polled(stage, 1)
            assert (state.errors, state.trouble) == (1, None)
            assert "a bug" in (state.message or "")
            assert (await polled(stage, 1, f"http://{HOST}/sport")).errors == 0

    run(scenario())
