"""Measure the cost of extractors: CPU time as a multiple of a bare parse, and peak memory.

    a few documents ──▶ measuring.py, in a child process ──▶ seconds ──────────┐
    predictions/ ──▶ peak memory, and documents to leave out (hung, crashed) ──┴──▶ cost.json

A ratio is a quotient of sums: the CPU time for all documents that an extractor was measured on,
divided by the CPU time of bare parses of the same documents. The CPU time for a document is the
median of several passes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from statistics import median

import numpy as np
import orjson
import xxhash

from urltree_evaluation.costs.cost import (
    FILE,
    Cost,
    CostlyDocument,
    ExtractorCost,
    LeftOut,
    load_cost,
)
from urltree_evaluation.costs.measure_run import MeasureRun
from urltree_evaluation.costs.measuring import PARSE, DocumentId, Documents, Trial
from urltree_evaluation.extractors.catalogue import extractor_version
from urltree_evaluation.extractors.registry import RegisteredExtractor
from urltree_evaluation.progress import Progress
from urltree_evaluation.running.watching import MEGABYTES, SECONDS, Limits
from urltree_evaluation.workspace import Workspace, appearing

PASSES = 3
OF_STREAM = 5  # documents of each part of a stream
OF_PAGES = 10  # documents of each corpus of single pages

_WORST = 10
_DEADLY = ("time", "memory", "crash")


def measure_costs(  # noqa: PLR0913 - one parameter for each option of the command
    workspace: Workspace,
    extractors: Mapping[str, RegisteredExtractor],
    *,
    corpora: Sequence[str] = (),
    of_stream: int = OF_STREAM,
    of_pages: int = OF_PAGES,
    passes: int = PASSES,
    seconds: float = SECONDS,
    megabytes: int = MEGABYTES,
    progress: Progress | None = None,
) -> Cost:
    """Measure extractors side by side and write cost.json, unless the existing file is up to date.

    Args:
        workspace: a work folder with corpora, and with predictions for peak memory.
        extractors: the extractors to measure, by name.
        corpora: names of corpora; empty selects all.
        of_stream: number of evenly spaced documents of each part of a stream.
        of_pages: number of evenly spaced documents of each corpus of single pages.
        passes: number of passes over all documents.
        seconds: limit of CPU time for a document, as in `extract`; a document that exceeds it is
            left out.
        megabytes: limit of memory for a document, as in `extract`; a document that exceeds it is
            left out.
        progress: display of the number of documents.

    Raises:
        WorkspaceError: a corpus does not exist or cannot be read, or the measuring process fails
            before it calls an extractor.
    """
    progress = progress or Progress()
    documents = Documents(workspace, tuple(workspace.named(corpora)), of_stream, of_pages)
    basis = _hash_basis(documents, extractors.values(), passes)
    peaks, left_out = _read_extraction(documents, extractors)
    before = load_cost(workspace.path)
    if before is not None and before.basis == basis:
        progress.say(f"{FILE} is up to date and is kept; delete it to measure again")
        return _write(workspace, _update_peaks(before, peaks))
    progress.expect(passes * len(documents))
    side_by_side = {PARSE.name: PARSE, **extractors}
    limits = Limits(seconds, megabytes)
    measuring = MeasureRun(documents, side_by_side, passes, limits, left_out)
    try:
        while not measuring.is_done:
            progress.advance(measuring.step())
    finally:
        measuring.stop()
    found = summarise_costs(measuring.seconds, measuring.sizes, left_out, peaks)
    return _write(workspace, replace(found, basis=basis))


def summarise_costs(
    seconds: Mapping[Trial, Sequence[float]],
    sizes: Mapping[DocumentId, int],
    left_out: Mapping[Trial, str],
    peaks: Mapping[str, int | None],
) -> Cost:
    """Compute the cost from all measurements; documents whose bare parse failed are ignored.

    Args:
        seconds: CPU time of each pass in seconds, by document and extractor.
        sizes: size of each document in bytes, by corpus and id.
        left_out: reason why a document is ignored for an extractor.
        peaks: peak memory of each extractor in bytes; None if unknown.
    """
    taken: dict[str, dict[DocumentId, float]] = defaultdict(dict)
    for key, passes in seconds.items():
        if key not in left_out:
            taken[key.extractor][key[:2]] = median(passes)
    failed: dict[str, list[LeftOut]] = defaultdict(list)
    for key, why in left_out.items():
        failed[key.extractor].append(LeftOut(key.corpus, key.id, why))
    bare = taken[PARSE.name]
    return Cost(
        documents=len(bare),
        bytes=sum(map(sizes.__getitem__, bare)),
        seconds=sum(bare.values()),
        extractors={
            name: _cost_of_one(taken[name], bare, sizes, failed[name], peak)
            for name, peak in peaks.items()
            if taken[name].keys() & bare.keys()
        },
    )


def _cost_of_one(
    taken: Mapping[DocumentId, float],
    bare: Mapping[DocumentId, float],
    sizes: Mapping[DocumentId, int],
    left_out: Sequence[LeftOut],
    peak_memory: int | None,
) -> ExtractorCost:
    both = taken.keys() & bare.keys()
    ratios = {document: taken[document] / bare[document] for document in both}
    worst = sorted(ratios, key=ratios.__getitem__, reverse=True)[:_WORST]
    first, middle, third = np.percentile(list(ratios.values()), [25, 50, 75])
    return ExtractorCost(
        ratio=sum(taken[document] for document in both) / sum(bare[document] for document in both),
        seconds=sum(taken[document] for document in both),
        documents=len(both),
        bytes=sum(sizes[document] for document in both),
        quartiles=(float(first), float(middle), float(third)),
        worst=tuple(CostlyDocument(*document, ratios[document]) for document in worst),
        left_out=tuple(left_out),
        peak_memory=peak_memory,
    )


def _update_peaks(found: Cost, peaks: Mapping[str, int | None]) -> Cost:
    """Update peak memory, because `extract` may have run again since the measurement."""
    each = found.extractors.items()
    return replace(
        found, extractors={name: replace(one, peak_memory=peaks[name]) for name, one in each}
    )


def _write(workspace: Workspace, found: Cost) -> Cost:
    with appearing(workspace.path / FILE) as out:
        out.write(orjson.dumps(found, option=orjson.OPT_INDENT_2))
    return found


def _hash_basis(
    documents: Documents, extractors: Iterable[RegisteredExtractor], passes: int
) -> str:
    corpora = [(corpus.name, corpus.sha256) for corpus in documents.corpora]
    versions = [(each.name, each.options, extractor_version(each)) for each in extractors]
    what = (corpora, documents.of_stream, documents.of_pages, versions, passes)
    return xxhash.xxh3_128_hexdigest(repr(what).encode())


def _read_extraction(
    documents: Documents, extractors: Iterable[str]
) -> tuple[dict[str, int | None], dict[Trial, str]]:
    """Read the measurements of `extract`, in one pass over all predictions.

    Returns:
        First, the peak memory of each extractor in bytes above the memory at the start: the highest
        peak of any part. The peak of a part is the sum of the increases on its pages. Second, the
        documents that killed a process, with the reason; they would kill this process, too.
    """
    peaks: dict[str, int | None] = dict.fromkeys(extractors)
    deadly: dict[Trial, str] = {}
    workspace = documents.workspace
    for corpus in documents.corpora:
        for name, part in product(peaks, corpus.parts):
            if workspace.predictions_file(corpus.name, name, part).exists():
                rise = 0
                for each in workspace.predictions(corpus.name, name, part):
                    rise += each.memory
                    if each.failure in _DEADLY:
                        deadly[Trial(corpus.name, each.id, name)] = each.failure
                peaks[name] = max(rise, peaks[name] or 0)
    return peaks, deadly
