"""The whole way, from a corpus to figures, gives what others published (issue 5, row 1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Record
from tests.urltree_evaluation.corpora_on_disk import SHARED, shared_only
from urltree_evaluation.converting import convert
from urltree_evaluation.extractors.catalogue import load
from urltree_evaluation.running.extracting import extract
from urltree_evaluation.scoring import score
from urltree_evaluation.statistics.ranking import ranking
from urltree_evaluation.workspace import Workspace

CORPUS = "scrapinghub-article-extraction-benchmark"
PUBLISHED = {"trafilatura-fast": 0.956, "readability-lxml": 0.952, "boilerpy3-article": 0.842}


@pytest.mark.slow
@shared_only
def test_shingles_are_those_of_the_benchmark(tmp_path: Path, record: Record) -> None:
    """Mean of the pages' F1 by four words, as scrapinghub's own evaluation counts."""
    workspace = Workspace(tmp_path)
    convert([SHARED / "pages" / f"{CORPUS}.jsonl.zst"], workspace)
    known = load()[0]
    extract(workspace, {name: known[name] for name in PUBLISHED})
    score(workspace)
    measured = {
        row.name: row.text.others_micro["shingles"].value
        for row in ranking(workspace, CORPUS).rows
        if row.text is not None
    }
    record("1. 181 pages, 4-shingle F1: " + ", ".join(f"{n} {f:.4f}" for n, f in measured.items()))
    assert measured == pytest.approx(PUBLISHED, abs=0.01)
