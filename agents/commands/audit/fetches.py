"""`python -m agents audit --fetches`: every page that a feed has named is published, or why not.

    fetches ──▶ expected        raw-html, dead-letters ──▶ settled
       └─▶ sent again ──▶ waiting, where a copy lies beyond what `fetch` has committed

A page that waits for its host's turn, or for another try, is not missing: the queue still has it.
Missing is what `fetch` has committed in all its copies and nothing came of. Both topics keep their
records for seven days.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from dataclasses import dataclass, field

from aiokafka import AIOKafkaConsumer, ConsumerRecord

from agents.commands.audit.hop import Hop, Range
from agents.commands.audit.ledger import NAMED, AuditOutcome
from agents.kafka.client import consumer, read_records
from agents.kafka.groups import committed
from agents.settings.job import Settings
from models.dead_letter import DeadLetter
from models.headers import FETCHED_FOR, ORIGIN, header
from models.origin import Origin

_PAUSE = 1.0  # seconds between two looks


@dataclass(frozen=True, slots=True)
class FetchAccounts:
    """Pages to be fetched, by what became of them.

    Attributes:
        pages: published to raw-html.
        dead_letters: by reason; what was replayed with success is a page.
        waiting: in the queue still.
        first_missing: the first ones, as topic/partition/offset.
    """

    origins: int = 0
    pages: int = 0
    dead_letters: dict[str, int] = field(default_factory=dict)
    waiting: int = 0
    missing: int = 0
    first_missing: tuple[str, ...] = ()


class FetchAudit(Hop):
    """The accounts of `fetches`."""

    source = "fetches"
    outputs = ("raw-html", "dead-letters")

    def __init__(
        self, settings: Settings, client: AIOKafkaConsumer, within: Range | None = None
    ) -> None:
        super().__init__(settings, client, within)
        self._committed: dict[int, int] = {}
        # by origin, the last copy in each partition
        self._copies: dict[str, dict[int, int]] = defaultdict(dict)

    async def update(self, *, grow: bool = True) -> FetchAccounts:
        """Read on; see `Hop.read_on`."""
        # First of all: what lies before these offsets has left its result where it is read next.
        self._committed = await committed(self._settings, "fetch", self.source)
        await self.read_on(grow=grow)
        return self._accounts()

    async def _read_source(self, *, grow: bool) -> None:
        """All of it, whatever the range: copies lie anywhere."""
        async for record in read_records(self._client, await self._unread(self.source)):
            origin = header(record.headers, ORIGIN)
            if origin is not None:
                self._copies[origin][record.partition] = record.offset
            elif grow and self._within.has(record):
                self._expect(record)

    def _expect(self, record: ConsumerRecord) -> None:
        self.ledger.expect(record.partition, record.offset)

    def _settle(self, topic: str, record: ConsumerRecord) -> None:
        if topic == "raw-html":
            origin = header(record.headers, FETCHED_FOR)
            if origin is not None:
                self.ledger.settle(origin, AuditOutcome.PAGE)
        else:
            letter = DeadLetter.from_record(record.key, record.value, record.headers)
            self.ledger.settle(letter.origin, AuditOutcome.DEAD_LETTER, letter.reason)

    def _accounts(self) -> FetchAccounts:
        counts = self.ledger.counts()
        open_, lost = sum(counts[AuditOutcome.MISSING].values()), []
        missing = 0
        for origin in self.ledger.missing():
            if not self._waits(origin):
                missing += 1
                lost += [str(origin)] if missing <= NAMED else []
        return FetchAccounts(
            origins=sum(sum(found.values()) for found in counts.values()),
            pages=sum(counts[AuditOutcome.PAGE].values()),
            dead_letters=counts[AuditOutcome.DEAD_LETTER],
            waiting=open_ - missing,
            missing=missing,
            first_missing=tuple(lost),
        )

    def _waits(self, origin: Origin) -> bool:
        places = {origin.partition: origin.offset} | self._copies.get(str(origin), {})
        return any(offset >= self._committed.get(at, 0) for at, offset in places.items())


async def account_fetches(
    settings: Settings, within: Range | None = None, *, wait: float = 0.0
) -> FetchAccounts:
    """What became of every page of a range.

    Args:
        settings: of the job.
        within: everything up to now by default.
        wait: seconds to wait until none is missing and none waits.
    """
    until = time.monotonic() + wait
    async with consumer(settings) as client:
        audit = FetchAudit(settings, client, within)
        accounts = await audit.update()
        while (accounts.missing or accounts.waiting) and time.monotonic() < until:
            await asyncio.sleep(_PAUSE)
            accounts = await audit.update(grow=False)
        return accounts
