"""The stored result of an extractor for a page: its text, or why there is none (thesis, chapter 5).

predictions/CORPUS/EXTRACTOR/run.json          a Run: what was run, on which corpus
predictions/CORPUS/EXTRACTOR/PART.jsonl.zst    one Prediction a line, in the order of the pages
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Failure = Literal["exception", "time", "memory", "crash", "duplicate"]


@dataclass(frozen=True, slots=True)
class Prediction:
    """The result of one extractor for one page.

    Attributes:
        id: id of the page.
        number: number of the page in its domain, from 1.
        is_sampled: whether the page is one of the evenly spaced pages that all extractors receive.
            Rankings use these pages only.
        text: extracted text; "" if the extractor found none or failed.
        failure: why there is no text. "duplicate" is not an error: the extractor has already
            returned this text for another page. Duplicates are counted but not scored.
        message: one line about the failure; for a duplicate, the step that detected the duplicate.
        cpu: CPU time of the process and its threads for this page, in seconds.
        memory: number of bytes by which this page increased the peak memory of the process.
    """

    id: str
    number: int
    is_sampled: bool
    text: str
    failure: Failure | None = None
    message: str = ""
    cpu: float = 0.0
    memory: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """The description of a run. If the description changes, the predictions are out of date.

    Attributes:
        extractor: name of the extractor.
        options: options of the extractor, in words.
        version: version of the extractor's package, and hash of our code that calls the package.
        is_stream: whether the extractor learns from earlier pages.
        corpus_sha256: hash of the corpus.
        sample: number of evenly spaced pages of each part of a stream; None means all pages.
    """

    extractor: str
    options: str
    version: str
    is_stream: bool
    corpus_sha256: str
    sample: int | None
