"""Run extractors on corpora: pages in, predictions out, each part in a process of its own.

    corpora, extractors ──▶ plan ──▶ parts, largest first ──▶ PartRuns at a time ──▶ files
                              └──▶ what is there and was made by the same code is kept

A stream extractor is given all pages of a part in order; the others, evenly spaced pages of it.
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

SAMPLE = 100  # pages of each part of a stream: issue 5, row 7

_LOOK = 0.1  # seconds between two looks at processes that say nothing


def run_extractors(  # noqa: PLR0913 - the options of the verb
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
    """Make the predictions that are missing or stale; what is interrupted is continued so.

    Args:
        workspace: with corpora.
        extractors: by name.
        corpora: of these names; all, where there is none.
        sample: evenly spaced pages of each part of a stream that rankings are of; None is all.
        processes: that run at the same time.
        seconds: of CPU that a page may take; it may sleep four times as many.
        megabytes: of memory that a process may take above what it began with.
        progress: counts the pages with outcomes.

    Returns:
        Parts that were run.

    Raises:
        WorkspaceError: there is no corpus of that name.
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
    """The parts to be run; what is stale is deleted first."""
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
            _make_room(workspace, corpus, run, progress)
            for name in corpus.parts:
                if not workspace.predictions_file(corpus.name, extractor.name, name).exists():
                    yield PartTask(workspace, corpus.name, name, extractor, of_stream)


def _make_room(workspace: Workspace, corpus: Corpus, run: Run, progress: Progress) -> None:
    """Delete what another run left of predictions and their scores, and say what runs now."""
    before = workspace.run(corpus.name, run.extractor)
    folder = workspace.predictions_file(corpus.name, run.extractor, "").parent
    if before != run:
        if before is not None:
            progress.say(f"{run.extractor} on {corpus.name} is stale: {_changed(before, run)}")
        shutil.rmtree(folder, ignore_errors=True)
        scores = workspace.scores_file(corpus.name, run.extractor, "").parent
        shutil.rmtree(scores, ignore_errors=True)
        with appearing(folder / "run.json") as out:
            out.write(orjson.dumps(run))
    for unfinished in folder.glob(".*"):
        unfinished.unlink()


def _changed(before: Run, now: Run) -> str:
    fields = [name for name in Run.__slots__ if getattr(before, name) != getattr(now, name)]
    return ", ".join(f"another {name.removesuffix('_sha256')}" for name in fields)


def _wait(running: Sequence[PartRun]) -> None:
    """Until one of them says something, or it is time to look at all."""
    with DefaultSelector() as selector:
        for run in running:
            selector.register(run, EVENT_READ)
        selector.select(_LOOK)


def _pages(part: PartTask) -> int:
    """Pages with outcomes, at most: those without gold have none."""
    pages = part.workspace.corpora[part.corpus].parts[part.name]
    return pages if part.extractor.is_stream else len(evenly_spaced(pages, part.sample))


def _bytes(part: PartTask) -> float:
    """Compressed bytes of the pages that are given: how long it may take."""
    pages = part.workspace.corpora[part.corpus].parts[part.name]
    size = part.workspace.pages_file(part.corpus, part.name).stat().st_size
    return size * _pages(part) / max(pages, 1)


def _name(part: PartTask) -> str:
    return f"{part.extractor.name} on {part.corpus}/{part.name}"
