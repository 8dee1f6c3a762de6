"""Fixtures of the tests of the job."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.job.harness import Job

MakeJob = Callable[..., Job]


@pytest.fixture
def make_job(kafka: str, prefix: str, tmp_path: Path) -> MakeJob:
    """Return a function that makes a job on the shared Kafka, with its own topics and groups."""

    def make(name: str = "", **settings: object) -> Job:
        directory = tmp_path / (name or "job")
        directory.mkdir()
        return Job(kafka, f"{prefix}{name}", directory, **settings)

    return make
