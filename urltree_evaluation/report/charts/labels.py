"""Place labels beside points: each label takes the nearest position where it overlaps nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

_GAP = 6.0  # distance of a label from its point, in 1/72 inch
_ROWS = 12  # number of vertical distances that are tried, each 0.6 lines more than the last


class LabelPosition(NamedTuple):
    """An offset from a point in 1/72 inch, and the part of the label that is at this offset."""

    dx: float
    dy: float
    align: Literal["left", "center", "right"]

    def left(self, width: float) -> float:
        """Return the offset of the label's left end from the point."""
        return self.dx - width * {"left": 0.0, "center": 0.5, "right": 1.0}[self.align]


class _Box(NamedTuple):
    left: float
    bottom: float
    right: float
    top: float

    def cost(self, other: _Box) -> float:
        """Return the area that both boxes cover."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.top, other.top) - max(self.bottom, other.bottom)
        return max(width, 0) * max(height, 0)

    def outside(self, room: _Box) -> float:
        """Return the area of this box that is outside of `room`."""
        area = (self.right - self.left) * (self.top - self.bottom)
        return area - self.cost(room)


def place_labels(
    points: NDArray[np.float64],
    sizes: Sequence[tuple[float, float]],
    room: tuple[float, float, float, float],
) -> list[LabelPosition]:
    """Return the position of each label.

    Labels are placed in the order of the points. Each label takes the first free position. If no
    position is free, the label takes the position with the least overlap.

    Args:
        points: points in 1/72 inch; shape (n, 2).
        sizes: width and height of each label in 1/72 inch.
        room: left, bottom, right and top edges of the area for labels, in 1/72 inch.
    """
    taken = [_Box(x - 4, y - 4, x + 4, y + 4) for x, y in points.tolist()]
    found = []
    for (x, y), (width, height) in zip(points.tolist(), sizes, strict=True):
        best: tuple[float, LabelPosition, _Box] | None = None
        for place in _candidate_positions(height):
            left, middle = x + place.left(width), y + place.dy
            box = _Box(left, middle - height / 2, left + width, middle + height / 2)
            cost = sum(box.cost(other) for other in taken) + 2 * box.outside(_Box(*room))
            if best is None or cost < best[0] - 1e-9:
                best = (cost, place, box)
            if cost <= 0:
                break
        assert best is not None  # noqa: S101 - there is always a first position
        taken.append(best[2])
        found.append(best[1])
    return found


def _candidate_positions(height: float) -> Iterator[LabelPosition]:
    """Yield positions beside a point, then positions further up and down.

    From the third row on, positions directly above and below the point are included.
    """
    for row in range(_ROWS):
        for dy in (row * height * 0.6, -row * height * 0.6):
            yield LabelPosition(_GAP, dy, "left")
            yield LabelPosition(-_GAP, dy, "right")
            if row >= 2:
                yield LabelPosition(0, dy, "center")
