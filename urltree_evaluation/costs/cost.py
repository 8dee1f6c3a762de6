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
    """A document on which an extractor was slow.

    Attributes:
        corpus: name of the corpus.
        id: id of the page.
        ratio: CPU time of the extractor, divided by the CPU time of a bare parse of the document.
    """

    corpus: str
    id: str
    ratio: float


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A document on which an extractor was not measured.

    Attributes:
        corpus: name of the corpus.
        id: id of the page.
        why: "exception", "time", "memory" or "crash".
    """

    corpus: str
    id: str
    why: str


@dataclass(frozen=True, slots=True)
class ExtractorCost:
    """The cost of one extractor.

    Attributes:
        ratio: CPU time for all measured documents, divided by the CPU time of bare parses of these
            documents.
        seconds: CPU time for one pass over all measured documents, in seconds.
        documents: number of measured documents; a stream extractor is measured on streams only.
        bytes: total size of the HTML of these documents, in bytes of UTF-8.
        quartiles: first quartile, median and third quartile of the ratios of single documents.
        worst: documents with the highest ratios, highest first.
        left_out: documents on which the extractor failed in this measurement, or failed in
            `extract` because of time, memory or a crash.
        peak_memory: highest peak memory of any part in `extract`, in bytes above the memory at the
            start; None if `extract` did not run this extractor.
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
        bytes: total size of the HTML of these documents, in bytes of UTF-8.
        seconds: total CPU time of one bare parse of each document, in seconds.
        extractors: cost by name of the extractor; an extractor that failed on all documents is
            missing.
        basis: hash of everything that the result depends on: corpora, numbers of documents and
            passes, extractors, their options and their versions.
    """

    documents: int
    bytes: int
    seconds: float
    extractors: dict[str, ExtractorCost]
    basis: str = ""


def load_cost(work: Path) -> Cost | None:
    """Read the costs in a work folder; return None if no costs were measured."""
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
