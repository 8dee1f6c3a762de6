"""`make` sets up the virtual environment, even if uv fails and pip is old."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from packaging.version import Version

ROOT = Path(__file__).parent.parent
FIRST_THAT_RESOLVES = Version("23.3")  # older pips fail at lxml[html-clean], lxml[html_clean]

# A fake Python. The virtual environments that it creates have a uv that fails, and a python that
# writes the arguments of each call to the file `calls`.
_PYTHON = """#!/bin/sh
if [ "$1 $2" = '-m venv' ]; then
  mkdir -p "$4/bin"
  printf '#!/bin/sh\\nexit 1\\n' > "$4/bin/uv"
  printf '#!/bin/sh\\necho "$@" >> "%s/calls"\\n' "$4" > "$4/bin/python"
  chmod +x "$4/bin/uv" "$4/bin/python"
fi
"""


def test_the_fallback_raises_pip_before_it_installs_the_project(tmp_path: Path) -> None:
    """If uv fails, `make set-up` upgrades pip before pip installs the project.

    The oldest supported Python may have pip 23.0, which cannot resolve our dependencies.
    """
    python = tmp_path / "python"
    python.write_text(_PYTHON)
    python.chmod(0o755)
    environment = tmp_path / "venv"
    command = ["make", "set-up", f"PYTHON={python}", f"VENV={environment}"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    calls = (environment / "calls").read_text().splitlines()
    installs = [call.split("-c constraints.txt ")[1] for call in calls]
    assert installs == ["uv", "pip>=23.3", "-e .[dev]"]
    assert "--upgrade" in calls[1]


def test_the_documented_command_raises_pip_first() -> None:
    """The commands in CONTRIBUTING.md, for users without make, upgrade pip first."""
    shown = re.findall(r"-m pip install (.*)", (ROOT / "CONTRIBUTING.md").read_text())
    assert shown[0].endswith("--upgrade 'pip>=23.3'")
    assert shown[1].startswith("-c constraints.txt -e ")


def test_the_constraints_allow_a_pip_that_resolves() -> None:
    """constraints.txt pins a pip that can resolve our dependencies."""
    pins = dict(
        line.split("==") for line in (ROOT / "constraints.txt").read_text().split() if "==" in line
    )
    assert Version(pins["pip"]) >= FIRST_THAT_RESOLVES
