"""Count the outputs of the job by outcome and domain, and keep the newest clean texts."""

from __future__ import annotations

import time
from collections import deque

from aiokafka import ConsumerRecord

from agents.commands.audit.ledger import AuditOutcome, Ledger
from agents.settings.job import Settings
from demo.progress import News, RunProgress
from models import clean_text, duplicate
from models.dead_letter import DeadLetter
from models.headers.names import ORIGIN, header

TOPICS = ("clean-text", "duplicates", "dead-letters")
RECENT = 10.0  # seconds over which the rate is measured
TURNS = 20  # number of updates in which an outcome is entered, because its page may be read later


class Outputs:
    """Outcomes of the pages of raw-html.

    Topics are read in parallel, so an outcome may be read before its page. Therefore each outcome
    is entered again in the next `TURNS` updates. To enter the same outcome twice changes nothing.
    """

    def __init__(self, settings: Settings) -> None:
        self._ledger = Ledger(settings.topic("raw-html"))
        self._read: deque[list[tuple[str, AuditOutcome, str]]] = deque([[]], maxlen=TURNS)
        self._measured: deque[tuple[float, int]] = deque()
        self.progress = RunProgress()

    def expect(self, partition: int, offset: int) -> None:
        """Expect an outcome for the page at this offset."""
        self._ledger.expect(partition, offset)

    def take(self, topic: str, record: ConsumerRecord) -> None:
        """Count a record of raw-html or of one of `TOPICS`."""
        if topic == "raw-html":
            if header(record.headers, ORIGIN) is None:
                self.expect(record.partition, record.offset)
        elif topic == "duplicates":
            found = duplicate.decode(record.value)
            self._settle(found.origin, AuditOutcome.DUPLICATE, found.step.value)
        elif topic == "dead-letters":
            letter = DeadLetter.from_record(record.key, record.value, record.headers)
            self._settle(letter.origin, AuditOutcome.DEAD_LETTER, letter.reason)
        elif topic == "clean-text" and record.value is not None:
            said = clean_text.decode(record.value)
            self._settle(said["origin"], AuditOutcome.CLEAN_TEXT)
            self._hear(said["domain"], said.get("title") or "", said["text"], said["url"])

    def update(self) -> RunProgress:
        """Enter the outcomes that were read, and return the progress.

        Call this method about twice a second.
        """
        for entries in self._read:
            for entry in entries:
                self._ledger.settle(*entry)
        self._read.append([])
        progress = self.progress
        progress.accounts = self._ledger.accounts()
        self._measured.append((time.monotonic(), progress.settled))
        while self._measured[-1][0] - self._measured[0][0] > RECENT:
            self._measured.popleft()
        (then, before), (now, after) = self._measured[0], self._measured[-1]
        progress.rate = (after - before) / (now - then) if now > then else 0.0
        return progress

    def _settle(self, origin: str, outcome: AuditOutcome, detail: str = "") -> None:
        self._read[-1].append((origin, outcome, detail))

    def _hear(self, domain: str, title: str, text: str, url: str) -> None:
        progress = self.progress
        progress.domains[domain] = progress.domains.get(domain, 0) + 1
        if text:
            kept = [news for news in progress.news if news.domain != domain]
            progress.news.clear()
            progress.news.extend(kept[-2:])
            progress.news.append(News(domain, title, text, url))
