"""What the tests of the job share: a job of their own, and the figures that they print."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.job.harness import Job

_FIGURES: list[str] = []

Record = Callable[[str], None]
MakeJob = Callable[..., Job]


@pytest.fixture
def record() -> Record:
    """Prints a line of figures at the end of the run, under "What must hold"."""
    return _FIGURES.append


@pytest.fixture
def make_job(kafka: str, prefix: str, tmp_path: Path) -> MakeJob:
    """A job on the shared Kafka, under names that no other test has."""

    def make(name: str = "", **settings: object) -> Job:
        directory = tmp_path / (name or "job")
        directory.mkdir()
        return Job(kafka, f"{prefix}{name}", directory, **settings)

    return make


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The figures that the tests recorded."""
    if _FIGURES:
        terminalreporter.section("What must hold")
        for line in _FIGURES:
            terminalreporter.write_line(line)
