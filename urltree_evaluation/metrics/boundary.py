"""Boundary cases: where precision and recall are not defined (thesis, table 3.2), by kind.

failed ──▶ exception | time | memory | crash
gold     result     common words
none     none       -               both empty       1 in the headline
none     some       -               empty gold       0
some     none       -               empty result     0
some     some       none            no overlap       0
"""

from __future__ import annotations

from urltree_evaluation.prediction import Failure
from urltree_evaluation.score import Boundary


def boundary_case(
    gold: list[str] | None, prediction: list[str], failure: Failure | None
) -> Boundary | None:
    """Which case a page is, by words; None for a success.

    Args:
        gold: words; None where it is segments: what else is in it is not known.
        prediction: words.
        failure: why there is no prediction; it says more than that the result is empty.

    Raises:
        ValueError: a duplicate is no failure, and is not scored.
    """
    if failure == "duplicate":
        raise ValueError("a duplicate is not scored")
    if failure:
        return failure
    if gold is None:
        return None if prediction else "empty result"
    if not gold:
        return "empty gold" if prediction else "both empty"
    if not prediction:
        return "empty result"
    return "no overlap" if set(gold).isdisjoint(prediction) else None
