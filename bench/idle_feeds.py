"""Benchmark of a poll worker with 50,000 feeds, none of which is due."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from agents.commands.topics import apply
from agents.kafka.client import producer
from agents.kafka.partitions import route_key
from agents.polling.feed_tables import feed_key
from agents.settings.job import Settings
from agents.settings.topics_file import declared_topics
from bench.broker import running_broker
from bench.figure import Measurement
from bench.workers import MB, MeasuredWorker
from demo.workers import COMMAND
from urltree.crawl.decisions.poll.feed_state import FeedState, Subscription, new_feed_state

FEEDS = 50_000
EACH = 5  # number of feeds of each site
SECONDS = 60.0
HOURS = 6 * 3_600.0
CHANGELOG = "urltree-poll-feed_state-changelog"


def measure_idle_feeds() -> list[Measurement]:
    """Measure a worker that restores all feeds, idles for a minute, and starts again.

    The second start uses the same disk.
    """
    with running_broker() as broker:
        return asyncio.run(_measure(broker.address))


async def _measure(brokers: str) -> list[Measurement]:
    prefix = f"bench{uuid.uuid4().hex[:8]}-"
    settings = Settings.model_validate({"brokers": brokers, "prefix": prefix})
    await apply(settings)
    env = {"URLTREE_BROKERS": brokers, "URLTREE_PREFIX": prefix, "URLTREE_CONTACT": "bench"}
    with TemporaryDirectory(prefix="urltree-bench-") as directory:
        empty, _ = await _started(Path(directory), env)
        empty.stop()
        await _write(settings)
        restored, seconds = await _started(Path(directory), env)
        try:
            await restored.reach("urltree_feeds", FEEDS)
            before = restored.cpu()
            await asyncio.sleep(SECONDS)
            cpu = restored.cpu() - before
            resident, scheduled = restored.resident(), restored.metric("urltree_feeds")
        finally:
            restored.stop()
        again, seconds_again = await _started(Path(directory), env)
        try:
            await again.reach("urltree_feeds", FEEDS)
        finally:
            again.stop()
    return [
        Measurement(
            "idle feeds: resident",
            resident / MB,
            "MB",
            note=f"{scheduled:,.0f} feeds of {FEEDS // EACH:,} sites, after {SECONDS:.0f} s; "
            f"{empty.idle / MB:.0f} MB without feeds; without parsers' processes",
        ),
        Measurement("idle feeds: CPU per minute", cpu * 60 / SECONDS, "s", note="all threads"),
        Measurement(
            "idle feeds: ready after", seconds, "s", note="empty disk: restored from Kafka"
        ),
        Measurement("idle feeds: ready again after", seconds_again, "s", note="on the same disk"),
    ]


async def _started(directory: Path, env: dict[str, str]) -> tuple[MeasuredWorker, float]:
    started = time.monotonic()
    worker = MeasuredWorker("poll", COMMAND, directory, env)
    await worker.ready()
    return worker, time.monotonic() - started


async def _write(settings: Settings) -> None:
    partitions = declared_topics(settings)[0].partitions
    topic = settings.topic(CHANGELOG)
    async with producer(settings) as client:
        for state in _states(time.time()):
            to = route_key(state.site, partitions)
            _, key = feed_key(to.partition, state.site, state.feed)
            await client.send(topic, state.encode(), key, to.partition)
        await client.flush()


def _states(now: float) -> Iterator[FeedState]:
    """Yield the states of feeds that were polled many times and are not due now."""
    for number in range(FEEDS):
        site = f"site{number // EACH}.example"
        url = f"https://www.{site}/feeds/{number % EACH}.xml"
        yield replace(
            new_feed_state(url, site, now, Subscription(title=f"News of {site}")),
            etag=f'"{number:032x}"',
            last_modified="Mon, 02 Mar 2026 10:00:00 GMT",
            body_hash=f"{number:032x}",
            next_due=now + HOURS + number,
            interval=HOURS,
            gaps=tuple(600.0 * n for n in range(20)),
            newest=now - HOURS,
            last_poll=now,
            last_success=now,
            items=1_000,
            sequence=500,
        )
