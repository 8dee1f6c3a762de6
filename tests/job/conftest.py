"""What the tests of the job share: a job of their own, and the figures that they print."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.job.harness import Job

_FIGURE = "figure"

Record = Callable[[str], None]
MakeJob = Callable[..., Job]


@pytest.fixture
def record(record_property: Callable[[str, object], None]) -> Record:
    """Prints a line of figures at the end of the run, under "What must hold"."""
    return lambda line: record_property(_FIGURE, line)


@pytest.fixture
def make_job(kafka: str, prefix: str, tmp_path: Path) -> MakeJob:
    """A job on the shared Kafka, under names that no other test has."""

    def make(name: str = "", **settings: object) -> Job:
        directory = tmp_path / (name or "job")
        directory.mkdir()
        return Job(kafka, f"{prefix}{name}", directory, **settings)

    return make


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The figures that the tests recorded, in whichever process they ran."""
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    figures = [
        line for report in reports for name, line in report.user_properties if name == _FIGURE
    ]
    if figures:
        terminalreporter.section("What must hold")
        for line in figures:
            terminalreporter.write_line(str(line))
