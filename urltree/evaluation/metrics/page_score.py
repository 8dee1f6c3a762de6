"""All metrics of one page: its gold and a prediction in, a Score out. No files here."""

from __future__ import annotations

from collections import Counter

from urltree.evaluation.metrics import bag, characters, matcher, segments, sequences, shingles
from urltree.evaluation.metrics.boundary import boundary
from urltree.evaluation.metrics.overlap import NOTHING
from urltree.evaluation.metrics.page_gold import PageGold
from urltree.evaluation.metrics.words import words
from urltree.evaluation.prediction import Prediction
from urltree.evaluation.score import PRF, Boundary, Metric, Score

OF_ALL: tuple[Metric, ...] = ("words", "words+title")
OF_SAMPLED: tuple[Metric, ...] = ("words-ascii", "matcher", "bag", "characters", "shingles")


def score(gold: PageGold, prediction: Prediction) -> Score:
    """What a prediction is worth.

    Pages that are not sampled get the metrics of words alone. A failure is 0 in all, also where the
    gold is empty.
    """
    said = words(prediction.text)
    case: Boundary | None = None
    metrics: dict[Metric, PRF] = {}
    is_duplicate = prediction.failure == "duplicate"
    if not is_duplicate and (gold.is_full or gold.is_segments):
        case = boundary(gold.words if gold.is_full else None, said, prediction.failure)
    if not is_duplicate and gold.is_full:
        metrics = _failed(prediction) if prediction.failure else _metrics(gold, said, prediction)
    return Score(
        gold.id,
        gold.domain,
        prediction.number,
        prediction.is_sampled,
        case,
        metrics,
        segments.compare(gold.with_, gold.without, prediction.text)
        if gold.is_segments and not is_duplicate
        else None,
        is_duplicate,
    )


def titled(said: list[str], title: list[str]) -> list[str]:
    """What was said, with the title before it unless it begins so; nothing stays nothing."""
    return said if not said or said[: len(title)] == title else title + said


def _failed(prediction: Prediction) -> dict[Metric, PRF]:
    return dict.fromkeys(OF_ALL + OF_SAMPLED if prediction.is_sampled else OF_ALL, NOTHING)


def _metrics(gold: PageGold, said: list[str], prediction: Prediction) -> dict[Metric, PRF]:
    as_it_is = sequences.compare(gold.words, said)
    with_title = titled(said, gold.title)
    metrics: dict[Metric, PRF] = {
        "words": as_it_is,
        "words+title": (
            as_it_is if with_title is said else sequences.compare(gold.words, with_title)
        ),
    }
    if prediction.is_sampled:
        text = prediction.text
        metrics |= {
            "words-ascii": sequences.compare(gold.ascii, words(text, ascii_only=True)),
            "matcher": matcher.compare(gold.words, said),
            "bag": bag.compare(gold.bag, Counter(said)),
            "characters": characters.compare(gold.characters, segments.one_spaced(text)),
            "shingles": shingles.compare(gold.shingles, shingles.shingles(text)),
        }
    return metrics
