"""The wheel: which files `pip install .` installs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {"urltree", "urltree_evaluation"}


@pytest.fixture(name="files", scope="module")
def _files(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Build the wheel, without network, and return the paths of the files in it."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return set(ZipFile(wheel).namelist())


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_type_checkers_find_the_types_of_each_package(files: set[str], package: str) -> None:
    """Each package in the wheel contains the marker `py.typed` for type checkers (PEP 561)."""
    assert f"{package}/py.typed" in files


def test_the_job_stays_out(files: set[str]) -> None:
    """The wheel does not contain the job: `agents` and `models` are too generic as names.

    The job runs from a checkout or from the image.
    """
    tops = {path.partition("/")[0] for path in files}
    assert {top for top in tops if not top.endswith(".dist-info")} == PACKAGES


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_every_tracked_file_of_a_package_is_in_the_wheel(files: set[str], package: str) -> None:
    """The wheel contains every file of a package, including data files such as query_rules.yaml."""
    expected = {
        str(path.relative_to(ROOT))
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {path for path in files if path.startswith(f"{package}/")} == expected
