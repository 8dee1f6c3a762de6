"""What the tests of the job share: a job of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.job.harness import Job

MakeJob = Callable[..., Job]


@pytest.fixture
def make_job(kafka: str, prefix: str, tmp_path: Path) -> MakeJob:
    """A job on the shared Kafka, under names that no other test has."""

    def make(name: str = "", **settings: object) -> Job:
        directory = tmp_path / (name or "job")
        directory.mkdir()
        return Job(kafka, f"{prefix}{name}", directory, **settings)

    return make
