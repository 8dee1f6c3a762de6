"""Run extractors on corpora: pages in, predictions out, one process for each part.

    corpora, extractors ──▶ plan ──▶ parts, largest first ──▶ PartRuns in parallel ──▶ files
                              └──▶ existing predictions of the same code are kept

A stream extractor gets all pages of a part in order. In a stream, each other extractor gets evenly
spaced pages of the part.
"""

from __future__ import annotations

import shutil
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from selectors import EVENT_READ, DefaultSelector

import orjson

from urltree_evaluation.corpus import Corpus, evenly_spaced
from urltree_evaluation.extractors.catalogue import extractor_version
from urltree_evaluation.extractors.registry import RegisteredExtractor
from urltree_evaluation.prediction import Run
from urltree_evaluation.progress import Progress
from urltree_evaluation.running.calling import PartTask
from urltree_evaluation.running.part_run import PartRun
from urltree_evaluation.running.watching import MEGABYTES, SECONDS, Limits
from urltree_evaluation.workspace import Workspace, appearing

SAMPLE = 100  # evenly spaced pages of each part of a stream, on which extractors are compared

_LOOK = 0.1  # seconds between two checks of processes that send no line


def run_extractors(  # noqa: PLR0913 - one parameter for each option of the command
    workspace: Workspace,
    extractors: Mapping[str, RegisteredExtractor],
    *,
    corpora: Sequence[str] = (),
    sample: int | None = SAMPLE,
    processes: int = 1,
    seconds: float = SECONDS,
    megabytes: int = MEGABYTES,
    progress: Progress | None = None,
) -> int:
    """Make all predictions that are missing or out of date, also those of an interrupted run.

    Args:
        workspace: a work folder with corpora.
        extractors: the extractors to run, by name.
        corpora: names of corpora; empty selects all.
        sample: number of evenly spaced pages of each part of a stream; None means all pages.
        processes: number of processes that run at the same time.
        seconds: limit of CPU time for a page, in seconds. The limit of sleep is four times as high.
        megabytes: limit of memory for a process, in megabytes above its memory at the start.
        progress: display of the number of pages that have a result.

    Returns:
        The number of parts that were run.

    Raises:
        WorkspaceError: there is no corpus of one of these names.
    """
    progress = progress or Progress()
    parts = sorted(_plan(workspace, extractors, corpora, sample, progress), key=_bytes)
    progress.expect(sum(map(_pages, parts)))
    waiting, running = deque(reversed(parts)), list[PartRun]()
    try:
        while waiting or running:
            while waiting and len(running) < processes:
                running.append(PartRun(waiting.popleft(), Limits(seconds, megabytes)))
            _wait(running)
            progress.now(", ".join(_name(run.part) for run in running))
            progress.advance(sum([run.step() for run in running]))
            running = [run for run in running if not run.is_done]
    finally:
        for run in running:
            run.stop()
    return len(parts)


def _plan(
    workspace: Workspace,
    extractors: Mapping[str, RegisteredExtractor],
    corpora: Sequence[str],
    sample: int | None,
    progress: Progress,
) -> Iterator[PartTask]:
    """Yield the parts to run, after deleting predictions that are out of date."""
    for corpus in workspace.named(corpora):
        of_stream = sample if corpus.kind == "stream" else None
        for extractor in extractors.values():
            run = Run(
                extractor.name,
                extractor.options,
                extractor_version(extractor),
                extractor.is_stream,
                corpus.sha256,
                of_stream,
            )
            _delete_outdated(workspace, corpus, run, progress)
            for name in corpus.parts:
                if not workspace.predictions_file(corpus.name, extractor.name, name).exists():
                    yield PartTask(workspace, corpus.name, name, extractor, of_stream)


def _delete_outdated(workspace: Workspace, corpus: Corpus, run: Run, progress: Progress) -> None:
    """Delete predictions and scores of a different run, and store the new run's description."""
    before = workspace.run(corpus.name, run.extractor)
    folder = workspace.predictions_file(corpus.name, run.extractor, "").parent
    if before != run:
        if before is not None:
            progress.say(
                f"deleting predictions of {run.extractor} on {corpus.name}:"
                f" {_changed_fields(before, run)} changed"
            )
        shutil.rmtree(folder, ignore_errors=True)
        scores = workspace.scores_file(corpus.name, run.extractor, "").parent
        shutil.rmtree(scores, ignore_errors=True)
        with appearing(folder / "run.json") as out:
            out.write(orjson.dumps(run))
    for unfinished in folder.glob(".*"):
        unfinished.unlink()


def _changed_fields(before: Run, now: Run) -> str:
    fields = [name for name in Run.__slots__ if getattr(before, name) != getattr(now, name)]
    return ", ".join(name.removesuffix("_sha256") for name in fields)


def _wait(running: Sequence[PartRun]) -> None:
    """Wait until a process sends a line, or until it is time to check all processes."""
    with DefaultSelector() as selector:
        for run in running:
            selector.register(run, EVENT_READ)
        selector.select(_LOOK)


def _pages(part: PartTask) -> int:
    """Return the number of pages to process; those without gold have no result."""
    pages = part.workspace.corpora[part.corpus].parts[part.name]
    return pages if part.extractor.is_stream else len(evenly_spaced(pages, part.sample))


def _bytes(part: PartTask) -> float:
    """Estimate the compressed size of the pages to process, which predicts the duration."""
    pages = part.workspace.corpora[part.corpus].parts[part.name]
    size = part.workspace.pages_file(part.corpus, part.name).stat().st_size
    return size * _pages(part) / max(pages, 1)


def _name(part: PartTask) -> str:
    return f"{part.extractor.name} on {part.corpus}/{part.name}"
