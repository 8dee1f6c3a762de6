"""All stages together reproduce published results."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Record
from tests.urltree_evaluation.corpora_on_disk import SHARED, shared_only
from urltree_evaluation.converting import convert
from urltree_evaluation.extractors.catalogue import load_extractors
from urltree_evaluation.running.extracting import run_extractors
from urltree_evaluation.scoring import score_predictions
from urltree_evaluation.statistics.ranking import ranking
from urltree_evaluation.workspace import Workspace

CORPUS = "scrapinghub-article-extraction-benchmark"
PUBLISHED = {"trafilatura-fast": 0.956, "readability-lxml": 0.952, "boilerpy3-article": 0.842}


@pytest.mark.slow
@shared_only
def test_shingles_are_those_of_the_benchmark(tmp_path: Path, record: Record) -> None:
    """The mean F1 of four-word shingles is that of scrapinghub's own evaluation, to within .01."""
    workspace = Workspace(tmp_path)
    convert([SHARED / "pages" / f"{CORPUS}.jsonl.zst"], workspace)
    known = load_extractors()[0]
    run_extractors(workspace, {name: known[name] for name in PUBLISHED})
    score_predictions(workspace)
    measured = {
        row.name: row.text.others_micro["shingles"].value
        for row in ranking(workspace, CORPUS).rows
        if row.text is not None
    }
    record(
        "evaluation: 181 pages, 4-shingle F1: "
        + ", ".join(f"{n} {f:.4f}" for n, f in measured.items())
    )
    assert measured == pytest.approx(PUBLISHED, abs=0.01)
