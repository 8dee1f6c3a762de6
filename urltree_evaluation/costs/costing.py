"""What extractors cost: CPU as a ratio to a bare parse of the same documents, and peak memory.

    a few documents ──▶ measuring.py, in a process that may fail ──▶ seconds ──┐
    predictions/ ──▶ peak memory, and what hung or crashed: left out ──────────┴──▶ cost.json

A ratio is of sums: CPU of all documents that an extractor was measured on, by CPU of bare parses of
the same documents. A document counts with the median of its passes.
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
OF_PAGES = 10  # of each corpus of single pages

_WORST = 10
_DEADLY = ("time", "memory", "crash")


def measure_costs(  # noqa: PLR0913 - the options of the verb
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
    """Measure extractors side by side, and write cost.json, unless it is of the same.

    Args:
        workspace: with corpora, and predictions for peak memory.
        extractors: by name.
        corpora: of these names; all, where there is none.
        of_stream: evenly spaced documents of each part of a stream.
        of_pages: of each corpus of single pages.
        passes: over all documents.
        seconds: limit of each document, as in extract; beyond it the document is left out.
        megabytes: alike.
        progress: counts documents.

    Raises:
        WorkspaceError: there is no corpus of that name, or it cannot be read.
    """
    progress = progress or Progress()
    documents = Documents(workspace, tuple(workspace.named(corpora)), of_stream, of_pages)
    basis = _basis(documents, extractors.values(), passes)
    peaks, left_out = _of_extraction(documents, extractors)
    before = load_cost(workspace.path)
    if before is not None and before.basis == basis:
        progress.say(f"{FILE} is of the same: kept; without it, cost is measured again")
        return _written(workspace, _with_peaks(before, peaks))
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
    return _written(workspace, replace(found, basis=basis))


def summarise_costs(
    seconds: Mapping[Trial, Sequence[float]],
    sizes: Mapping[DocumentId, int],
    left_out: Mapping[Trial, str],
    peaks: Mapping[str, int | None],
) -> Cost:
    """The cost of all that was measured; a document whose bare parse failed counts nowhere.

    Args:
        seconds: of CPU, of each pass.
        sizes: bytes of each document, by corpus and id.
        left_out: why a document does not count for an extractor.
        peaks: bytes of peak memory by extractor, None where it is not known.
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
            name: _of_one(taken[name], bare, sizes, failed[name], peak)
            for name, peak in peaks.items()
            if taken[name].keys() & bare.keys()
        },
    )


def _of_one(
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


def _with_peaks(found: Cost, peaks: Mapping[str, int | None]) -> Cost:
    """Peak memory is of extractions, which may have come after it was measured."""
    each = found.extractors.items()
    return replace(
        found, extractors={name: replace(one, peak_memory=peaks[name]) for name, one in each}
    )


def _written(workspace: Workspace, found: Cost) -> Cost:
    with appearing(workspace.path / FILE) as out:
        out.write(orjson.dumps(found, option=orjson.OPT_INDENT_2))
    return found


def _basis(documents: Documents, extractors: Iterable[RegisteredExtractor], passes: int) -> str:
    corpora = [(corpus.name, corpus.sha256) for corpus in documents.corpora]
    versions = [(each.name, each.options, extractor_version(each)) for each in extractors]
    what = (corpora, documents.of_stream, documents.of_pages, versions, passes)
    return xxhash.xxh3_128_hexdigest(repr(what).encode())


def _of_extraction(
    documents: Documents, extractors: Iterable[str]
) -> tuple[dict[str, int | None], dict[Trial, str]]:
    """What extract knows already, by one reading of all predictions that there are.

    Returns:
        Peak memory of each extractor, bytes above idle: the rises of a part's pages add up to its
        peak, the most of all parts. And what a process was ended for: it would end this one.
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
