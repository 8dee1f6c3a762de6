"""`python -m agents audit --fetches`: check that every page named by a feed has an outcome.

    fetches ──▶ expected        raw-html, unchanged, dead-letters ──▶ settled
       └─▶ sent again ──▶ waiting, if a copy lies after the committed offset of `fetch`

A page that waits for its host, for another attempt, or until it is clear whether it is a wall, is
not missing, because the topic still contains a copy. A page is missing if `fetch` has committed all
its copies and no copy had an outcome. Pages that the operator has denied or removed, and pages that
their publisher reserves, are dead letters with these reasons.
fetches, raw-html and unchanged keep their records for seven days.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field

from aiokafka import AIOKafkaConsumer, ConsumerRecord

from agents.commands.audit.hop import Hop, Range
from agents.commands.audit.ledger import NAMED, AuditOutcome
from agents.kafka.client import consumer
from agents.kafka.groups import committed_offsets
from agents.settings.job import Settings
from models.crawl import fetch, unchanged
from models.headers.names import FETCHED_FOR, ORIGIN, header
from models.origin import Origin
from urltree.page import PageError

_PAUSE = 1.0  # seconds between two readings of the topics


@dataclass(frozen=True, slots=True)
class FetchAccounts:
    """Numbers of the pages that were to be fetched, one number per outcome.

    Attributes:
        origins: All pages that feeds named.
        pages: Pages published to raw-html.
        unchanged: Pages that were asked for again and have not changed (status 304).
        dead_letters: Pages that became dead letters, by reason. A page whose replay succeeded
            counts in `pages` instead.
        waiting: Pages that still wait in fetches.
        held: Those of the waiting pages that wait because they may be walls.
        missing, first_missing, expired, left: As in `Accounts`.
    """

    origins: int = 0
    pages: int = 0
    unchanged: int = 0
    dead_letters: dict[str, int] = field(default_factory=dict)
    waiting: int = 0
    held: int = 0
    missing: int = 0
    first_missing: tuple[str, ...] = ()
    expired: int = 0
    left: int = 0


class FetchAudit(Hop):
    """Audit of the pages that feeds name: it finds their outcomes in three topics."""

    source = "fetches"
    outputs = ("raw-html", "unchanged", "dead-letters")

    def __init__(
        self, settings: Settings, client: AIOKafkaConsumer, within: Range | None = None
    ) -> None:
        super().__init__(settings, client, within)
        self._committed: dict[int, int] = {}
        # For each origin, the offset of its page's last copy in each partition.
        self._copies: dict[str, dict[int, int]] = defaultdict(dict)
        self._held: set[str] = set()  # origins whose newest copy is held

    async def update(self, *, grow: bool = True) -> FetchAccounts:
        """Read the new records, and return the number of pages by outcome; see `Hop.read_on`."""
        # Read the offsets first: pages before them already have their outcome in the outputs.
        self._committed = await committed_offsets(self._settings, "fetch", self.source)
        await self.read_on(grow=grow)
        return self._accounts()

    async def _read_source(self, *, grow: bool) -> None:
        """Read the whole topic and not only the range: copies of a page may have any offset."""
        async for record in self._read(await self._unread(self.source)):
            origin = header(self._headers(record), ORIGIN)
            if origin is not None:
                self._copies[origin][record.partition] = record.offset
                self._note_whether_held(origin, record)
            elif grow:
                self._expect(record)

    def _note_whether_held(self, origin: str, record: ConsumerRecord) -> None:
        """Note whether the newest copy of a page says that the page may be a wall."""
        self._held.discard(origin)
        with suppress(PageError):
            if fetch.decode(record.value).held_since is not None:
                self._held.add(origin)

    def _settle(self, topic: str, record: ConsumerRecord) -> None:
        if topic == "raw-html":
            origin = header(self._headers(record), FETCHED_FOR)
            if origin is not None:
                self.ledger.settle(origin, AuditOutcome.PAGE)
        elif topic == "unchanged":
            self.ledger.settle(unchanged.decode(record.value).origin, AuditOutcome.UNCHANGED)
        else:
            self._settle_dead_letter(record)

    def _accounts(self) -> FetchAccounts:
        counts = self.ledger.counts()
        open_ = sum(counts[AuditOutcome.MISSING].values())
        lost = list(self.gone.named(self.ledger.topic))
        missing = held = 0
        for origin in self.ledger.missing():
            if self._waits(origin):
                held += str(origin) in self._held
            else:
                missing += 1
                lost += [str(origin)] if len(lost) < NAMED else []
        return FetchAccounts(
            origins=sum(sum(found.values()) for found in counts.values()),
            pages=sum(counts[AuditOutcome.PAGE].values()),
            unchanged=sum(counts[AuditOutcome.UNCHANGED].values()),
            dead_letters=counts[AuditOutcome.DEAD_LETTER],
            waiting=open_ - missing,
            held=held,
            missing=missing + self.gone.expired,
            first_missing=tuple(lost[:NAMED]),
            expired=self.gone.expired,
            left=self.gone.left,
        )

    def _waits(self, origin: Origin) -> bool:
        places = {origin.partition: origin.offset} | self._copies.get(str(origin), {})
        return any(offset >= self._committed.get(at, 0) for at, offset in places.items())


async def account_fetches(
    settings: Settings, within: Range | None = None, *, wait: float = 0.0
) -> FetchAccounts:
    """Return the number of pages to fetch in a range by outcome.

    Args:
        settings: Settings of the job.
        within: Range of the pages; by default all pages up to now.
        wait: Longest time in seconds to wait until no page is missing or waiting.
    """
    until = time.monotonic() + wait
    async with consumer(settings) as client:
        audit = FetchAudit(settings, client, within)
        accounts = await audit.update()
        while (
            accounts.missing > accounts.expired or accounts.waiting
        ) and time.monotonic() < until:
            await asyncio.sleep(_PAUSE)
            accounts = await audit.update(grow=False)
        return accounts
