"""Worker processes of the job, each with its own log, port and directory for tables."""

from __future__ import annotations

import asyncio
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path

from agents.settings.job import Settings
from demo.child import ChildError, ChildProcess
from demo.ports import free_port

PAGE_STAGES = ("normalize", "extract")
FEED_STAGES = ("poll", "fetch", *PAGE_STAGES)

PATIENCE = 300.0
"""Longest time until a worker is ready, in seconds. Usually it takes 5 to 10 s."""

ROOT = Path(__file__).parent.parent
COMMAND = ("-m", "agents", "worker")

_PAUSE = 0.2  # seconds between two checks whether a worker is ready


class WorkerError(Exception):
    """A worker ended or did not become ready; the message contains the end of its log."""


class WorkerProcess(ChildProcess):
    """A process that runs one stage.

    Args:
        stage: `poll`, `fetch`, `normalize` or `extract`.
        directory: directory for the log and the tables.
        environment: settings, in addition to the environment of this process.
        command: arguments for Python; the stage is added to them.
    """

    def __init__(
        self,
        stage: str,
        directory: Path,
        environment: Mapping[str, str],
        command: Sequence[str] = COMMAND,
    ) -> None:
        self.stage = stage
        self.port = free_port()
        own = {
            "PYTHONPATH": str(ROOT),
            "PYTHONUNBUFFERED": "1",
            "URLTREE_DATA_DIR": str(directory / stage),
            "URLTREE_WEB_HOST": "127.0.0.1",
            "URLTREE_WEB_PORT": str(self.port),
        }
        super().__init__(
            [sys.executable, *command, stage],
            directory / f"{stage}.log",
            {**os.environ, **environment, **own},
        )

    @property
    def name(self) -> str:
        """Name for error messages."""
        return f"the worker of {self.stage}"

    def is_ready(self) -> bool:
        """Return whether the worker processes records."""
        return self.get("/readyz") is not None

    def get(self, path: str) -> str | None:
        """Return the body of the worker's response for a path; None if the request fails."""
        try:
            with urllib.request.urlopen(
                f"http://127.0.0.1:{self.port}{path}", timeout=5
            ) as response:
                text: str = response.read().decode()
                return text
        except (urllib.error.URLError, OSError):
            return None


class Workers:
    """The workers of a run, one for each stage.

    Args:
        settings: settings of the job; the workers get its brokers and prefix.
        directory: directory for logs and tables.
        stages: stages to run.
        environment: more settings for all workers.
    """

    def __init__(
        self,
        settings: Settings,
        directory: Path,
        stages: Sequence[str],
        environment: Mapping[str, str],
    ) -> None:
        self._directory = directory
        self._stages = stages
        self._environment = {
            **environment,
            "URLTREE_BROKERS": ",".join(settings.brokers),
            "URLTREE_PREFIX": settings.prefix,
        }
        self._workers: list[WorkerProcess] = []

    def start(self) -> None:
        """Start a worker for each stage."""
        for stage in self._stages:
            self._workers.append(WorkerProcess(stage, self._directory, self._environment))

    async def ready(self) -> None:
        """Wait until each worker processes records.

        Raises:
            WorkerError: a worker ended or did not become ready.
        """
        for worker in self._workers:
            try:
                # in a thread, because the event loop may serve sites that the worker waits for
                await asyncio.to_thread(
                    worker.wait_ready, worker.name, worker.is_ready, PATIENCE, _PAUSE
                )
            except ChildError as error:
                raise WorkerError(str(error)) from None

    def check(self) -> None:
        """Raise a WorkerError if a worker has ended."""
        for worker in self._workers:
            try:
                worker.check(worker.name)
            except ChildError as error:
                raise WorkerError(str(error)) from None

    def stop(self) -> None:
        """Ask all workers to end, wait for them, and kill those that do not end."""
        for worker in self._workers:
            worker.ask_to_end()
        for worker in self._workers:
            worker.stop()
        self._workers.clear()
