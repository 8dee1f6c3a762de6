"""Measure the time and memory that a job needs for one page, after it has processed others."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson
import psutil
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from agents.kafka.client import options, partitions
from models.dead_letter import DeadLetter
from tests.agents.test_header_names import GOOD, spoiled
from tests.job.harness import PATIENCE, Job, Worker
from tests.job.kafka_records import MAX_RECORD, Sent

OUTPUTS = ("clean-text", "dead-letters", "duplicates")
BAD_NAME = (GOOD.decode(), b"x")  # `Pipeline` replaces the name of this header by invalid UTF-8
MIB = 1024 * 1024

_POLL_MS = 10
Result = TypeVar("Result")


@dataclass(frozen=True)
class Answer:
    """The outcome of a page, and its cost.

    Attributes:
        kind: `clean-text`, or the reason of a dead letter.
        text: clean text of the page, message of the dead letter, or record of the duplicate.
        seconds: seconds from publishing the page to reading its outcome.
        cpu: CPU time of both workers in these seconds, in seconds.
        mib: increase of the resident memory of both workers up to its peak, in MiB.
    """

    kind: str
    text: str
    seconds: float
    cpu: float
    mib: float


class Pipeline:
    """A client of a job that publishes one record at a time, and waits for its outcome."""

    def __init__(self, job: Job, workers: list[Worker]) -> None:
        self.settings = job.settings
        self._processes = [psutil.Process(worker.pid) for worker in workers]
        self._loop = asyncio.new_event_loop()
        self._run(self._open())

    def ask(self, sent: Sent) -> Answer:
        """Publish a record while the job is idle, and return its outcome."""
        return self._run(self._ask(sent))

    def close(self) -> None:
        """Close the clients."""
        self._run(self._close())
        self._loop.close()

    def resident(self) -> float:
        """Return the resident memory of both workers in MiB."""
        used: int = sum(process.memory_info().rss for process in self._processes)
        return used / MIB

    def _cpu(self) -> float:
        times = [process.cpu_times() for process in self._processes]
        used: float = sum(time.user + time.system for time in times)
        return used

    def _run(self, work: Awaitable[Result]) -> Result:
        return self._loop.run_until_complete(work)

    async def _open(self) -> None:
        reach = options(self.settings)
        self._producer = AIOKafkaProducer(**reach, acks="all", max_request_size=MAX_RECORD)
        await self._producer.start()
        self._consumer = AIOKafkaConsumer(
            **reach, enable_auto_commit=False, max_partition_fetch_bytes=MAX_RECORD
        )
        await self._consumer.start()
        assigned = [
            one
            for topic in OUTPUTS
            for one in await partitions(self._consumer, self.settings.topic(topic))
        ]
        self._consumer.assign(assigned)
        await self._consumer.seek_to_beginning(*assigned)

    async def _close(self) -> None:
        await self._producer.stop()
        await self._consumer.stop()

    async def _ask(self, sent: Sent) -> Answer:
        idle = peak = self.resident()
        cpu = self._cpu()
        started = time.monotonic()
        origin = await self._publish(sent)
        while time.monotonic() < started + PATIENCE:
            batches = await self._consumer.getmany(timeout_ms=_POLL_MS)
            seconds = time.monotonic() - started
            peak = max(peak, self.resident())
            for records in batches.values():
                for record in records:
                    found = self._read(record, origin)
                    if found is not None:
                        return Answer(*found, seconds, self._cpu() - cpu, peak - idle)
        raise AssertionError(f"no outcome of {origin}")

    async def _publish(self, sent: Sent) -> str:
        topic = self.settings.topic("raw-html")
        if BAD_NAME in sent.headers:
            batch: Any = self._producer.create_batch()
            batch.append(key=sent.key, value=sent.value, timestamp=None, headers=list(sent.headers))
            build = batch._build
            batch._build = lambda: spoiled(bytes(build()))
            future = await self._producer.send_batch(batch, topic, partition=sent.partition)
        else:
            future = await self._producer.send(
                topic, sent.value, sent.key, sent.partition, headers=list(sent.headers)
            )
        stored = await future
        return f"{stored.topic}/{stored.partition}/{stored.offset}"

    def _read(self, record: Any, origin: str) -> tuple[str, str] | None:
        """Return the outcome in a record, or None if the record belongs to another page."""
        if record.topic == self.settings.topic("clean-text"):
            value = orjson.loads(record.value)
            return ("clean-text", value["text"]) if value["origin"] == origin else None
        if record.key != origin.encode():
            return None
        if record.topic == self.settings.topic("duplicates"):
            return "duplicate", record.value.decode()
        letter = DeadLetter.from_record(record.key, record.value, record.headers)
        return letter.reason, letter.message
