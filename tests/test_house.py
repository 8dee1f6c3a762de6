"""The project follows its rules for imports, types, sizes, names and the oldest Python."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
OLDEST = "3.11.0"  # the oldest Python that pyproject.toml and README promise
PACKAGES = ("urltree", "urltree_evaluation", "models", "agents")
REGISTRIES = {"urltree_evaluation/extractors"}  # folders with one file for each entry


FOLDERS = (*PACKAGES, "demo", "bench", "deploy", "docs", "tests", ".github")
ISSUE = re.compile(r"(?<!cpython )\bissues?[\s#*]+[0-9]", re.IGNORECASE)


def modules(folder: str) -> list[Path]:
    """Return the Python files in a folder and below it, relative to the root of the project."""
    return sorted(path.relative_to(ROOT) for path in (ROOT / folder).rglob("*.py"))


def texts() -> Iterator[tuple[Path, str]]:
    """Return the text files of the project with their contents."""
    below = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))
    for path in (*ROOT.glob("*"), *below):
        if path.is_file() and path.suffix != ".pyc":
            with suppress(UnicodeDecodeError):
                yield path.relative_to(ROOT), path.read_text("utf-8")


@pytest.mark.parametrize(
    "command",
    [
        ["lint-imports"],
        ["mypy"],
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
    ],
    ids=" ".join,
)
def test_a_tool_finds_nothing(command: list[str]) -> None:
    """import-linter, mypy and ruff find nothing, with their configuration in pyproject.toml."""
    name, *arguments = command
    ran = subprocess.run(
        [BIN / name, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize(("document", "lines"), [("README.md", 200), ("DESIGN.md", 250)])
def test_a_document_is_read_in_one_sitting(document: str, lines: int) -> None:
    """The two documents that a newcomer reads first do not exceed their maximum length."""
    assert len((ROOT / document).read_text().splitlines()) <= lines


def test_urltree_has_few_rooms() -> None:
    """The package has at most 16 modules and folders, so that `ls urltree` fits on a screen."""
    names = {path.name for path in (ROOT / "urltree").iterdir()}
    rooms = {name for name in names if not name.startswith("__")} - {"py.typed"}
    assert 0 < len(rooms) <= 16, sorted(rooms)


def test_a_folder_has_few_modules() -> None:
    """A folder has at most 12 modules; `__init__` and `__main__` are not counted.

    A registry, which has one file for each entry, may have more modules.
    """
    found = [path for package in PACKAGES for path in modules(package)]
    counted = (path for path in found if path.stem not in {"__init__", "__main__"})
    folders = Counter(str(path.parent) for path in counted)
    assert set(PACKAGES) <= {name.partition("/")[0] for name in folders}
    crowded = {name: count for name, count in folders.items() if count > 12}
    assert {name: count for name, count in crowded.items() if name not in REGISTRIES} == {}


def test_no_reference_to_an_issue_is_left() -> None:
    """No file names an issue by its number, because readers cannot open the issue tracker."""
    found = [
        f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}"
        for path, text in texts()
        if path.name != "CHANGELOG.md"
        for match in ISSUE.finditer(text)
    ]
    assert found == []


def test_a_class_of_urltree_has_a_name_of_its_own() -> None:
    """No two public classes of `urltree` have the same name, so a search by name finds only one."""
    places = defaultdict(list)
    for path in modules("urltree"):
        for node in ast.parse((ROOT / path).read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path))
    assert len(places) > 20
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def test_every_dependency_runs_on_the_oldest_python() -> None:
    """Each pinned package supports Python 3.11.0.

    Debian 12 has Python 3.11.2, and one package was once pinned to a version that requires 3.11.5.
    """
    pinned = {line.partition("==")[0] for line in (ROOT / "constraints.txt").read_text().split()}
    found = {one.name: one.metadata["Requires-Python"] for one in distributions()}
    asked = {name: asks for name, asks in found.items() if name in pinned and asks}
    assert len(asked) > len(pinned) / 2
    too_new = {name: asks for name, asks in asked.items() if OLDEST not in SpecifierSet(asks)}
    assert too_new == {}
