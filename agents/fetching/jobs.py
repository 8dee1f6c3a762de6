"""A page on its way through a worker of `fetch`, and where it can leave."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol
from urllib.parse import urlsplit

from agents.kafka.delivery import Work
from models.fetch import Fetch
from urltree.address.url import normalise
from urltree.page import Page, Reason


@dataclass(slots=True, eq=False)
class FetchJob:
    """A page to be fetched.

    Attributes:
        work: its record.
        origin: of the record's first copy.
        fetch: as it is now, redirects of this worker's own domain included.
        domain: of what is asked next.
        future: the work waits for it.
        is_parked: whether it has waited in the lot already.
        errors: unexpected ones.
    """

    work: Work
    origin: str
    fetch: Fetch
    domain: str
    future: asyncio.Future[None]
    is_parked: bool = False
    errors: int = 0

    @property
    def partition(self) -> int:
        """The partition of its record."""
        return int(self.work.message.partition)

    @property
    def host(self) -> str:
        """Whom it asks."""
        return _host_of(self.fetch.target)

    @property
    def scheme(self) -> str:
        """How."""
        return urlsplit(self.fetch.target).scheme.lower()

    def finish(self) -> None:
        """Nothing more becomes of it here."""
        if not self.future.done():
            self.future.set_result(None)


@lru_cache(maxsize=4_096)
def _host_of(url: str) -> str:
    return normalise(url).netloc


class FetchStage(Protocol):
    """What fetching needs of its stage."""

    def domain_of(self, url: str) -> str:
        """Registrable domain. Raises PageError(bad-url)."""

    async def is_mine(self, job: FetchJob) -> bool:
        """Whether its partition is still this worker's."""

    async def publish(self, job: FetchJob, page: Page) -> None:
        """Send a page to raw-html, and wait until it is confirmed."""

    async def send_again(self, job: FetchJob, fetch: Fetch, domain: str) -> None:
        """Send a page to `fetches`, to be fetched later or by another."""

    async def refuse(self, job: FetchJob, reason: Reason, text: str) -> None:
        """Send the record to the dead letters."""

    def report_progress(self) -> None:
        """A request begins or has ended: the worker is not stalled."""

    def is_full(self) -> bool:
        """Whether no more records come before another is done."""

    def fail(self, error: BaseException) -> None:
        """End the process."""
