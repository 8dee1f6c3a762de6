"""Compare predictions with gold and write the scores, file by file.

    corpora/CORPUS/PART ──▶ gold ──┐
    predictions/CORPUS/X/PART ─────┴──▶ scores/CORPUS/X/PART

One file of scores is one unit of work. Units of the same part follow each other, so a process reads
the gold of a part once for all extractors. A file of scores that is newer than its inputs is kept,
unless the code of the metrics or one of their libraries has changed. The file scores/.metrics
contains a hash of this code and of the libraries' versions.
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
    """One file of scores to write.

    Attributes:
        path: the work folder.
        corpus: name of the corpus.
        part: name of the part.
        extractor: name of the extractor.
        documents: number of predictions, computed from the run's description.
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
    """Score all predictions whose scores are missing or out of date.

    Only complete files are written, so after an interruption the next call continues.

    Args:
        workspace: a work folder with predictions.
        corpora: names of corpora; empty selects all.
        processes: number of processes.
        progress: display of the current unit and the number of documents.

    Returns:
        The number of documents that were scored.

    Raises:
        WorkspaceError: a corpus does not exist, or there are no predictions.
        PoolError: a process of the pool was killed.
    """
    progress = progress or Progress()
    chosen = workspace.named(corpora)
    if not any(workspace.extractors(corpus.name) for corpus in chosen):
        raise WorkspaceError(
            f"{workspace.path} has no predictions: run `urltree evaluate extract` first"
        )
    _delete_outdated(workspace.path / "scores", progress)
    units = [unit for corpus in chosen for unit in _units(workspace, corpus, progress)]
    progress.expect(sum(unit.documents for unit in units))
    for unit in map_unordered(_score_unit, units, processes):
        progress.now(f"{unit.extractor} on {unit.corpus}/{unit.part}")
        progress.advance(unit.documents)
    return sum(unit.documents for unit in units)


def _delete_outdated(folder: Path, progress: Progress) -> None:
    """Delete all scores if the metrics have changed, and temporary files of a killed run."""
    version, said = _version(), folder / ".metrics"
    if not said.exists() or said.read_bytes() != version:
        if folder.exists():
            progress.say("the code of the metrics has changed: scoring everything again")
            shutil.rmtree(folder)
        with appearing(said) as out:
            out.write(version)
    for unfinished in folder.glob("*/*/.*"):
        unfinished.unlink()


def _version() -> bytes:
    """Hash the code of the metrics, the versions of their libraries and the Unicode version."""
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
            progress.say(
                f"not scored: {extractor} was run on another version of {corpus.name}: run"
                " `urltree evaluate extract` again"
            )
            scores = workspace.scores_file(corpus.name, extractor, "").parent
            shutil.rmtree(scores, ignore_errors=True)
    for part in corpus.parts:
        for extractor, run in runs.items():
            if not _is_done(workspace, corpus.name, extractor, part):
                count = _documents(corpus, run, part)
                yield Unit(workspace.path, corpus.name, part, extractor, count)


def _is_done(workspace: Workspace, corpus: str, extractor: str, part: str) -> bool:
    """Return whether a part needs no scoring; delete its scores if it has no predictions."""
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
    """Return the gold of each page of a part, by page id; the HTML is not kept."""
    return {page.id: PageGold(page) for page in Workspace(path).pages(corpus, part)}
