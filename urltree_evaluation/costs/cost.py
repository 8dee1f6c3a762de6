"""What extractors cost, as kept on disk.

WORK/cost.json    Cost
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

FILE = "cost.json"


@dataclass(frozen=True, slots=True)
class CostlyDocument:
    """One that an extractor took long for.

    Attributes:
        ratio: of its CPU to a bare parse of it.
    """

    corpus: str
    id: str
    ratio: float


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One that an extractor was not measured on.

    Attributes:
        why: exception, time, memory or crash.
    """

    corpus: str
    id: str
    why: str


@dataclass(frozen=True, slots=True)
class ExtractorCost:
    """Of one extractor.

    Attributes:
        ratio: CPU of all its documents by CPU of bare parses of the same.
        seconds: of CPU, for all its documents once.
        documents: that it was measured on; a stream extractor on those of streams alone.
        bytes: of their HTML in UTF-8.
        quartiles: of the documents' ratios: first, median, third.
        worst: by ratio, the worst first.
        left_out: failed here, or in extract by time, memory or crash.
        peak_memory: bytes above idle, the most of all parts in extract; None where it was not run.
    """

    ratio: float
    seconds: float
    documents: int
    bytes: int
    quartiles: tuple[float, float, float]
    worst: tuple[CostlyDocument, ...]
    left_out: tuple[LeftOut, ...]
    peak_memory: int | None


@dataclass(frozen=True, slots=True)
class Cost:
    """Of all extractors.

    Attributes:
        documents: that were given.
        bytes: of their HTML in UTF-8.
        seconds: of CPU, for a bare parse of each.
        extractors: by name; one that failed on all its documents is not among them.
        basis: hash of what was measured: corpora, documents, extractors and their versions.
    """

    documents: int
    bytes: int
    seconds: float
    extractors: dict[str, ExtractorCost]
    basis: str = ""


def load_cost(work: Path) -> Cost | None:
    """What the verb cost measured in a work folder; None where it did not."""
    file = work / FILE
    if not file.exists():
        return None
    fields = orjson.loads(file.read_bytes())
    of_each = {name: _of_one(each) for name, each in fields.pop("extractors").items()}
    return Cost(**fields, extractors=of_each)


def _of_one(fields: dict[str, Any]) -> ExtractorCost:
    quartiles = tuple(fields.pop("quartiles"))
    worst = tuple(CostlyDocument(**each) for each in fields.pop("worst"))
    left_out = tuple(LeftOut(**each) for each in fields.pop("left_out"))
    return ExtractorCost(**fields, quartiles=quartiles, worst=worst, left_out=left_out)
