"""The workflows and the hooks of pre-commit run only commands that developers run too."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.conftest import FindTool

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))

every_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)


@every_workflow
def test_a_workflow_fits_its_schema(path: Path) -> None:
    """Each workflow fits the schema of GitHub's workflows in check-jsonschema."""
    program = Path(sys.executable).with_name("check-jsonschema")
    command = [program, "--builtin-schema", "vendor.github-workflows", path]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout


@pytest.mark.deploy
@every_workflow
def test_actionlint_finds_nothing(path: Path, tool: FindTool) -> None:
    """The linter actionlint finds nothing; it runs without shellcheck and pyflakes."""
    command = [tool("actionlint"), "-shellcheck=", "-pyflakes=", path]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout


@every_workflow
def test_a_workflow_runs_only_targets_of_make(path: Path) -> None:
    """Each command of a workflow is a target of make, so it can also run on a laptop."""
    jobs: dict[str, Any] = yaml.safe_load(path.read_text())["jobs"]
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    assert commands
    for command in commands:
        assert re.fullmatch(r"make [\w-]+", command), command
        assert command.removeprefix("make ") in TARGETS, command


def test_the_tests_run_on_every_python_that_is_promised() -> None:
    """The tests run on consecutive Python versions from the oldest in pyproject.toml on."""
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())
    versions = workflow["jobs"]["test"]["strategy"]["matrix"]["python"]
    (oldest,) = re.findall(r'requires-python = ">=(.*)"', (ROOT / "pyproject.toml").read_text())
    assert versions[0] == oldest
    assert versions == [f"3.{minor}" for minor in range(11, 11 + len(versions))]


def test_the_hooks_of_pre_commit_run_programs_that_are_there() -> None:
    """Each hook is a target of make or a program of the virtual environment."""
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    for repository in config["repos"]:
        assert repository["repo"] == "local"
        for hook in repository["hooks"]:
            program, argument, *_ = hook["entry"].split()
            if program == "make":
                assert argument in TARGETS, hook
            else:
                assert Path(program).parent == Path(".venv/bin"), hook
                assert Path(sys.executable).with_name(Path(program).name).exists(), hook
