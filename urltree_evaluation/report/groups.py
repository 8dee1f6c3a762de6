"""The groups of extractors ("ours", "stream", "single page") with their colours and markers.

The colours are those of Okabe and Ito (Color Universal Design, 2008), which readers with any colour
vision can distinguish. Markers, line styles or words also differ, so that a grey print is readable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from urltree_evaluation.statistics.ranking import RankedExtractor

BLACK: Final = "#000000"
ORANGE: Final = "#e69f00"
SKY: Final = "#56b4e9"
GREEN: Final = "#009e73"
BLUE: Final = "#0072b2"
VERMILION: Final = "#d55e00"
PURPLE: Final = "#cc79a7"
GREY: Final = "#666666"
LIGHT: Final = "#dddddd"

Group = Literal["ours", "stream", "single page"]

_OURS = "urltree-"


class MarkerStyle(NamedTuple):
    """The colour and the shape of a marker, and whether the marker is filled."""

    color: str
    marker: str
    is_filled: bool

    @property
    def face(self) -> str:
        """The colour inside the marker."""
        return self.color if self.is_filled else "#ffffff"

    @property
    def bar(self) -> str:
        """The colour of filled areas; it is grey where the marker is not filled."""
        return self.color if self.is_filled else GREY


STYLES: Final[dict[Group, MarkerStyle]] = {
    "ours": MarkerStyle(VERMILION, "D", is_filled=True),
    "stream": MarkerStyle(BLUE, "s", is_filled=True),
    "single page": MarkerStyle(BLACK, "o", is_filled=False),
}
_CURVES: Final[dict[Group, tuple[str, ...]]] = {
    "ours": (VERMILION, ORANGE, PURPLE, "#8c3b00"),
    "stream": (BLUE, SKY),
    "single page": (BLACK, GREEN, GREY),
}
_MARKERS: Final = "DoPX^vs<>ph*"
_DASHES: Final[tuple[Any, ...]] = ("solid", (0, (5, 1.5)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)))


def group_of(name: str, *, is_stream: bool) -> Group:
    """Return the group of an extractor; the names of our extractors begin with "urltree-"."""
    if name.startswith(_OURS):
        return "ours"
    return "stream" if is_stream else "single page"


def curve_style(group: Group, number: int, total: int) -> dict[str, Any]:
    """Return the style of a curve.

    Args:
        group: group of the extractor.
        number: number of the curve in its group; it selects the colour.
        total: number of the curve in the chart; it selects the dash pattern and the marker.
    """
    colors = _CURVES[group]
    return {
        "color": colors[number % len(colors)],
        "linestyle": _DASHES[total % len(_DASHES)],
        "marker": _MARKERS[total % len(_MARKERS)],
        "linewidth": 1.8 if group == "ours" else 1.2,
        "markersize": 4,
    }


def group_by_name(rows: Sequence[RankedExtractor]) -> dict[str, Group]:
    """Return the group of each extractor by its name, the best extractor first."""
    return {row.name: group_of(row.name, is_stream=row.is_stream) for row in rows}


def best_and_ours(rows: Sequence[RankedExtractor], others: int, ours: int) -> list[str]:
    """Return the names of the best extractors in the order of the ranking.

    Args:
        rows: the ranking, best first.
        others: highest number of extractors that are not ours.
        ours: highest number of our extractors.
    """
    left = {True: ours, False: others}
    chosen = []
    for name, group in group_by_name(rows).items():
        is_ours = group == "ours"
        if left[is_ours] > 0:
            left[is_ours] -= 1
            chosen.append(name)
    return chosen


def best_of_each(rows: Sequence[RankedExtractor], wanted: Mapping[Group, int]) -> list[str]:
    """Return the names of the best extractors, at most `wanted[group]` names of each group."""
    by_group = group_by_name(rows)
    return [
        name
        for group, count in wanted.items()
        for name in [name for name in by_group if by_group[name] == group][:count]
    ]
