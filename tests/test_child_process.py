"""Child processes import our package `tests` even if another package has the same name."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

import tests
from tests.child_process import ROOT, environment

OURS = str(ROOT / "tests" / "__init__.py")
SHOW = "import tests; print(tests.__file__)"


@pytest.fixture
def foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put another package with the name `tests` on PYTHONPATH."""
    package = tmp_path / "foreign" / "tests" / "__init__.py"
    package.parent.mkdir(parents=True)
    package.touch()
    monkeypatch.setenv("PYTHONPATH", str(package.parents[1]))


def which_tests() -> str:
    """Return the file of the package `tests` that this process imports."""
    return str(tests.__file__)


@pytest.mark.usefixtures("foreign")
def test_a_child_process_in_the_root_of_the_checkout_imports_ours() -> None:
    """A child in the root imports our `tests`, because its import path begins with the root."""
    ran = subprocess.run(
        [sys.executable, "-c", SHOW], cwd=ROOT, capture_output=True, check=True, text=True
    )
    assert ran.stdout.strip() == OURS


@pytest.mark.usefixtures("foreign")
@pytest.mark.parametrize("options", [(), ("-P",)], ids=["default", "safe path"])
def test_a_child_process_elsewhere_imports_ours(tmp_path: Path, options: tuple[str, ...]) -> None:
    """With `environment()`, a child in any folder finds the root of the checkout on PYTHONPATH."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    ran = subprocess.run(
        [sys.executable, *options, "-c", SHOW],
        cwd=elsewhere,
        env=environment(),
        capture_output=True,
        check=True,
        text=True,
    )
    assert ran.stdout.strip() == OURS


@pytest.mark.usefixtures("foreign")
def test_a_spawned_process_of_a_pool_imports_ours() -> None:
    """A spawned process gets the import path of its parent, which begins with the root."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        assert pool.submit(which_tests).result() == OURS
