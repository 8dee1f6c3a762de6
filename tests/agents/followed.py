"""Helpers to add feeds of a site, to run a worker that polls them, and to read their state."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from time import monotonic
from typing import Any

import pytest
from faust.types.tuples import Message

from agents.fetch import Fetch
from agents.kafka.client import producer
from agents.kafka.delivery import Work
from agents.kafka.partitions import route_key
from agents.kafka.session.broker_time import BrokerTime
from agents.poll import Poll
from agents.polling import service
from agents.polling.feed_tables import feed_key
from agents.settings.job import Settings
from models.crawl import fetch as fetches
from models.crawl.feed import Feed
from tests.agents.feed_server import Clock, FeedServer, reaching
from tests.agents.records import PARTITIONS, ReadAll
from tests.agents.workers import started, until
from urltree.crawl.decisions.poll.feed_state import FeedState

SITE = "example.org"
HOST = "news.example.org"
FEED = f"http://{HOST}/rss"
HOURS = 3_600.0
DAY = 24 * HOURS
ANOTHER_POLL = 7 * HOURS  # longer than interval_max, which is 6 hours


async def publish(job: Settings, feed: Feed, *, remove: bool = False) -> None:
    """Publish a record to the topic feeds, as the commands `feeds add` and `feeds remove` do."""
    to = route_key(feed.site, PARTITIONS)
    async with producer(job) as client:
        value = None if remove else feed.encode()
        await client.send_and_wait(job.topic("feeds"), value, feed.key, to.partition)


def follow(job: Settings, url: str = FEED, **fields: Any) -> Any:
    """Publish a record that adds a feed of the site SITE."""
    return publish(job, Feed(site=SITE, url=url, **fields))


def state_of(stage: Any, url: str = FEED) -> FeedState | None:
    """Return the state of a feed in a worker, or None if the worker does not have the feed."""
    found: FeedState | None = stage.rows.get(
        feed_key(route_key(SITE, PARTITIONS).partition, SITE, url)
    )
    return found


async def polled(stage: Any, times: int, url: str = FEED) -> FeedState:
    """Wait until a feed was polled `times` times, and return its state."""

    def is_so() -> bool:
        state = state_of(stage, url)
        return state is not None and state.sequence >= times

    await until(is_so)
    state = state_of(stage, url)
    assert state is not None
    assert state.sequence == times
    return state


class FetchWithoutPages(Fetch):
    """A stage `fetch` that sends the requests for feeds, and leaves all pages aside."""

    async def process(self, message: Message, origin: str, work: Work) -> None:
        """Process a record of requests; a record of fetches counts as finished."""
        if message.topic == self.settings.topic("requests"):
            await super().process(message, origin, work)


@asynccontextmanager
async def polling(job: Settings, server: FeedServer, clock: Clock) -> AsyncIterator[Any]:
    """Run a worker of `poll` and one of `fetch` with this clock; yield that of `poll`.

    The requests reach the test's server.
    """
    async with polling_and_fetching(job, server, clock) as [stage, _]:
        yield stage


@asynccontextmanager
async def polling_and_fetching(
    job: Settings, server: FeedServer, clock: Clock
) -> AsyncIterator[tuple[Any, Any]]:
    """Run the same workers as `polling`, and yield both."""
    makes = partial(Poll, clock=clock), partial(FetchWithoutPages, clock=clock)
    with passing(clock):
        async with started(reaching(job, server), *makes) as [poll, fetch]:
            yield poll, fetch


@contextmanager
def passing(clock: Clock) -> Iterator[None]:
    """Let the time that a test sets ahead pass for `poll` and Kafka, too, which compare clocks."""
    now = BrokerTime.now

    def ahead(self: BrokerTime) -> float | None:
        found = now(self)
        return None if found is None else found + clock.ahead

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BrokerTime, "now", ahead)
        patch.setattr(service, "monotonic", lambda: monotonic() + clock.ahead)
        yield


def titles(read_all: ReadAll) -> list[str | None]:
    """Return the titles of the items in the topic fetches, in order."""
    return [fetches.decode(record.value).title for record in read_all("fetches")]
