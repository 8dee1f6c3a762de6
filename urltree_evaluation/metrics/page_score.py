"""Compute all metrics of one page from its gold and a prediction, without reading files."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from urltree_evaluation.metrics import bag, characters, matcher, segments, sequences, shingles
from urltree_evaluation.metrics.boundary import boundary_case
from urltree_evaluation.metrics.overlap import NOTHING
from urltree_evaluation.metrics.page_gold import PageGold
from urltree_evaluation.metrics.words import split_words
from urltree_evaluation.prediction import Prediction
from urltree_evaluation.score import PRF, Metric, Score

OF_ALL: tuple[Metric, ...] = ("words", "words+title")
OF_SAMPLED: tuple[Metric, ...] = ("words-ascii", "matcher", "bag", "characters", "shingles")


def score_page(gold: PageGold, prediction: Prediction) -> Score:
    """Score a prediction.

    A page that is not sampled gets only the metrics "words" and "words+title". A failure scores 0
    in all metrics, even if the gold is empty.
    """
    score = Score(gold.id, gold.domain, prediction.number, prediction.is_sampled)
    if prediction.failure == "duplicate":
        return replace(score, is_duplicate=True)
    said = split_words(prediction.text)
    if gold.is_full:
        case = boundary_case(gold.words, said, prediction.failure)
        metrics = _failed(prediction) if prediction.failure else _metrics(gold, said, prediction)
        score = replace(score, boundary=case, metrics=metrics)
    if gold.is_segments:
        case = score.boundary or boundary_case(None, said, prediction.failure)
        found = segments.compare(gold.with_, gold.without, prediction.text)
        score = replace(score, boundary=case, segments=found)
    return score


def compare_words(gold: PageGold, said: list[str]) -> tuple[PRF, PRF]:
    """Compare the words of a text with the gold, first without and then with the title.

    The second comparison puts the title before the text, unless the text begins with the title or
    is empty.
    """
    as_it_is, title = sequences.compare(gold.words, said), gold.title
    if not said or said[: len(title)] == title:
        return as_it_is, as_it_is
    return as_it_is, sequences.compare(gold.words, title + said)


def _failed(prediction: Prediction) -> dict[Metric, PRF]:
    return dict.fromkeys(OF_ALL + OF_SAMPLED if prediction.is_sampled else OF_ALL, NOTHING)


def _metrics(gold: PageGold, said: list[str], prediction: Prediction) -> dict[Metric, PRF]:
    as_it_is, with_title = compare_words(gold, said)
    metrics: dict[Metric, PRF] = {"words": as_it_is, "words+title": with_title}
    if prediction.is_sampled:
        text = prediction.text
        in_ascii = split_words(text, ascii_only=True)
        is_same = in_ascii == said and gold.ascii == gold.words
        metrics |= {
            "words-ascii": as_it_is if is_same else sequences.compare(gold.ascii, in_ascii),
            "matcher": matcher.compare(gold.words, said),
            "bag": bag.compare(gold.bag, Counter(said)),
            "characters": characters.compare(gold.characters, segments.collapse_spaces(text)),
            "shingles": shingles.compare(gold.shingles, shingles.count_shingles(text)),
        }
    return metrics
