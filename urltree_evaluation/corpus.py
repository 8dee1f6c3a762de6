"""A corpus as it is stored on disk: pages with their gold in several parts, and a description.

corpora/NAME/corpus.json           a Corpus
corpora/NAME/PART.jsonl.zst        one CorpusPage a line. A stream has one part for each domain,
                                   in the order of time. Single pages are one part, "pages".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CorpusKind = Literal["pages", "stream"]


@dataclass(frozen=True, slots=True)
class CorpusPage:
    """One page with its gold.

    Attributes:
        id: identifier, unique in its corpus.
        url: URL of the page; "" if unknown.
        domain: registrable domain of the URL. If there is no URL, the label that the corpus gives.
            If there is no label either, the id of a single page, or "" for a page of a stream.
        html: the whole page, decoded.
        published: publication time in ISO 8601; None if unknown.
        title: title that the corpus gives for the page; None if it gives none.
        gold: the text that an extractor should return, one line for each block; None if unknown.
        gold_with: segments that the text must contain (trafilatura's evaluation).
        gold_without: segments that the text must not contain.
    """

    id: str
    url: str
    domain: str
    html: str
    published: str | None = None
    title: str | None = None
    gold: str | None = None
    gold_with: tuple[str, ...] = ()
    gold_without: tuple[str, ...] = ()

    @property
    def is_scored(self) -> bool:
        """Whether the page has gold. Pages without gold only teach extractors that learn."""
        return self.gold is not None or bool(self.gold_with or self.gold_without)


@dataclass(frozen=True, slots=True)
class Corpus:
    """The description of a corpus.

    Attributes:
        name: name of the corpus and of its folder.
        kind: "pages", or "stream" for many pages of each domain in the order of time.
        parts: number of pages in each part, by the part's name.
        sha256: hash of the uncompressed lines of all parts, in their order.
        tool: program that produced the gold, such as "readability.js"; such corpora are reported
            separately.
        source: names of the files that were read.
    """

    name: str
    kind: CorpusKind
    parts: dict[str, int]
    sha256: str
    tool: str | None = None
    source: str = ""


def evenly_spaced(total: int, wanted: int | None) -> list[int]:
    """Return the indexes of `wanted` evenly spaced pages out of `total`; None selects all pages."""
    if wanted is None or wanted >= total:
        return list(range(total))
    return [number * total // wanted for number in range(wanted)]
