"""Workspaces with pages, predictions and scores, for the tests of the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import orjson

from urltree_evaluation.corpus import Corpus, CorpusKind, CorpusPage
from urltree_evaluation.metrics.page_gold import PageGold
from urltree_evaluation.metrics.page_score import score_page
from urltree_evaluation.prediction import Prediction, Run
from urltree_evaluation.workspace import Workspace, write_lines

Say = Callable[[CorpusPage], str | None]
"""Function that returns an extractor's text for a page; None means that the extractor fails."""

TEXT = "Rain is expected tomorrow.\nTake your umbrella with you when you leave the house."


def whole(page: CorpusPage) -> str:
    """Return the complete gold of the page."""
    return page.gold or " ".join(page.gold_with)


def half(page: CorpusPage) -> str:
    """Return the first line of the gold, followed by a menu."""
    return f"{whole(page).partition(chr(10))[0]}\nHome Share"


def nothing(_page: CorpusPage) -> None:
    """Return None for any page, which means that the extractor fails."""


EXTRACTORS: Mapping[str, Say] = {"urltree-strict": half, "drop-seen": half, "plain": whole}
STREAMS = ("urltree-strict", "drop-seen")


def pages(domains: int, of_each: int, gold: str = TEXT) -> list[CorpusPage]:
    """Return `of_each` pages of each domain; the golds of a domain differ only in the last word."""
    return [
        CorpusPage(
            f"{domain}-{number}",
            f"http://site{domain}.example/{number}",
            f"site{domain}.example",
            f"<body><p>Home</p><p>{gold} {number}</p></body>",
            title="Rain",
            gold=f"{gold} {number}",
        )
        for domain in range(domains)
        for number in range(of_each)
    ]


def as_segments(given: Iterable[CorpusPage]) -> list[CorpusPage]:
    """Return the same pages, with segments as gold instead of a text."""
    return [
        replace(page, gold=None, gold_with=(page.gold or "",), gold_without=("Home",))
        for page in given
    ]


def add(  # noqa: PLR0913 - one parameter for each property of a corpus
    path: Path,
    name: str,
    given: Sequence[CorpusPage],
    extractors: Mapping[str, Say] = EXTRACTORS,
    *,
    kind: CorpusKind = "pages",
    tool: str | None = None,
) -> Workspace:
    """Add a scored corpus of one part to the workspace at `path`."""
    made = Workspace(path)
    _write(
        path / "corpora" / name / "corpus.json", Corpus(name, kind, {"all": len(given)}, "0", tool)
    )
    write_lines(made.pages_file(name, "all"), given)
    for extractor, say in extractors.items():
        numbers = Counter[str]()
        said = [_predicted(page, numbers, say(page)) for page in given]
        run = Run(extractor, "as it comes", "1.0", extractor in STREAMS, "0", None)
        _write(path / "predictions" / name / extractor / "run.json", run)
        write_lines(made.predictions_file(name, extractor, "all"), said)
        scores = [score_page(PageGold(page), each) for page, each in zip(given, said, strict=True)]
        write_lines(made.scores_file(name, extractor, "all"), scores)
    return made


def _predicted(page: CorpusPage, numbers: Counter[str], text: str | None) -> Prediction:
    numbers[page.domain] += 1
    said = Prediction(page.id, numbers[page.domain], is_sampled=True, text=text or "")
    if text is not None:
        return said
    return replace(said, failure="exception", message="ValueError: <b>no</b>")


def _write(file: Path, record: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(orjson.dumps(record))
