"""Format numbers like papers: .963 ±.012, a true minus sign, and a dash for unknown values."""

from __future__ import annotations

import math

from urltree_evaluation.statistics.bootstrap import Estimate
from urltree_evaluation.statistics.grid import decimals

NOTHING = "\N{EN DASH}"
_MINUS = "\N{MINUS SIGN}"


def three_decimals(value: float) -> str:
    """Return a number with three decimals and without a leading zero: .963, 1.000."""
    return decimals(value).replace("-", _MINUS) or NOTHING


def plus_minus(figure: Estimate | None) -> str:
    """Return half of the width of the interval, such as ±.012; "" if it is unknown."""
    if figure is None or math.isnan(figure.half_width):
        return ""
    return f"±{three_decimals(figure.half_width)}"


def interval_text(figure: Estimate) -> str:
    """Return the limits of the interval as a sentence."""
    return f"95 % of the resamples: {three_decimals(figure.low)} to {three_decimals(figure.high)}"
