"""Measure one site: learn each page with each window, and judge the page by each heuristic.

Most variants give the same verdict on a page. Therefore each different verdict is scored only once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import compress
from operator import not_
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from urltree.address.url_key import KeyScheme
from urltree.document import Document
from urltree.heuristics.protocol import Heuristic
from urltree.heuristics.registry import heuristic
from urltree.html.tokenizer import tokenize
from urltree.reading import Reader
from urltree.reading.source import check_source
from urltree.site.site import Site
from urltree.tree.window import DAY, Eviction
from urltree_evaluation.metrics.sequences import compare
from urltree_evaluation.metrics.words import split_words
from urltree_evaluation.workspace import SUFFIX

FOREVER = 100_000 * DAY
N = (5, 10, 20, 50, *range(100, 1_001, 100))  # the paper has 100, 200, … 1,000
DOCUMENTS = (5, 10, 20, 50, 100, 200, 500, 1_000)
DAYS = (2, 7, 14, 30, 90, 365)

BoilerplateFlags = tuple[bool, ...]


class SiteF1(NamedTuple):
    """The F1 of each page of a site with each variant."""

    site: str
    variants: tuple[str, ...]
    f1: NDArray[np.float32]  # a row for each variant, a column for each page


HEURISTICS: dict[str, Heuristic] = {
    name: heuristic(name)
    for name in (
        "strict",
        "strict-at-domain",
        *(f"{family}-{n}" for family in ("strict-support", "relaxed-at-domain") for n in N),
    )
}
EVICTIONS: dict[str, Eviction] = {
    "paper's": Eviction(),
    **{f"newest {n:,}": Eviction(n, FOREVER, keep=n) for n in DOCUMENTS},
    **{f"last {days} days": Eviction(1_000_000, days * DAY, keep=5) for days in DAYS},
}
# The pages are judged when all pages of the site are known, so nothing more can be learned.
TWO_PASSES = "strict, two passes"
EVICTED = ("strict", "strict-at-domain")  # heuristics that are measured with every eviction


def variants() -> tuple[str, ...]:
    """Return the names of all variants in order; a name is `heuristic` or `heuristic, eviction`."""
    windows = (f"{name}, {evicted}" for name in EVICTED for evicted in EVICTIONS)
    return (*HEURISTICS, *windows, TWO_PASSES)


def measure_site(file: Path) -> SiteF1:
    """Measure the stream of a site from its first page to its last page, without duplicates."""
    scheme, seen = KeyScheme(), set[str]()
    whole = Site(HEURISTICS["strict"], None)
    windows = [
        Site(HEURISTICS[name], evicted) for name in EVICTED for evicted in EVICTIONS.values()
    ]
    scores: list[list[float]] = []
    learned: list[tuple[Document, list[str]]] = []
    for number, record in enumerate(Reader().read([str(file)])):
        assert isinstance(record, Mapping)  # noqa: S101 - the streams are well formed
        page, origin = check_source(record, f"claims/0/{number}")
        key = scheme.key(page.final_url or "", partial(getattr, page, "title"))
        if key.id in seen:
            continue
        seen.add(key.id)
        document = Document.of(page, key, tokenize(page.html), origin)
        gold = split_words(record["gold"])
        verdicts = list(_verdicts(document, whole, windows))
        scores.append(_scores(document, gold, verdicts))
        learned.append((document, gold))
    for number, (document, gold) in enumerate(learned):
        scores[number] += _scores(document, gold, [whole.judge(document).boilerplate])
    site = file.name.removesuffix(SUFFIX)
    return SiteF1(site, variants(), np.array(scores, dtype=np.float32).T)


def _verdicts(document: Document, whole: Site, windows: list[Site]) -> Iterator[BoilerplateFlags]:
    """Learn a page, and yield the verdict of each variant on it in the order of `variants`.

    The last variant, `TWO_PASSES`, is not included.
    """
    whole.learn(document, None)
    leaf = whole.tree.leaf(document.key_bytes)
    for each in HEURISTICS.values():
        yield each.judge(document, leaf, whole.paths).boilerplate
    for domain in windows:
        yield domain.learn(document, None).verdict.boilerplate


def _scores(document: Document, gold: list[str], verdicts: list[BoilerplateFlags]) -> list[float]:
    blocks = [split_words(block.text) for block in document.blocks]
    known: dict[BoilerplateFlags, float] = {}
    for verdict in set(verdicts):
        kept = compress(blocks, map(not_, verdict))
        known[verdict] = compare(gold, [word for block in kept for word in block]).f1
    return [known[verdict] for verdict in verdicts]
