"""What an extractor said of a page, or why it said nothing: kept on disk, raw (thesis, chapter 5).

predictions/CORPUS/EXTRACTOR/run.json          Run: what was run, on which corpus
predictions/CORPUS/EXTRACTOR/PART.jsonl.zst    Prediction a line, in the order of the pages
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Failure = Literal["exception", "time", "memory", "crash", "duplicate"]


@dataclass(frozen=True, slots=True)
class Prediction:
    """One page's outcome.

    Attributes:
        id: of the page.
        number: of the page in its domain, from 1.
        is_sampled: one of the evenly spaced pages that all extractors get: rankings are of these.
        text: "" where nothing was found, or it failed.
        failure: why there is no text. A duplicate is no failure: its text was said before, under
            another id; it is counted and not scored.
        message: of the failure, one line; of a duplicate, the step that found it.
        cpu: seconds of this process and its threads.
        memory: bytes by which the peak of the process rose during the page, 0 where it did not.
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
    """What was run: another corpus, version, options or sample make predictions stale.

    Attributes:
        version: of the extractor's package, and of the file that wraps it.
        sample: evenly spaced pages of each part of a stream; None is all.
    """

    extractor: str
    options: str
    version: str
    is_stream: bool
    corpus_sha256: str
    sample: int | None
