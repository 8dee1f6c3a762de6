"""Workers of a real job as processes; the operating system counts their CPU time and memory."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import psutil
from aiokafka.coordinator.protocol import ConsumerProtocolMemberAssignment

from agents.commands.topics import apply
from agents.kafka.client import admin, consumer, partitions, producer
from agents.kafka.partitions import partition_of, route_key
from agents.settings.job import Settings
from demo.workers import COMMAND, WorkerProcess
from models.crawl.feed import Feed

READS = {
    "poll": "poll-outcomes",
    "fetch": "fetches",
    "normalize": "raw-html",
    "extract": "documents",
}
PATIENCE = 600.0
"""Limit of the time in which a worker becomes ready or processes all records, in seconds."""

MB = 1_000_000

_PAUSE = 0.1  # seconds between two measurements


class Message(NamedTuple):
    """A record to publish: a value with its domain as the key."""

    domain: str
    value: bytes


class MeasuredWorker:
    """A worker process whose CPU and memory are measured.

    Attributes:
        stage: name of the worker's stage, a key of READS.
        idle: resident memory in bytes when the worker was ready, before its first record.
        peak: highest resident memory in bytes since the worker was ready.
    """

    def __init__(
        self, stage: str, command: Sequence[str], directory: Path, env: Mapping[str, str]
    ) -> None:
        self.stage = stage
        self._worker = WorkerProcess(stage, directory, env, command)
        self._process = psutil.Process(self._worker.pid)
        self.idle = self.peak = 0
        self._is_stopped = False

    async def ready(self) -> None:
        """Wait until the worker is ready to process records.

        Raises:
            ChildError: the worker ended or did not become ready.
        """
        await asyncio.to_thread(
            self._worker.wait_ready, self._worker.name, self._worker.is_ready, PATIENCE
        )
        self.idle = self.peak = self.resident()

    def look(self) -> None:
        """Check that the worker runs, and update its peak memory."""
        if self._is_stopped:
            return
        self._worker.check(self._worker.name)
        self.peak = max(self.peak, self.resident())

    def cpu(self) -> float:
        """Return the CPU time of the worker and its child processes since its start, in seconds.

        If a child has ended, Linux adds its CPU time to the process that waited for the child.
        """
        family = (self._process, *self._process.children(recursive=True))
        ended = [process.cpu_times() for process in family]
        reaped = sum(float(one.children_user + one.children_system) for one in ended)
        return sum(map(cpu, family)) + reaped

    def resident(self) -> int:
        """Return the resident memory of the worker without its child processes, in bytes."""
        return int(self._process.memory_info().rss)

    def metric(self, name: str) -> float:
        """Return the value of a metric of the worker, summed over all labels."""
        lines = (self._worker.get("/metrics") or "").splitlines()
        found = (line.rsplit(" ", 1) for line in lines if line.startswith(name))
        return sum(float(value) for label, value in found if label.partition("{")[0] == name)

    async def reach(self, name: str, value: float) -> None:
        """Wait until a metric of the worker has at least this value."""
        deadline = time.monotonic() + PATIENCE
        while self.metric(name) < value:
            self.look()
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"{self._worker.name}: {name} did not reach {value:g} in {PATIENCE:.0f} s"
                )
            await asyncio.sleep(_PAUSE)

    def log_lines(self) -> list[str]:
        """Return the lines that the worker has written to its log."""
        return self._worker.log.read_text(errors="replace").splitlines()

    def stop(self) -> None:
        """Send SIGTERM to the worker, and wait until it has ended."""
        self._is_stopped = True
        self._worker.stop()


def cpu(process: psutil.Process) -> float:
    """Return the CPU time of a process since its start, in seconds."""
    times = process.cpu_times()
    return float(times.user + times.system)


class MeasuredJob:
    """A job with its own topics and with workers that are ready.

    Attributes:
        settings: settings of the job.
        every: all workers.
        workers: the last worker of each stage.
        directory: directory of the workers' disks and logs.
    """

    def __init__(
        self, settings: Settings, workers: Sequence[MeasuredWorker], directory: Path
    ) -> None:
        self.settings = settings
        self.directory = directory
        self.every = workers
        self.workers = {worker.stage: worker for worker in workers}

    async def publish(self, topic: str, records: AsyncIterable[Message]) -> int:
        """Publish records as a user would, and return their number."""
        async with self.publisher(topic) as send:
            count = 0
            async for record in records:
                await send(record)
                count += 1
        return count

    @asynccontextmanager
    async def publisher(self, topic: str) -> AsyncIterator[Callable[[Message], Awaitable[None]]]:
        """Yield a function that publishes a record; all are confirmed when the context ends."""
        name = self.settings.topic(topic)
        async with producer(self.settings) as client:
            known = len(await client.partitions_for(name))

            async def send(record: Message) -> None:
                key = record.domain.encode()
                await client.send(name, record.value, key, partition_of(key, known))

            yield send
            await client.flush()

    async def follow(self, followed: Iterable[Feed]) -> None:
        """Add feeds to the topic feeds, as `feeds add` does."""
        topic = self.settings.topic("feeds")
        async with producer(self.settings) as client:
            known = len(await client.partitions_for(topic))
            for feed in followed:
                partition = route_key(feed.site, known).partition
                await client.send(topic, feed.encode(), feed.key, partition)
            await client.flush()

    async def assignments(self, stage: str) -> list[set[int]]:
        """Return the partitions of each worker of a stage."""
        topic, group = self.settings.topic(READS[stage]), self.settings.topic(f"urltree-{stage}")
        async with admin(self.settings) as client:
            answers = await client.describe_consumer_groups([group])
        members = [
            one for answer in answers for g in answer.to_object()["groups"] for one in g["members"]
        ]
        decoded = [
            ConsumerProtocolMemberAssignment.decode(one["member_assignment"]) for one in members
        ]
        return [{tp.partition for tp in one.partitions() if tp.topic == topic} for one in decoded]

    async def wait_through(self) -> None:
        """Wait until each worker has committed the end offsets of the topic that it reads."""
        deadline = time.monotonic() + PATIENCE
        async with admin(self.settings) as groups, consumer(self.settings) as client:
            for worker in self.workers.values():
                topic = self.settings.topic(READS[worker.stage])
                group = self.settings.topic(f"urltree-{worker.stage}")
                ends = await client.end_offsets(await partitions(client, topic))
                wanted = {tp: end for tp, end in ends.items() if end}
                while True:
                    done = await groups.list_consumer_group_offsets(group)
                    if all(tp in done and done[tp].offset >= end for tp, end in wanted.items()):
                        break
                    if time.monotonic() > deadline:
                        raise TimeoutError(
                            f"the worker of {worker.stage} has not processed all records "
                            f"after {PATIENCE:.0f} s"
                        )
                    await asyncio.sleep(_PAUSE)


@asynccontextmanager
async def job(
    brokers: str,
    stages: Iterable[str] = ("normalize", "extract"),
    command: Sequence[str] = COMMAND,
    variables: Mapping[str, str] | None = None,
    settings: Mapping[str, object] | None = None,
) -> AsyncIterator[MeasuredJob]:
    """Start a job with its own topics, and stop its workers when the context ends.

    Args:
        brokers: address of a running Kafka.
        stages: stages that get a worker; a stage may occur several times.
        command: arguments for Python; the name of the stage is added to these arguments.
        variables: additional environment variables for the workers.
        settings: additional settings of the job, by their names in `agents.settings.job`.
    """
    prefix = f"bench{uuid.uuid4().hex[:8]}-"
    given = {"brokers": brokers, "prefix": prefix, **(settings or {})}
    checked = Settings.model_validate({key: str(value) for key, value in given.items()})
    environment = {f"URLTREE_{key.upper()}": str(value) for key, value in given.items()}
    environment |= variables or {}
    await apply(checked)
    with TemporaryDirectory(prefix="urltree-bench-") as directory:
        workers = []
        for number, stage in enumerate(stages):
            own = Path(directory, str(number))
            own.mkdir()  # noqa: ASYNC240 - nothing else runs yet
            workers.append(MeasuredWorker(stage, command, own, environment))
        try:
            for worker in workers:
                await worker.ready()
            watching = asyncio.create_task(_watch(workers))
            yield MeasuredJob(checked, workers, Path(directory))
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching
        finally:
            for worker in workers:
                worker.stop()


async def _watch(workers: Sequence[MeasuredWorker]) -> None:
    while True:
        for worker in workers:
            worker.look()
        await asyncio.sleep(_PAUSE)
