"""Scoring: predictions held against gold, file to file.

    corpora/CORPUS/PART ──▶ gold ──┐
    predictions/CORPUS/X/PART ─────┴──▶ scores/CORPUS/X/PART

One file of scores is a unit of work. Units of a part follow each other, so that a process reads a
part's gold once for all extractors. A file that is newer than what it was made from is kept, unless
the metrics' code is another: scores/.metrics has its hash.
"""

from __future__ import annotations

import shutil
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import xxhash

from urltree_evaluation import metrics
from urltree_evaluation.corpus import Corpus
from urltree_evaluation.metrics.page_gold import PageGold
from urltree_evaluation.metrics.page_score import score_page
from urltree_evaluation.pool import map_unordered
from urltree_evaluation.prediction import Run
from urltree_evaluation.progress import Progress
from urltree_evaluation.score import Score
from urltree_evaluation.workspace import Workspace, WorkspaceError, appearing, write_lines


class Unit(NamedTuple):
    """One file of scores that is to be written.

    Attributes:
        documents: how many predictions there are, as the run says.
    """

    path: Path
    corpus: str
    part: str
    extractor: str
    documents: int


def score_predictions(
    workspace: Workspace,
    *,
    corpora: Sequence[str] = (),
    processes: int = 1,
    progress: Progress | None = None,
) -> int:
    """Score all predictions that are not scored yet, or were made anew, or by other metrics.

    An interruption leaves whole files alone; the next call goes on.

    Args:
        workspace: with predictions.
        corpora: names; none are all.
        processes: how many at once.
        progress: told of units and documents.

    Returns:
        how many documents were scored.

    Raises:
        WorkspaceError: no such corpus, no predictions, or a process was killed.
    """
    progress = progress or Progress()
    chosen = workspace.named(corpora)
    if not any(workspace.extractors(corpus.name) for corpus in chosen):
        raise WorkspaceError(
            f"{workspace.path} has no predictions: urltree evaluate extract makes them"
        )
    _make_room(workspace.path / "scores", progress)
    units = [unit for corpus in chosen for unit in _units(workspace, corpus, progress)]
    progress.expect(sum(unit.documents for unit in units))
    for unit in map_unordered(_score_unit, units, processes):
        progress.now(f"{unit.extractor} on {unit.corpus}/{unit.part}")
        progress.advance(unit.documents)
    return sum(unit.documents for unit in units)


def _make_room(folder: Path, progress: Progress) -> None:
    """Delete what other metrics scored, and what was being written when a run was killed."""
    version, said = _version(), folder / ".metrics"
    if not said.exists() or said.read_bytes() != version:
        if folder.exists():
            progress.say("scores are of other metrics: made anew")
            shutil.rmtree(folder)
        with appearing(said) as out:
            out.write(version)
    for unfinished in folder.glob("*/*/.*"):
        unfinished.unlink()


def _version() -> bytes:
    """Of the metrics: their code, their libraries, and the categories of characters."""
    files = sorted(Path(str(metrics.__file__)).parent.glob("*.py"))
    libraries = (metadata.version("rapidfuzz"), metadata.version("cydifflib"))
    parts = ([file.read_bytes() for file in files], libraries, unicodedata.unidata_version)
    return xxhash.xxh3_128_hexdigest(repr(parts).encode()).encode()


def _units(workspace: Workspace, corpus: Corpus, progress: Progress) -> Iterator[Unit]:
    runs = dict[str, Run]()
    for extractor in workspace.extractors(corpus.name):
        run = workspace.run(corpus.name, extractor)
        if run and run.corpus_sha256 == corpus.sha256:
            runs[extractor] = run
        else:
            progress.say(f"not scored: {extractor} was run on another {corpus.name}; extract it")
            scores = workspace.scores_file(corpus.name, extractor, "").parent
            shutil.rmtree(scores, ignore_errors=True)
    for part in corpus.parts:
        for extractor, run in runs.items():
            if not _is_done(workspace, corpus.name, extractor, part):
                count = _documents(corpus, run, part)
                yield Unit(workspace.path, corpus.name, part, extractor, count)


def _is_done(workspace: Workspace, corpus: str, extractor: str, part: str) -> bool:
    """There is nothing to score, or scores are newer; without predictions old scores go."""
    scores = workspace.scores_file(corpus, extractor, part)
    predictions = workspace.predictions_file(corpus, extractor, part)
    if not predictions.exists():
        scores.unlink(missing_ok=True)
        return True
    made_from = (predictions, workspace.pages_file(corpus, part))
    newest = max(file.stat().st_mtime_ns for file in made_from)
    return scores.exists() and scores.stat().st_mtime_ns > newest


def _documents(corpus: Corpus, run: Run, part: str) -> int:
    pages = corpus.parts[part]
    is_sampled = corpus.kind == "stream" and not run.is_stream and run.sample is not None
    return min(pages, run.sample or 0) if is_sampled else pages


def _score_unit(unit: Unit) -> Unit:
    workspace = Workspace(unit.path)
    write_lines(
        workspace.scores_file(unit.corpus, unit.extractor, unit.part), _scores(workspace, unit)
    )
    return unit


def _scores(workspace: Workspace, unit: Unit) -> Iterator[Score]:
    written = workspace.pages_file(unit.corpus, unit.part).stat().st_mtime_ns
    gold = _gold(unit.path, unit.corpus, unit.part, written)
    for prediction in workspace.predictions(unit.corpus, unit.extractor, unit.part):
        yield score_page(gold[prediction.id], prediction)


@lru_cache(maxsize=1)
def _gold(path: Path, corpus: str, part: str, _written: int) -> dict[str, PageGold]:
    """A part's gold by id, without its HTML."""
    return {page.id: PageGold(page) for page in Workspace(path).pages(corpus, part)}
