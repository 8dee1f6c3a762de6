"""Read the outcome of every page: clean text, a duplicate, a dead letter, or nothing."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

import orjson

from models.dead_letter import DeadLetter
from models.headers.names import ORIGIN, header
from tests.job.harness import Job

OUTPUTS = ("clean-text", "duplicates", "dead-letters")


@dataclass(frozen=True)
class Outcomes:
    """All outcomes of a job.

    Attributes:
        pages: origins of the published pages, without re-keyed copies.
        said: number of output records with each (topic, key, value), by origin of the page.
    """

    pages: frozenset[str]
    said: dict[str, Counter[tuple[str, bytes, bytes]]]

    @property
    def missing(self) -> set[str]:
        """Origins of the pages without an outcome."""
        return set(self.pages) - set(self.said)

    @property
    def repeats(self) -> int:
        """Number of records with the same page, topic, key and revision as an earlier record."""
        return sum(
            counted.total() - len({_place(*said) for said in counted})
            for counted in self.said.values()
        )

    @property
    def changed(self) -> list[str]:
        """Origins of the pages with two different values for the same topic, key and revision."""
        return [
            origin
            for origin, counted in self.said.items()
            if len({_place(*said) for said in counted}) < len(counted)
        ]

    def places(self, origin: str) -> set[tuple[str, bytes]]:
        """Return the topic and key of each outcome of a page."""
        return {(topic, key) for topic, key, _ in self.said[origin]}

    def of(self, topic: str) -> int:
        """Return the number of pages with an outcome in a topic."""
        return sum(any(said[0] == topic for said in counted) for counted in self.said.values())


def _place(topic: str, key: bytes, value: bytes) -> tuple[str, bytes, int]:
    """Return topic, key and revision of an outcome; the revision is 0 outside clean-text."""
    revision = orjson.loads(value or b"{}").get("revision", 0) if topic == "clean-text" else 0
    return topic, key, revision


def outcomes(job: Job) -> Outcomes:
    """Read all outputs of a job."""
    pages = {
        f"{job.settings.topic('raw-html')}/{record.partition}/{record.offset}"
        for record in job.read("raw-html")
        if header(record.headers, ORIGIN) is None
    }
    said: dict[str, Counter[tuple[str, bytes, bytes]]] = defaultdict(Counter)
    for topic in OUTPUTS:
        for record in job.read(topic):
            key, value = record.key or b"", record.value or b""
            origin = orjson.loads(value)["origin"] if topic == "clean-text" else key.decode()
            said[origin][topic, key, value] += 1
    return Outcomes(frozenset(pages), dict(said))


def clean_texts(job: Job) -> list[dict[str, Any]]:
    """Return the values of the topic clean-text; those of each partition are in order."""
    return [orjson.loads(record.value or b"null") for record in job.read("clean-text")]


def dead_letters(job: Job) -> list[DeadLetter]:
    """Return all dead letters; those of each partition are in order."""
    return [
        DeadLetter.from_record(record.key, record.value, record.headers)
        for record in job.read("dead-letters")
    ]
