"""Scoring: predictions held against gold, file to file.

corpora/CORPUS/PART ──▶ gold ──┐
predictions/CORPUS/X/PART ─────┴──▶ scores/CORPUS/X/PART
"""

from __future__ import annotations

from urltree.evaluation.corpus import CorpusPage
from urltree.evaluation.metrics import page_score
from urltree.evaluation.metrics.page_gold import PageGold
from urltree.evaluation.prediction import Prediction
from urltree.evaluation.score import Score


def score_page(page: CorpusPage, prediction: Prediction) -> Score:
    """What a prediction of a page is worth."""
    return page_score.score(PageGold(page), prediction)
