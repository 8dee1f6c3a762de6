"""Each alert has tests, describes the problem, and links to its section of the runbook."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from agents.settings.job import Settings
from tests.deploy.conftest import FindTool
from tests.deploy.promql import ALERTS, FILES

ROOT = Path(__file__).parents[2]
RUNBOOK = (ROOT / "docs" / "operations.md").read_text()
TESTS = sorted((Path(__file__).parent / "alerts").glob("*.yaml"))
CASES: list[dict[str, Any]] = [
    case
    for path in TESTS
    for test in yaml.safe_load(path.read_text())["tests"]
    for case in test["alert_rule_test"]
]


@pytest.mark.parametrize("alert", ALERTS)
def test_an_alert_has_a_test_that_it_fires_and_one_that_it_is_silent(alert: str) -> None:
    """Each alert has a test in which it fires and a test in which it does not."""
    fires = [bool(case["exp_alerts"]) for case in CASES if case["alertname"] == alert]
    assert set(fires) == {True, False}


@pytest.mark.parametrize("alert", ALERTS)
def test_an_alert_says_how_bad_it_is_and_what_it_has_seen(alert: str) -> None:
    """An alert has a severity, a summary, and a description with a figure."""
    rule = ALERTS[alert]
    said = rule["annotations"]
    assert rule["labels"] == {"severity": rule["labels"]["severity"]}
    assert rule["labels"]["severity"] in {"page", "ticket"}
    assert re.fullmatch(r"\d+[mh]", rule["for"])
    assert set(said) == {"summary", "description", "runbook_url"}
    assert not said["summary"].endswith(".")
    assert re.search(r"\d|\$value", said["description"])
    assert "namespace" in said["description"]


@pytest.mark.parametrize("alert", ALERTS)
def test_an_alert_leads_to_a_section_that_speaks_of_it(alert: str) -> None:
    """The runbook names each alert in its table and in the section of the alert's runbook_url."""
    page, _, anchor = ALERTS[alert]["annotations"]["runbook_url"].partition("#")
    assert page == "docs/operations.md"
    assert f"`{alert}`" in _section(anchor)
    assert f"`{alert}`" in _section("what-to-watch")


def test_the_runbook_speaks_of_no_other_alert() -> None:
    """The runbook names exactly the alerts that exist, so a renamed alert must be renamed there."""
    assert set(re.findall(r"`(Urltree\w+)`", RUNBOOK)) == set(ALERTS)


@pytest.mark.parametrize("file", ["alerts.yaml", "dashboard.json"])
def test_figures_of_settings_are_their_defaults(file: str) -> None:
    """A figure after the name of a setting, as in `in_flight (500)`, is the setting's default."""
    text = (FILES / file).read_text()
    named = dict(re.findall(r"\b([a-z]+_[a-z_]+) \(([\d,]+)\)", text))
    defaults = {name: Settings.model_fields[name].default for name in named}
    assert named
    assert {name: int(figure.replace(",", "")) for name, figure in named.items()} == defaults


@pytest.mark.deploy
def test_prometheus_takes_the_rules(tool: FindTool) -> None:
    """`promtool check rules` finds no error."""
    ran = _promtool(tool, "check", "rules", FILES / "alerts.yaml")
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.deploy
@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.stem)
def test_alerts_fire_when_they_should_and_at_no_other_time(tool: FindTool, path: Path) -> None:
    """The unit tests of promtool pass. They compare the whole text of each alert."""
    ran = _promtool(tool, "test", "rules", path)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def _promtool(tool: FindTool, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [tool("promtool"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _section(anchor: str) -> str:
    """Return a section of the runbook by its anchor, without its subsections."""
    for part in re.split(r"^#+ ", RUNBOOK, flags=re.MULTILINE):
        heading = part.partition("\n")[0]
        if re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") == anchor:
            return part
    raise AssertionError(f"docs/operations.md has no section #{anchor}")
