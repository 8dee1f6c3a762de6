"""Boundary cases: the kinds of pages where precision or recall is undefined (thesis, table 3.2).

failed ──▶ exception | time | memory | crash
gold     result     common words
none     none       -               both empty       1 in the headline metric
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
    """Return the boundary case of a page, or None for a success.

    Args:
        gold: words of the gold; None if the gold consists of segments, because segments need not
            cover the whole text.
        prediction: words of the prediction.
        failure: reason why there is no prediction; None if there is one. A failure is returned as
            the boundary case.

    Raises:
        ValueError: the failure is "duplicate"; duplicates are not scored.
    """
    if failure == "duplicate":
        raise ValueError("a duplicate has no boundary case, because it is not scored")
    if failure:
        return failure
    if gold is None:
        return None if prediction else "empty result"
    if not gold:
        return "empty gold" if prediction else "both empty"
    if not prediction:
        return "empty result"
    return "no overlap" if set(gold).isdisjoint(prediction) else None
