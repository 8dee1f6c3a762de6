"""fetch: a page that a feed has named becomes a page of raw-html. Keyed by the page's domain.

    fetches ──▶ decode ──▶ where it belongs? ──▶ fetching/ ──▶ raw-html
       ▲          └──────────────┴───────────────────┼─────────▶ dead-letters
       └────── redirected, come again, put off ──────┘

Its domain's owner is the only one that asks a host. A record stays in work until its page is
confirmed in raw-html, or it was sent again, or it is a dead letter: pages end in any order, and
offsets are committed without a gap.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import cached_property
from typing import Any

from aiokafka.errors import MessageSizeTooLargeError
from faust.types.tuples import Message

from agents.app import make_table
from agents.fetching.hosts import Hosts
from agents.fetching.jobs import Job
from agents.fetching.service import Fetching
from agents.kafka.delivery import Delivery, OnFailure, Work
from agents.settings.job import Settings, SettingsError, require_contact
from agents.settings.schemes import Schemes
from agents.stage import Stage
from models import fetch as fetches
from models import raw_html
from models.fetch import Fetch as Wanted
from models.headers import FETCHED_FOR, ORIGIN
from urltree.page import Page, PageError, Reason


class Fetch(Stage):
    """The stage from fetches to raw-html.

    Args:
        settings: of the job.
        on_failure: called when the worker cannot go on.
        clock: seconds since 1970.
    """

    name = "fetch"
    reads = ("fetches",)

    def __init__(
        self,
        settings: Settings,
        on_failure: OnFailure,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(settings, on_failure)
        require_contact(settings)
        _check_stall(settings)
        self.schemes = Schemes(settings)
        self.hosts = Hosts(make_table(self.app, "host_state"))
        self.fetching = Fetching(settings, self.hosts, self, self.metrics, clock)
        self.app.before_wait = self._before_wait
        self.app.on_before_shutdown.connect(self._on_shutdown)

    @cached_property
    def delivery(self) -> Delivery:
        """Records in work; many more than those of other stages, for they wait for their hosts."""
        return Delivery(
            self.app.consumer,
            self.fail,
            max_records=self.settings.fetch_window,
            max_bytes=self.settings.in_flight_bytes,
        )

    async def process(self, message: Message, origin: str, work: Work) -> None:
        """Take a page in; the work on it goes on."""
        wanted = fetches.decode(message.value)
        domain = self.domain_of(wanted.target)
        self.check_place(domain, message)
        await self.fetching.start()
        job = Job(work, origin, wanted, domain, asyncio.get_running_loop().create_future())
        work.wait_for(job.future)
        await self.fetching.add(job)

    def drop(self, partition: int, domain: str) -> None:  # noqa: ARG002 - hosts are not by domain
        """States are read again from their rows."""
        self.hosts.clear()

    def clear(self) -> None:
        """All partitions may be another's."""
        self.fetching.clear()

    def domain_of(self, url: str) -> str:
        """Registrable domain of an address.

        Raises:
            PageError: `bad-url`.
        """
        return self.schemes.domain(url)

    async def publish(self, job: Job, page: Page) -> None:
        """Send a page to raw-html, and wait until Kafka has it.

        Its bytes are not counted as the record's, which may wait for those before it: they are
        in memory no longer.

        Raises:
            PageError: `too-large`.
        """
        value, headers = raw_html.to_record(page)
        self.check_size("raw-html", value)
        headers.append((FETCHED_FOR, job.origin.encode()))
        domain = self.schemes.of(page)[0].domain(page.final_url or "")
        topic = self.settings.topic("raw-html")
        try:
            sent = await self.app.producer.deliver(topic, *self.key(domain), value, headers)
            await sent
        except MessageSizeTooLargeError as error:
            raise PageError(Reason.TOO_LARGE, f"raw-html: {error}") from error

    async def send_again(self, job: Job, wanted: Wanted, domain: str) -> None:
        """Send a page to `fetches`, to be fetched later or by another.

        Raises:
            PageError: `too-large`.
        """
        headers = [(ORIGIN, job.origin.encode())]
        await self.send(job.work, "fetches", self.key(domain), fetches.encode(wanted), headers)

    async def refuse(self, job: Job, reason: Reason, text: str) -> None:
        """Send the record to the dead letters."""
        await self.dead_letter(job.work, job.origin, reason, text)

    async def is_mine(self, job: Job) -> bool:
        """Whether its partition is still this worker's."""
        return await self.is_ours(job.work.message)

    def moved(self) -> None:
        """A request begins or has ended."""
        self.delivery.moved()

    def is_full(self) -> bool:
        """Whether no more records come before another is done."""
        return self.delivery.is_full

    async def _before_wait(self) -> None:
        if self.app.consumer.has_session:
            await self.fetching.drain()
        else:
            self.clear()
            self.delivery.clear()

    async def _on_shutdown(self, _app: Any, **_: Any) -> None:
        await self.fetching.stop()


def _check_stall(settings: Settings) -> None:
    """Refuse a watch that takes waiting for a stall.

    Nothing may happen for as long as a page stays in the lot and half of it, or an answer takes.

    Raises:
        SettingsError: stall_seconds is too short.
    """
    longest = max(1.5 * settings.park_seconds, settings.total_seconds)
    if settings.stall_seconds <= longest:
        raise SettingsError(
            f"stall_seconds: should be more than {longest:g}, the longest of total_seconds and "
            "one and a half times park_seconds, while fetch waits for a host"
        )
