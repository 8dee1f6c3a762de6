"""What comes out of the job, followed live: accounts, domains, the newest clean text."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass, field

from aiokafka import AIOKafkaConsumer, ConsumerRecord

from agents.commands.ledger import Accounts, Ledger, Outcome
from agents.kafka.client import consumer, partitions
from agents.settings import Settings
from models import clean_text, duplicate
from models.dead_letter import DeadLetter

TOPICS = ("clean-text", "duplicates", "dead-letters")
RECENT = 10.0  # seconds over which the rate is measured


@dataclass(slots=True)
class News:
    """The newest clean text that is worth a look."""

    domain: str
    title: str
    text: str
    url: str


@dataclass(slots=True)
class Progress:
    """What a view shows.

    Attributes:
        settled: origins of which the outcome is known.
        rate: of them, a second, over the last RECENT seconds.
        news: the newest of the last few domains, newest first.
    """

    accounts: Accounts = field(default_factory=Accounts)
    rate: float = 0.0
    domains: dict[str, int] = field(default_factory=dict)
    news: deque[News] = field(default_factory=lambda: deque(maxlen=3))

    @property
    def settled(self) -> int:
        """Origins whose outcome is known."""
        return self.accounts.origins - self.accounts.missing


class Outputs:
    """Follows the three outputs from where they end now.

    An output may be read before the confirmation of its input: what was read in the last second
    is entered once more, which changes nothing where it was known.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._ledger = Ledger(settings.topic("raw-html"))
        self._read: list[tuple[str, Outcome, str]] = []
        self._again: list[tuple[str, Outcome, str]] = []
        self._measured: deque[tuple[float, int]] = deque()
        self.started = asyncio.Event()
        self.progress = Progress()

    def expect(self, partition: int, offset: int) -> None:
        """A page was published there."""
        self._ledger.expect(partition, offset)

    async def follow(self) -> None:
        """Read until cancelled."""
        async with consumer(self._settings) as client:
            topics = [self._settings.topic(topic) for topic in TOPICS]
            assigned = [p for topic in topics for p in await partitions(client, topic)]
            client.assign(assigned)
            await client.seek_to_end(*assigned)
            self.started.set()
            while True:
                await self._batch(client)

    def update(self) -> Progress:
        """Enter what was read; call it about once a second."""
        for entry in (*self._again, *self._read):
            self._ledger.settle(*entry)
        self._again, self._read = self._read, []
        progress = self.progress
        progress.accounts = self._ledger.accounts()
        self._measured.append((time.monotonic(), progress.settled))
        while self._measured[-1][0] - self._measured[0][0] > RECENT:
            self._measured.popleft()
        (then, before), (now, after) = self._measured[0], self._measured[-1]
        progress.rate = (after - before) / (now - then) if now > then else 0.0
        return progress

    async def _batch(self, client: AIOKafkaConsumer) -> None:
        for records in (await client.getmany(timeout_ms=500)).values():
            for record in records:
                self._take(record)
            await asyncio.sleep(0)

    def _take(self, record: ConsumerRecord) -> None:
        topic = record.topic.removeprefix(self._settings.prefix)
        if topic == "duplicates":
            found = duplicate.decode(record.value)
            self._read.append((found.origin, Outcome.DUPLICATE, found.step.value))
        elif topic == "dead-letters":
            letter = DeadLetter.from_record(record.key, record.value, record.headers)
            self._read.append((letter.origin, Outcome.DEAD_LETTER, letter.reason))
        elif record.value is not None:
            said = clean_text.decode(record.value)
            self._read.append((said["origin"], Outcome.CLEAN_TEXT, ""))
            self._hear(said["domain"], said.get("title") or "", said["text"], said["url"])

    def _hear(self, domain: str, title: str, text: str, url: str) -> None:
        progress = self.progress
        progress.domains[domain] = progress.domains.get(domain, 0) + 1
        if text:
            kept = [news for news in progress.news if news.domain != domain]
            progress.news.clear()
            progress.news.extend(kept[-2:])
            progress.news.append(News(domain, title, text, url))
