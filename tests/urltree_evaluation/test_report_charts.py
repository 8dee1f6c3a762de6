"""Tests of every chart with hostile names of extractors and domains."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from lxml import etree
from matplotlib.figure import Figure

from urltree_evaluation.report.charts import boxes, cost, histograms, learning, ranking
from urltree_evaluation.report.charts.labels import place_labels
from urltree_evaluation.report.drawing import svg
from urltree_evaluation.report.groups import Group

HOSTILE = "</svg><img src=x onerror=alert(1)>$x$]]>\u202e\x00\ud800&"
SORTS: dict[str, Group] = {"urltree-strict": "ours", "drop-seen": "stream", HOSTILE: "single page"}
F1 = np.array([[1.0, 0.5, 0.7], [0.9, 0.8, 0.85]])


def _ranking() -> Figure:
    return ranking.ranking_chart(
        [ranking.Dot(n, s, 0.9, 0.8, 0.95) for n, s in SORTS.items()], "F1"
    )


def _histograms() -> Figure:
    return histograms.histograms(dict.fromkeys(SORTS, F1), SORTS)


def _boxes_by_domain() -> Figure:
    domains = {"a.example": F1[:, 2], HOSTILE: F1[:, 0]}
    return boxes.by_domain(dict.fromkeys(SORTS, domains), SORTS, list(domains))


def _boxes_by_extractor() -> Figure:
    return boxes.by_extractor(dict.fromkeys(SORTS, F1[:, 2]), SORTS)


def _learning() -> Figure:
    return learning.learning_chart(_lines(), "F1")


def _learning_by_domain() -> Figure:
    return learning.learning_chart_by_domain({"a.example": _lines(), HOSTILE: _lines()}, "F1")


def _cost() -> Figure:
    return cost.cost_chart([cost.Spot(n, s, 2.0, 0.9) for n, s in SORTS.items()], "F1")


def _lines() -> list[learning.PlottedCurve]:
    return [learning.PlottedCurve(n, s, [1, 2, 9], [0.5, 0.6, 0.9]) for n, s in SORTS.items()]


CHARTS = [
    _ranking, _histograms, _boxes_by_domain, _boxes_by_extractor, _learning, _learning_by_domain,
    _cost,
]  # fmt: skip
charts = pytest.mark.parametrize("draw", CHARTS, ids=lambda draw: draw.__name__)


@charts
def test_a_chart_says_what_its_axes_are(draw: Callable[[], Figure]) -> None:
    """Each chart has a label for both of its axes; small multiples share their labels."""
    figure = draw()
    across = [figure.get_supxlabel(), *(axes.get_xlabel() for axes in figure.axes)]
    up = [figure.get_supylabel(), *(axes.get_ylabel() for axes in figure.axes)]
    assert any(across)
    assert any(up)


@charts
def test_a_chart_is_inline_svg_that_reaches_nothing_outside(draw: Callable[[], Figure]) -> None:
    """A chart contains hostile names only as text.

    Its ids begin with the chart's name, and every reference leads to one of its ids.
    """
    drawn = svg(draw(), "corpus_chart", f"chart of {HOSTILE}")
    root = etree.fromstring(drawn)
    assert {etree.QName(element).localname for element in root.iter()} <= {
        "svg", "g", "defs", "path", "use", "text", "tspan", "clipPath", "rect",
    }  # fmt: skip
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    references = set(re.findall(r'(?:href="|url\()([^")]+)', drawn))
    assert references == {f"#{identifier}" for identifier in ids}
    assert len(ids) == len(set(ids))
    assert all(str(identifier).startswith("corpus_chart-") for identifier in ids)
    assert "onerror" in "".join(str(text) for text in root.itertext())
    assert not any(key.startswith("on") for element in root.iter() for key in element.attrib)


def test_the_same_chart_is_the_same_text() -> None:
    """A chart contains no date and nothing random, so that reports can be compared."""
    assert svg(_learning(), "a", "b") == svg(_learning(), "a", "b")


def test_labels_cover_neither_points_nor_each_other() -> None:
    """The labels of thirty points in a small area do not overlap, even for four equal points."""
    chance = np.random.default_rng(1)
    points = np.concatenate([chance.uniform((20, 20), (560, 340), (26, 2)), [[300, 150]] * 4])
    places = place_labels(points, [(60.0, 9.5)] * 30, (0, 0, 620, 360))
    lefts = points[:, 0] + [place.left(60) for place in places]
    middles = points[:, 1] + [place.dy for place in places]
    for i in range(30):
        beside = np.abs(lefts[i] - np.delete(lefts, i)) >= 60
        above = np.abs(middles[i] - np.delete(middles, i)) >= 9.5
        assert np.all(beside | above)
