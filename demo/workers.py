"""One worker a stage, each a process of its own with its log and its tables in the run's folder."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import aiohttp

from agents.settings.job import Settings
from demo.child import Child
from demo.ports import free_port

PAGE_STAGES = ("normalize", "extract")
FEED_STAGES = ("poll", "fetch", *PAGE_STAGES)
PATIENCE = 300.0  # seconds until a worker is ready; 5 to 10 are usual
ROOT = Path(__file__).parent.parent


class WorkerError(Exception):
    """A worker ended or did not become ready; the message shows the end of its log."""


class Workers:
    """The workers of a run.

    Args:
        settings: of the job; brokers and prefix are handed on.
        directory: for logs and tables.
        stages: one worker for each.
        environment: more settings for all of them.
    """

    def __init__(
        self,
        settings: Settings,
        directory: Path,
        stages: Sequence[str],
        environment: Mapping[str, str],
    ) -> None:
        self._settings = settings
        self._directory = directory
        self._stages = stages
        self._more = environment
        self._children: dict[str, Child] = {}
        self._ports: dict[str, int] = {}

    def start(self) -> None:
        """Start a worker for each stage."""
        for stage in self._stages:
            self._ports[stage] = free_port()
            command = [sys.executable, "-m", "agents", "worker", stage]
            log = self._directory / f"{stage}.log"
            self._children[stage] = Child(command, log, self._environment(stage))

    async def ready(self) -> None:
        """Wait until each worker says that it processes records.

        Raises:
            WorkerError: one does not.
        """
        deadline = time.monotonic() + PATIENCE
        async with aiohttp.ClientSession() as session:
            for stage, port in self._ports.items():
                while not await _is_ready(session, port):
                    self.check()
                    if time.monotonic() > deadline:
                        raise WorkerError(self._about(stage, f"is not ready in {PATIENCE:.0f} s"))
                    await asyncio.sleep(0.2)

    def check(self) -> None:
        """Raise a WorkerError if a worker has ended."""
        for stage, child in self._children.items():
            code = child.poll()
            if code is not None:
                raise WorkerError(self._about(stage, f"ended with {code}"))

    def stop(self) -> None:
        """Ask all of them to end, then wait; kill those that do not."""
        for child in self._children.values():
            child.ask_to_end()
        for child in self._children.values():
            child.stop()
        self._children.clear()

    def _about(self, stage: str, problem: str) -> str:
        return f"the worker of {stage} {problem}; its log ends:\n{self._children[stage].tail()}"

    def _environment(self, stage: str) -> dict[str, str]:
        return {
            **os.environ,
            **self._more,
            "PYTHONPATH": str(ROOT),
            "PYTHONUNBUFFERED": "1",
            "URLTREE_BROKERS": ",".join(self._settings.brokers),
            "URLTREE_PREFIX": self._settings.prefix,
            "URLTREE_DATA_DIR": str(self._directory / stage),
            "URLTREE_WEB_HOST": "127.0.0.1",
            "URLTREE_WEB_PORT": str(self._ports[stage]),
        }


async def _is_ready(session: aiohttp.ClientSession, port: int) -> bool:
    try:
        async with session.get(f"http://127.0.0.1:{port}/readyz") as response:
            return response.status == 200
    except aiohttp.ClientError:
        return False
