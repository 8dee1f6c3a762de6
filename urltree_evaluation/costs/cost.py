"""The cost of extractors, as stored on disk.

WORK/cost.json    a Cost
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

FILE = "cost.json"


@dataclass(frozen=True, slots=True)
class CostlyDocument:
    """A document that took an extractor long.

    Attributes:
        corpus: name of its corpus.
        id: id of its page.
        ratio: CPU time of the extractor divided by that of a bare parse of the document.
    """

    corpus: str
    id: str
    ratio: float


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A document on which an extractor was not measured.

    Attributes:
        corpus: name of its corpus.
        id: id of its page.
        why: exception, time, memory or crash.
    """

    corpus: str
    id: str
    why: str


@dataclass(frozen=True, slots=True)
class ExtractorCost:
    """The cost of one extractor.

    Attributes:
        ratio: CPU time for all its documents divided by that of bare parses of the same documents.
        seconds: CPU time for one pass over its documents, in seconds.
        documents: number of documents it was measured on; stream extractors are measured on streams
            only.
        bytes: size of these documents' HTML in UTF-8.
        quartiles: first quartile, median and third quartile of the documents' ratios.
        worst: documents with the highest ratios, highest first.
        left_out: documents that failed here, or failed in extract by time, memory or crash.
        peak_memory: highest memory of any part in extract, in bytes above the start; None if it was
            not run.
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
    """The cost of all extractors.

    Attributes:
        documents: number of documents that were measured.
        bytes: size of their HTML in UTF-8.
        seconds: CPU time of a bare parse of each of them, in seconds.
        extractors: cost by name; an extractor that failed on all its documents is missing.
        basis: hash of everything that was measured: corpora, documents, extractors and versions.
    """

    documents: int
    bytes: int
    seconds: float
    extractors: dict[str, ExtractorCost]
    basis: str = ""


def load_cost(work: Path) -> Cost | None:
    """Read the costs in a work folder, or return None if they were not measured."""
    file = work / FILE
    if not file.exists():
        return None
    fields = orjson.loads(file.read_bytes())
    of_each = {name: _parse_extractor_cost(each) for name, each in fields.pop("extractors").items()}
    return Cost(**fields, extractors=of_each)


def _parse_extractor_cost(fields: dict[str, Any]) -> ExtractorCost:
    quartiles = tuple(fields.pop("quartiles"))
    worst = tuple(CostlyDocument(**each) for each in fields.pop("worst"))
    left_out = tuple(LeftOut(**each) for each in fields.pop("left_out"))
    return ExtractorCost(**fields, quartiles=quartiles, worst=worst, left_out=left_out)
