"""A page that a worker of `fetch` has to fetch, and the stage's actions for such a page."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol
from urllib.parse import urlsplit

from agents.kafka.delivery import Work
from models.fetch import FetchRequest
from urltree.address.url import normalise
from urltree.page import Page, Reason


@dataclass(slots=True, eq=False)
class FetchJob:
    """A page that this worker has to fetch.

    Attributes:
        work: the record of the page, in flight.
        origin: place of the record's first copy, as topic/partition/offset.
        fetch: the decoded record, with the redirects inside the domain that were followed since.
        domain: registrable domain of the next request.
        future: done when this worker has finished the page; `work` waits for it.
        is_parked: whether the page has been parked before.
        errors: number of unexpected errors so far.
    """

    work: Work
    origin: str
    fetch: FetchRequest
    domain: str
    future: asyncio.Future[None]
    is_parked: bool = False
    errors: int = 0

    @property
    def partition(self) -> int:
        """Partition of the record."""
        return int(self.work.message.partition)

    @property
    def host(self) -> str:
        """Host of the next request."""
        return _host_of(self.fetch.target)

    @property
    def scheme(self) -> str:
        """Scheme of the next request."""
        return urlsplit(self.fetch.target).scheme.lower()

    def finish(self) -> None:
        """Mark the page as finished in this worker."""
        if not self.future.done():
            self.future.set_result(None)


@lru_cache(maxsize=4_096)
def _host_of(url: str) -> str:
    return normalise(url).netloc


class FetchStage(Protocol):
    """The actions of the stage that the fetching service needs."""

    def domain_of(self, url: str) -> str:
        """Return the registrable domain of a URL. Raises PageError(bad-url)."""

    async def is_mine(self, job: FetchJob) -> bool:
        """Return whether the partition of a page still belongs to this worker."""

    async def publish(self, job: FetchJob, page: Page) -> None:
        """Send a page to raw-html, and wait until Kafka has confirmed it."""

    async def send_again(self, job: FetchJob, fetch: FetchRequest, domain: str) -> None:
        """Send a page to `fetches` again, to be fetched later or by another worker."""

    async def refuse(self, job: FetchJob, reason: Reason, text: str) -> None:
        """Send the record of a page to the dead-letter topic."""

    def report_progress(self) -> None:
        """Report that a request has begun or ended: the worker is not stalled."""

    def is_full(self) -> bool:
        """Return whether a record in flight must finish before the worker accepts another."""

    def fail(self, error: BaseException) -> None:
        """End the process because of an error."""
