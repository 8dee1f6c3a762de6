"""Numbers as a paper prints them: .963 ±.012, a true minus sign, and a dash for none."""

from __future__ import annotations

import math

from urltree_evaluation.statistics.bootstrap import Figure
from urltree_evaluation.statistics.grid import decimals

NOTHING = "\N{EN DASH}"
_MINUS = "\N{MINUS SIGN}"


def three(value: float) -> str:
    """Three decimals without a leading zero: .963, 1.000."""
    return decimals(value).replace("-", _MINUS) or NOTHING


def plus_minus(figure: Figure | None) -> str:
    """Half of the interval: ±.012."""
    if figure is None or math.isnan(figure.half_width):
        return ""
    return f"±{three(figure.half_width)}"


def interval(figure: Figure) -> str:
    """From where to where 95 % of the resamples lie."""
    return f"95 % of the resamples: {three(figure.low)} to {three(figure.high)}"
