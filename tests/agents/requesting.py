"""Fakes of a stage, a record and a table, for tests of requests and waiting pages without Kafka."""

from __future__ import annotations

from dataclasses import dataclass, field

from agents.fetching.jobs import HostJob, PageJob
from models.crawl.fetch import FetchRequest


@dataclass
class Message:
    """Fake of a Kafka message in partition 3."""

    partition: int = 3


class FakeWork:
    """Fake work of a record that does not wait for sends."""

    message = Message()

    def wait_for(self, future: object) -> None:
        """Do nothing."""


@dataclass
class FakeStage:
    """Fake stage that owns all hosts and records the pages that were sent again."""

    sent: list[FetchRequest] = field(default_factory=list)
    full: bool = False

    def page_of(self, _job: object) -> None:
        """Return nothing that rules could compare."""

    async def send_again(self, job: PageJob, fetch: FetchRequest, domain: str) -> None:  # noqa: ARG002
        """Record a page that was sent again."""
        self.sent.append(fetch)

    def is_full(self) -> bool:
        """Return whether the test has declared the stage full."""
        return self.full

    async def is_mine(self, job: HostJob) -> bool:  # noqa: ARG002
        """Return True: no partition moves in these tests."""
        return True

    def report_progress(self) -> None:
        """Do nothing."""


class FakeTable:
    """Fake table without rows that drops all writes."""

    def get(self, *_: object) -> bytes | None:
        """Return no row."""
        return None

    async def put(self, *_: object) -> None:
        """Drop the row."""
