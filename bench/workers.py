"""Real workers as processes of their own, whose CPU and memory are read from the system."""

from __future__ import annotations

import asyncio
import os
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import psutil

from agents.commands.topics import apply
from agents.kafka.client import admin, consumer, partitions, producer
from agents.kafka.partitions import partition_of
from agents.settings.job import Settings
from demo.child import Child
from demo.ports import free_port

READS = {
    "poll": "poll-outcomes",
    "fetch": "fetches",
    "normalize": "raw-html",
    "extract": "documents",
}
PATIENCE = 600.0  # seconds
MB = 1_000_000

_LOOK_SECONDS = 0.1


class Record(NamedTuple):
    """What is published: a value under its domain."""

    domain: str
    value: bytes


class Worker:
    """A worker that is ready and idle.

    Attributes:
        stage: one of READS.
        idle: its resident bytes before the first record.
        peak: the most that was seen since.
    """

    def __init__(
        self, stage: str, command: Sequence[str], directory: Path, env: Mapping[str, str]
    ) -> None:
        port = free_port()
        own = {"URLTREE_WEB_PORT": str(port), "URLTREE_DATA_DIR": str(directory / stage)}
        self.stage = stage
        self._port = port
        self._child = Child(
            [sys.executable, *command, stage],
            directory / f"{stage}.log",
            {**os.environ, **env, **own, "PYTHONPATH": str(Path(__file__).parents[1])},
        )
        self._process = psutil.Process(self._child.pid)
        self.idle = self.peak = 0

    async def ready(self) -> None:
        """Wait until it processes records."""
        deadline = time.monotonic() + PATIENCE
        while self._get("/readyz") is None:
            self.look()
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.stage} is not ready:\n{self._child.tail()}")
            await asyncio.sleep(_LOOK_SECONDS)
        self.idle = self.peak = self._process.memory_info().rss

    def look(self) -> None:
        """See how much memory it takes, and that it is alive."""
        if self._child.poll() is not None:
            raise RuntimeError(f"{self.stage} ended:\n{self._child.tail()}")
        self.peak = max(self.peak, self._process.memory_info().rss)

    def cpu(self) -> float:
        """Seconds of CPU since its start, all threads and the processes that it started.

        Linux counts those that have ended with the one that has waited for them.
        """
        family = (self._process, *self._process.children(recursive=True))
        ended = [process.cpu_times() for process in family]
        reaped = sum(float(one.children_user + one.children_system) for one in ended)
        return sum(map(cpu, family)) + reaped

    def resident(self) -> int:
        """Bytes now, without the processes that it started."""
        return int(self._process.memory_info().rss)

    def metric(self, name: str) -> float:
        """A value of /metrics, the sum of its labels."""
        lines = (self._get("/metrics") or "").splitlines()
        found = (line.rsplit(" ", 1) for line in lines if line.startswith(name))
        return sum(float(value) for label, value in found if label.partition("{")[0] == name)

    async def reach(self, name: str, value: float) -> None:
        """Wait until a metric has at least this value."""
        deadline = time.monotonic() + PATIENCE
        while self.metric(name) < value:
            self.look()
            if time.monotonic() > deadline:
                raise TimeoutError(f"{name} of {self.stage} does not reach {value:g}")
            await asyncio.sleep(_LOOK_SECONDS)

    def stop(self) -> None:
        """SIGTERM, and wait."""
        self._child.stop()

    def _get(self, path: str) -> str | None:
        try:
            with urllib.request.urlopen(
                f"http://127.0.0.1:{self._port}{path}", timeout=5
            ) as response:
                text: str = response.read().decode()
                return text
        except (urllib.error.URLError, OSError):
            return None


def cpu(process: psutil.Process) -> float:
    """Seconds of CPU of a process since its start."""
    times = process.cpu_times()
    return float(times.user + times.system)


class Job:
    """A job of its own on a Kafka: topics, and workers that are ready."""

    def __init__(self, settings: Settings, workers: Sequence[Worker]) -> None:
        self.settings = settings
        self.workers = {worker.stage: worker for worker in workers}

    async def publish(self, topic: str, records: AsyncIterable[Record]) -> int:
        """Publish records as a user would; returns how many."""
        count = 0
        name = self.settings.topic(topic)
        async with producer(self.settings) as client:
            known = len(await client.partitions_for(name))
            async for record in records:
                key = record.domain.encode()
                await client.send(name, record.value, key, partition_of(key, known))
                count += 1
            await client.flush()
        return count

    async def wait_through(self) -> None:
        """Wait until each worker has committed all that it reads."""
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
                        raise TimeoutError(f"{worker.stage} is not through")
                    await asyncio.sleep(_LOOK_SECONDS)


@asynccontextmanager
async def job(
    brokers: str,
    stages: Iterable[str] = ("normalize", "extract"),
    command: Sequence[str] = ("-m", "agents", "worker"),
    variables: Mapping[str, str] | None = None,
    settings: Mapping[str, object] | None = None,
) -> AsyncIterator[Job]:
    """A job whose topics have names of their own; its workers end with it.

    Args:
        brokers: of a running Kafka.
        stages: that have a worker.
        command: Python's arguments, the stage comes last.
        variables: more of the workers' environment.
        settings: more of them in the names of `agents.settings.job`.
    """
    prefix = f"bench{uuid.uuid4().hex[:8]}-"
    given = {"brokers": brokers, "prefix": prefix, **(settings or {})}
    checked = Settings.model_validate({key: str(value) for key, value in given.items()})
    environment = {f"URLTREE_{key.upper()}": str(value) for key, value in given.items()}
    environment |= variables or {}
    await apply(checked)
    with TemporaryDirectory(prefix="urltree-bench-") as directory:
        workers = [Worker(stage, command, Path(directory), environment) for stage in stages]
        try:
            for worker in workers:
                await worker.ready()
            watching = asyncio.create_task(_watch(workers))
            yield Job(checked, workers)
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching
        finally:
            for worker in workers:
                worker.stop()


async def _watch(workers: Sequence[Worker]) -> None:
    while True:
        for worker in workers:
            worker.look()
        await asyncio.sleep(_LOOK_SECONDS)
