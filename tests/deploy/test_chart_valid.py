"""Four tools that need no cluster accept the chart: helm, kubeconform and two linters.

`make test-deploy` installs the tools. `make test-apiserver` uses a real API server.
"""

from __future__ import annotations

import json
import subprocess
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from deploy.tools.chart import CHART, NEWEST, OLDEST, SETS, VALUES
from tests.conftest import Record
from tests.deploy.conftest import FindTool, Render
from tests.deploy.schemas import write_schemas

pytestmark = pytest.mark.deploy

HERE = Path(__file__).parent
NEWEST_MINOR = f"v{NEWEST.rpartition('.')[0]}"
every_set = pytest.mark.parametrize("values", SETS)


def output(*command: object, code: int | None = 0) -> str:
    """Run a command with the expected exit code `code`, or any for None; return its stdout."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert code is None or done.returncode == code, done.stdout + done.stderr
    return done.stdout


@every_set
def test_helm_finds_nothing_to_lint(values: str, tool: FindTool) -> None:
    """`helm lint --strict` finds nothing, for the oldest and the newest Kubernetes."""
    for version in (OLDEST, NEWEST):
        file = VALUES / f"{values}.yaml"
        output(tool("helm"), "lint", "--strict", "--kube-version", version, "-f", file, CHART)


def test_the_unit_tests_of_the_chart_pass(tool: FindTool, record: Record) -> None:
    """The unit tests in deploy/helm/tests pass, run by helm-unittest."""
    said = output(tool("helm-unittest"), "--strict", "--color=false", CHART)
    (counted,) = [line.split()[1:] for line in said.splitlines() if line.startswith("Tests:")]
    record(f"unit tests of the chart: {' '.join(counted)}")


@pytest.fixture(scope="session")
def kubeconform(
    tool: FindTool, crds: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> list[object]:
    """Return a command of kubeconform with the schemas of Kubernetes and of custom resources."""
    places = write_schemas(tmp_path_factory.mktemp("schemas"), (OLDEST, NEWEST), crds)
    locations = [word for place in places for word in ("-schema-location", place)]
    return [tool("kubeconform"), "-strict", "-summary", "-output", "json", *locations]


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
@every_set
def test_kubeconform_accepts_every_object(
    values: str, version: str, kubeconform: list[object], rendered: Render, tmp_path: Path
) -> None:
    """Every object has a schema in kubeconform, fits it, and has no unknown field."""
    manifest = tmp_path / "rendered.yaml"
    manifest.write_text(rendered(values, "--kube-version", version))
    said = output(*kubeconform, "-kubernetes-version", version, manifest, code=None)
    found = json.loads(said)
    assert found["resources"] == []
    assert found["summary"]["valid"] > 0
    assert found["summary"]["skipped"] == 0


def explained(linter: str) -> set[str]:
    """Return the findings of a linter that findings.toml explains, as "check" or "check Kind"."""
    return set(tomllib.loads((HERE / "findings.toml").read_text())[linter])


def unexplained(linter: str, found: Iterable[tuple[str, str, str]]) -> list[str]:
    """Return findings (check, kind, where) without explanation, and unused explanations."""
    known, seen, left = explained(linter), set(), []
    for check, kind, where in found:
        matching = known & {check, f"{check} {kind}"}
        seen |= matching
        if not matching:
            left.append(f"{check} {kind}: {where}")
    return sorted(left) + [f"no longer found: {name}" for name in sorted(known - seen)]


def test_kube_score_finds_nothing_unexplained(
    tool: FindTool, rendered: Render, record: Record, tmp_path: Path
) -> None:
    """Each finding of kube-score in any set of values is explained in findings.toml."""
    found = []
    for values in SETS:
        manifest = tmp_path / f"{values}.yaml"
        manifest.write_text(rendered(values))
        options = ("--output-format", "json", "--kubernetes-version", NEWEST_MINOR)
        scored = json.loads(output(tool("kube-score"), "score", *options, manifest, code=None))
        found += [finding for each in scored for finding in _findings(each, values)]
    assert unexplained("kube-score", found) == []
    record(f"kube-score: {len(SETS)} value sets, nothing unexplained")


def _findings(scored: dict[str, Any], values: str) -> list[tuple[str, str, str]]:
    """Return the checks of kube-score that gave an object less than the best grade, 10."""
    kind, name = scored["type_meta"]["kind"], scored["object_meta"]["name"]
    return [
        (check["check"]["id"], kind, f"{values} {name}: {comment['summary']} {comment['path']}")
        for check in scored["checks"]
        if not check["skipped"] and check["grade"] < 10
        for comment in check["comments"] or ({"summary": "", "path": ""},)
    ]


def test_checkov_finds_nothing_unexplained(
    tool: FindTool, rendered: Render, record: Record, tmp_path: Path
) -> None:
    """Each finding of checkov in any set of values is explained in findings.toml.

    One run checks all sets, because the start of checkov takes most of the time.
    """
    for values in SETS:
        (tmp_path / f"{values}.yaml").write_text(rendered(values))
    options = ("--framework", "kubernetes", "--skip-download", "--quiet", "--compact")
    said = output(tool("checkov"), *options, "--output", "json", "-d", tmp_path, code=None)
    checked = json.loads(said)
    assert checked["summary"]["parsing_errors"] == 0
    found = [
        (
            each["check_id"],
            each["resource"].split(".")[0],
            f"{each['file_path']} {each['resource']}: {each['check_name']}",
        )
        for each in checked["results"]["failed_checks"]
    ]
    assert unexplained("checkov", found) == []
    record(f"checkov: {len(SETS)} value sets, nothing unexplained")
