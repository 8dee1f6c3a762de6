"""The two extractors from the literature, Boilerpipe with the grandparent filter and NCE."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import pytest

from tests.conftest import Record
from tests.urltree_evaluation.corpora_on_disk import SHARED, shared_only
from urltree_evaluation.converting import convert
from urltree_evaluation.corpus import CorpusPage
from urltree_evaluation.extractors.catalogue import load_extractors
from urltree_evaluation.metrics import sequences
from urltree_evaluation.metrics.words import split_words
from urltree_evaluation.score import PRF
from urltree_evaluation.workspace import Workspace

CORPUS = "scrapinghub-article-extraction-benchmark"
EVERY = 4


@pytest.mark.slow
@shared_only
def test_the_grandparent_filter_raises_precision(tmp_path: Path, record: Record) -> None:
    """The grandparent filter raises precision and lowers recall, as published.

    Its effect on F1 depends on the corpus.
    """
    workspace = Workspace(tmp_path)
    convert([SHARED / "pages" / f"{CORPUS}.jsonl.zst"], workspace)
    pages = list(workspace.pages(CORPUS, "pages"))[::EVERY]
    boilerpipe, filtered, nce = (
        _mean(name, pages) for name in ("boilerpy3-article", "boilerpipe-grandparent-2", "nce")
    )
    assert filtered.precision > boilerpipe.precision + 0.02
    assert filtered.recall < boilerpipe.recall
    record(
        f"evaluation: {len(pages)} pages of {CORPUS}, words: Boilerpipe {_say(boilerpipe)}; "
        f"grandparent {_say(filtered)}; NCE {_say(nce)}"
    )


def _mean(name: str, pages: list[CorpusPage]) -> PRF:
    extract = load_extractors()[0][name].make()
    scores = [
        sequences.compare(split_words(page.gold or ""), split_words(extract(page) or ""))
        for page in pages
    ]
    return PRF(*(fmean(values) for values in zip(*scores, strict=True)))


def _say(value: PRF) -> str:
    return f"P {value.precision:.3f} R {value.recall:.3f} F1 {value.f1:.3f}"
