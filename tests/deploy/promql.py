"""Parsing of the queries of alerting rules and dashboard, to find the series in them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser
import yaml
from promql_parser import Expr, VectorSelector

FILES = Path(__file__).parents[2] / "deploy" / "helm" / "files"
RULES: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((FILES / "alerts.yaml").read_text())["groups"]
    for rule in group["rules"]
]
ALERTS = {rule["alert"]: rule for rule in RULES if "alert" in rule}
DASHBOARD: dict[str, Any] = json.loads((FILES / "dashboard.json").read_text())
PANELS = {
    panel["title"]: panel for panel in DASHBOARD["panels"] if panel["type"] != "row"
}  # a panel of this type only separates other panels


def of_rules() -> list[str]:
    """Return the query of each rule."""
    return [rule["expr"] for rule in RULES]


def of_dashboard() -> list[str]:
    """Return the queries of panels and annotations, and the selectors of variables."""
    targets = [target["expr"] for panel in PANELS.values() for target in panel["targets"]]
    annotations = [annotation["expr"] for annotation in DASHBOARD["annotations"]["list"]]
    variables = [
        variable["query"]["query"].removeprefix("label_values(").rpartition(",")[0]
        for variable in DASHBOARD["templating"]["list"]
        if variable["type"] == "query"
    ]
    return targets + annotations + variables


def selectors(query: str) -> Iterator[VectorSelector]:
    """Yield every selector of series in a query.

    Raises:
        ValueError: the query, with a value for Grafana's interval, is not PromQL.
    """
    found: list[VectorSelector] = []

    def visit(part: Expr) -> None:
        if isinstance(part, VectorSelector):
            found.append(part)

    promql_parser.walk(promql_parser.parse(query.replace("$__rate_interval", "5m")), visit)
    yield from found


def names(queries: list[str]) -> set[str]:
    """Return the names of the series in queries."""
    return {selector.name or "" for query in queries for selector in selectors(query)}
