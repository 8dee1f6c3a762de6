"""Each panel of the dashboard is explained, and the dashboard works in any Grafana."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.promql import DASHBOARD, PANELS, of_dashboard, selectors

RUNBOOK = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()
COLUMNS = 24
UNITS = {"short", "none", "cps", "s", "bytes", "percentunit"}
# Titles of panels that operators need.
ASKED = {
    "Records",
    "Lag",
    "Latency",
    "Duplicates",
    "Dead letters",
    "Records to restore",
    "Commit age",
    "Domains in memory",
    "State on disk",
    "Pages fetched",
    "Troubles of fetch",
    "Walls",
    "Pages parked",
    "Hosts overdue",
    "Feeds",
    "Share of text kept",
    "Memory",
    "CPU",
    "Restarts",
}


@pytest.mark.parametrize("title", PANELS)
def test_a_panel_says_what_is_normal_and_has_a_unit(title: str) -> None:
    """A panel has a description of one sentence and an axis with a unit."""
    panel = PANELS[title]
    assert re.fullmatch(r"[^.]+(\.\w+[^.]*)*\.", panel["description"])
    assert panel["fieldConfig"]["defaults"]["unit"] in UNITS
    assert panel["targets"]


def test_panels_have_numbers_and_places_of_their_own() -> None:
    """No two panels have the same id, the same title or a common cell of the grid."""
    panels = DASHBOARD["panels"]
    cells = Counter(cell for panel in panels for cell in _cells(panel["gridPos"]))
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert len({panel["title"] for panel in panels}) == len(panels)
    assert max(cells.values()) == 1
    assert max(column for column, _ in cells) < COLUMNS


def test_panels_show_what_was_asked_for() -> None:
    """The dashboard has each panel that operators need, by its title."""
    assert set(PANELS) >= ASKED


def test_the_runbook_names_panels_that_exist() -> None:
    """Bold words in docs/operations.md are titles of panels; upper and lower case do not matter."""
    named = {" ".join(words.split()).lower() for words in re.findall(r"\*\*([^*]+)\*\*", RUNBOOK)}
    assert len(named) > 10
    assert named - {"bold"} <= {title.lower() for title in PANELS}


def test_no_panel_is_bound_to_one_grafana() -> None:
    """All data sources are the variable `datasource`, and the dashboard has no database id."""
    assert {str(found) for found in _datasources(DASHBOARD)} == {
        str({"type": "prometheus", "uid": "${datasource}"})
    }
    assert "id" not in DASHBOARD
    assert DASHBOARD["uid"] == "urltree"


def test_every_query_heeds_the_variables() -> None:
    """A query selects our series by namespace, release and stage.

    It selects series of Kubernetes by namespace and stage.
    """
    chosen = {variable["name"] for variable in DASHBOARD["templating"]["list"]} - {"datasource"}
    assert chosen == {"namespace", "job", "stage"}
    targets = [target["expr"] for panel in PANELS.values() for target in panel["targets"]]
    for query in targets:
        for selector in selectors(query):
            text = str(selector.matchers)
            ours = (selector.name or "").startswith(("urltree_", "process_"))
            for name in chosen if ours else {"namespace", "stage"}:
                fixed = name == "stage" and 'stage="extract"' in text
                assert fixed or f"${name}" in text, query


def test_every_query_is_promql() -> None:
    """Each query of the dashboard is valid PromQL and contains the name of a series."""
    assert all(next(selectors(query)).name for query in of_dashboard())


def _cells(place: dict[str, int]) -> Iterator[tuple[int, int]]:
    columns = range(place["x"], place["x"] + place["w"])
    yield from product(columns, range(place["y"], place["y"] + place["h"]))


def _datasources(part: Any) -> Iterator[Any]:
    if isinstance(part, dict):
        if "datasource" in part:
            yield part["datasource"]
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            yield from _datasources(each)
