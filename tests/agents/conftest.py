"""Fixtures of a job without workers: the tests write the records that workers would write."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from click.testing import CliRunner

from agents.__main__ import main
from agents.commands.topics import apply
from agents.kafka import refusal, tokens
from agents.kafka.client import consumer, full_ranges, partitions, producer, read_records
from agents.kafka.partitions import partition_of
from agents.settings.job import Settings
from tests.agents.limits import GUARD, OF_WORKERS
from tests.agents.records import PARTITIONS, Publish, ReadAll, Run, Sent


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow brokers and identity providers as much time to respond as `tests.agents.limits`."""
    monkeypatch.setattr(refusal, "_SECONDS", round(GUARD))
    monkeypatch.setattr(tokens, "SECONDS", GUARD)


@pytest.fixture
def settings(kafka: str, prefix: str, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Return settings of a job with its own prefix; set environment variables for its commands."""
    monkeypatch.setenv("URLTREE_BROKERS", kafka)
    monkeypatch.setenv("URLTREE_PREFIX", prefix)
    return Settings.model_validate({"brokers": kafka, "prefix": prefix, **OF_WORKERS})


@pytest.fixture
def job(settings: Settings) -> Settings:
    """Create the job's topics, and return the job's settings."""
    asyncio.run(apply(settings))
    return settings


@pytest.fixture
def publish(job: Settings) -> Publish:
    """Return a function that publishes records; it returns `topic/partition/offset` of each."""

    async def send(records: tuple[Sent, ...]) -> list[str]:
        at = []
        async with producer(job) as client:
            for topic, key, value, headers, partition in records:
                if partition is None:
                    partition = partition_of(key or b"", PARTITIONS)  # noqa: PLW2901
                name = job.topic(topic)
                found = await client.send_and_wait(
                    name, value, key, partition, headers=list(headers)
                )
                at.append(f"{found.topic}/{found.partition}/{found.offset}")
        return at

    return lambda *records: asyncio.run(send(records))


@pytest.fixture
def read_all(job: Settings) -> ReadAll:
    """Return a function that reads all records of a topic."""

    async def records(topic: str) -> list[Any]:
        async with consumer(job) as client:
            ranges = await full_ranges(client, await partitions(client, job.topic(topic)))
            return [record async for record in read_records(client, ranges)]

    return lambda topic: asyncio.run(records(topic))


@pytest.fixture
def run(job: Settings) -> Run:  # noqa: ARG001 - the fixture sets the environment
    """Return a function that runs a command of `python -m agents`."""
    return lambda *arguments, **options: CliRunner().invoke(
        main, arguments, catch_exceptions=False, **options
    )
