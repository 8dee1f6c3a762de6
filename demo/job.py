"""The job of a run: Kafka, topics, workers, and the display of the progress.

All files of a run are in one folder, which is removed when the run succeeds.
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
from demo.progress import RunProgress
from demo.view import RunView
from demo.workers import Workers

STALL = 120.0  # seconds without progress after which a run is ended
TURN = 0.5  # seconds between two updates of the view


@dataclass(frozen=True, slots=True)
class RunningJob:
    """A job whose workers are ready; `watch` shows its progress."""

    settings: Settings
    workers: Workers
    view: RunView

    async def watch(
        self,
        look: Callable[[], RunProgress],
        is_coming: Callable[[], bool],
        is_over: Callable[[RunProgress], bool],
    ) -> None:
        """Show the progress until the run is over.

        Args:
            look: returns the present progress.
            is_coming: returns whether more input may reach the job, such as pages to publish.
            is_over: returns whether every record has an outcome; called when no more input comes.

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
                self.view.say(f"No page had an outcome for {STALL:.0f} s: giving up.")
                return
            await asyncio.sleep(TURN)


@asynccontextmanager
async def kafka(directory: Path, view: RunView) -> AsyncIterator[Settings]:
    """Yield the settings of a job whose Kafka runs and has all topics.

    Raises:
        KafkaError, SettingsError: the message says what the user can do.
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
    view: RunView,
    stages: Sequence[str],
    environment: Mapping[str, str] = MappingProxyType({}),
) -> AsyncIterator[RunningJob]:
    """Yield a job that has a ready worker for each stage, and stop its workers at the end.

    Raises:
        WorkerError: a worker did not become ready; the message contains the end of its log.
    """
    workers = Workers(settings, directory, stages, environment)
    try:
        workers.start()
        view.say(f"Starting a worker for each stage; the logs are in {directory} …")
        await workers.ready()
        yield RunningJob(settings, workers, view)
    finally:
        # in a thread, because the event loop may serve sites that a worker still waits for
        await asyncio.to_thread(workers.stop)
