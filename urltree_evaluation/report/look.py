"""How an extractor looks in every chart: its colour and marker say what sort it is.

Colours are Okabe and Ito's (Color Universal Design, 2008), told apart with any colour vision.
Nothing is said by colour alone: markers, line styles or words say it too, for print in grey.
"""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple

BLACK: Final = "#000000"
ORANGE: Final = "#e69f00"
SKY: Final = "#56b4e9"
GREEN: Final = "#009e73"
BLUE: Final = "#0072b2"
VERMILION: Final = "#d55e00"
PURPLE: Final = "#cc79a7"
GREY: Final = "#666666"
LIGHT: Final = "#dddddd"

Sort = Literal["ours", "stream", "single page"]

_OURS = "urltree-"


class Look(NamedTuple):
    """Colour, marker, and whether the marker is filled."""

    color: str
    marker: str
    is_filled: bool

    @property
    def face(self) -> str:
        """The marker's inside."""
        return self.color if self.is_filled else "#ffffff"

    @property
    def bar(self) -> str:
        """The colour of areas: black ones would shout."""
        return self.color if self.is_filled else GREY


LOOKS: Final[dict[Sort, Look]] = {
    "ours": Look(VERMILION, "D", is_filled=True),
    "stream": Look(BLUE, "s", is_filled=True),
    "single page": Look(BLACK, "o", is_filled=False),
}
_CURVES: Final[dict[Sort, tuple[str, ...]]] = {
    "ours": (VERMILION, ORANGE, PURPLE, "#8c3b00"),
    "stream": (BLUE, SKY),
    "single page": (BLACK, GREEN, GREY),
}
_MARKERS: Final = "DoPX^vs<>ph*"
_DASHES: Final[tuple[Any, ...]] = ("solid", (0, (5, 1.5)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)))


def sort_of(name: str, *, is_stream: bool) -> Sort:
    """Which of the three sorts an extractor is: ours begin with "urltree-"."""
    if name.startswith(_OURS):
        return "ours"
    return "stream" if is_stream else "single page"


def curve(sort: Sort, number: int, total: int) -> dict[str, Any]:
    """Colour of the number-th curve of its sort; dash and marker of the total-th of the chart."""
    colors = _CURVES[sort]
    return {
        "color": colors[number % len(colors)],
        "linestyle": _DASHES[total % len(_DASHES)],
        "marker": _MARKERS[total % len(_MARKERS)],
        "linewidth": 1.8 if sort == "ours" else 1.2,
        "markersize": 4,
    }
