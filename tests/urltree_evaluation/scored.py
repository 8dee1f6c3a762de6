"""A workspace with invented scores, for the tests of statistics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import get_args

import orjson

from urltree_evaluation.corpus import Corpus, CorpusKind
from urltree_evaluation.prediction import Run
from urltree_evaluation.score import PRF, Boundary, Metric, Score, Segments
from urltree_evaluation.workspace import Workspace, write_lines

CORPUS = "made-up"


def page(  # noqa: PLR0913 - one parameter for each field
    name: str,
    f1: float | None = None,
    *,
    precision: float = 0.0,
    number: int = 1,
    is_sampled: bool = True,
    boundary: Boundary | None = None,
    segments: Segments | None = None,
    is_duplicate: bool = False,
) -> Score:
    """Return the score of a page.

    Its id `name` is "domain/anything", or "/anything" without a domain.
    """
    measured = () if f1 is None else get_args(Metric)
    return Score(
        id=name,
        domain=name.partition("/")[0],
        number=number,
        is_sampled=is_sampled,
        boundary=boundary,
        metrics={metric: PRF(precision, 0.0, f1 or 0.0) for metric in measured},
        segments=segments,
        is_duplicate=is_duplicate,
    )


def pages(values: Mapping[str, float]) -> list[Score]:
    """Return scores of sampled pages; `values` maps the id of each page to its F1."""
    return [page(name, f1) for name, f1 in values.items()]


def workspace(
    path: Path,
    scores: Mapping[str, Sequence[Score]],
    *,
    streams: Iterable[str] = (),
    kind: CorpusKind = "pages",
    tool: str | None = None,
) -> Workspace:
    """Write a workspace with one corpus of one part, and the given scores for each extractor."""
    made = Workspace(path)
    corpus = Corpus(CORPUS, kind, {"pages": max(map(len, scores.values()))}, "0" * 64, tool)
    _write(path / "corpora" / CORPUS / "corpus.json", corpus)
    for name, given in scores.items():
        run = Run(name, "as it comes", "1.0", name in streams, "0" * 64, 100)
        _write(path / "predictions" / CORPUS / name / "run.json", run)
        write_lines(made.scores_file(CORPUS, name, "pages"), given)
    return made


def _write(file: Path, record: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(orjson.dumps(record))
