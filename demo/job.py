"""The job of a run: broker, topics and workers, and what is shown while they work.

Everything of a run lies in one folder, which goes when the run ends well.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from agents.commands import topics
from agents.settings.job import Settings, SettingsError, load_settings
from demo.kafka import running
from demo.progress import Progress
from demo.view import View
from demo.workers import Workers

STALL = 120.0  # seconds without an outcome after which a run is given up
TURN = 0.5  # seconds between two looks


@dataclass(frozen=True, slots=True)
class Job:
    """A job that works."""

    settings: Settings
    workers: Workers
    view: View

    async def watch(
        self,
        look: Callable[[], Progress],
        is_coming: Callable[[], bool],
        is_over: Callable[[Progress], bool],
    ) -> None:
        """Show what comes out.

        Args:
            look: how far it is.
            is_coming: whether more may come from outside the job, such as pages to publish.
            is_over: whether nothing is in work; asked when nothing more is coming.

        Raises:
            WorkerError: a worker has ended.
        """
        mark, moved = 0, time.monotonic()
        while True:
            coming, progress = is_coming(), look()
            self.view.show(progress)
            if not coming and is_over(progress):
                return
            self.workers.check()
            if coming or progress.mark > mark:
                mark, moved = progress.mark, time.monotonic()
            if time.monotonic() - moved > STALL:
                self.view.say(f"Nothing has come out for {STALL:.0f} s.")
                return
            await asyncio.sleep(TURN)


@asynccontextmanager
async def kafka(directory: Path, view: View) -> AsyncIterator[Settings]:
    """A Kafka with all topics, and the settings of a job on it.

    Raises:
        KafkaError, SettingsError: with a sentence for a person.
    """
    configured = load_settings()
    with running(directory / "kafka") as brokers:
        settings = configured.model_copy(update={"brokers": tuple(brokers.split(","))})
        view.say(f"Kafka at {brokers}")
        _, refused = await topics.apply(settings)
        if refused:
            raise SettingsError("; ".join(map(str, refused)))
        yield settings


@asynccontextmanager
async def working(
    settings: Settings,
    directory: Path,
    view: View,
    stages: Sequence[str],
    environment: Mapping[str, str] = MappingProxyType({}),
) -> AsyncIterator[Job]:
    """A job with a worker for each stage, ready; all of them are stopped in the end.

    Raises:
        WorkerError: with a sentence for a person.
    """
    workers = Workers(settings, directory, stages, environment)
    try:
        workers.start()
        view.say(f"Starting a worker for each stage; logs in {directory} …")
        await workers.ready()
        yield Job(settings, workers, view)
    finally:
        # beside the event loop, which may serve sites that a worker still waits for
        await asyncio.to_thread(workers.stop)
