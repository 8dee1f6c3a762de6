"""A corpus in its one form on disk: parts of pages with gold, and what is known of them.

corpora/NAME/corpus.json           Corpus
corpora/NAME/PART.jsonl.zst        CorpusPage a line; a stream has a part for each domain,
                                   in the order of time; classical pages are one part, "pages"
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CorpusKind = Literal["pages", "stream"]


@dataclass(frozen=True, slots=True)
class CorpusPage:
    """One page.

    Attributes:
        id: unique in its corpus.
        url: "" where it is not known.
        domain: registrable domain of the URL; without URL the corpus' own label; without that
            the page's id, and in a stream "".
        html: the whole page, decoded.
        published: ISO 8601, where known.
        title: as the corpus gives it, where it does.
        gold: the text that should come out, one line for each block; None where there is none.
        gold_with: segments that must be in the text (trafilatura's evaluation).
        gold_without: segments that must not.
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
        """Has any gold; a page of a stream without it is learned from alone."""
        return self.gold is not None or bool(self.gold_with or self.gold_without)


@dataclass(frozen=True, slots=True)
class Corpus:
    """What is known of a corpus.

    Attributes:
        kind: a stream is many pages of each domain, in the order of time.
        parts: pages in each part, by name.
        sha256: of all pages as they are on disk, uncompressed, part after part.
        tool: whose output the gold is, such as "readability.js"; never pooled in a ranking.
        source: where it came from: the names of the files that were read.
    """

    name: str
    kind: CorpusKind
    parts: dict[str, int]
    sha256: str
    tool: str | None = None
    source: str = ""


def evenly_spaced(total: int, wanted: int | None) -> list[int]:
    """Numbers of `wanted` evenly spaced pages of `total`, from the first on; None is all."""
    if wanted is None or wanted >= total:
        return list(range(total))
    return [number * total // wanted for number in range(wanted)]
