"""The environment in which child processes of tests import this package `tests` and no other."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).parents[1]


def environment() -> dict[str, str]:
    """Return the environment of a child process in which this checkout is found first.

    A child process looks for `tests` in the folders of PYTHONPATH before it looks at installed
    packages. This works in any working directory, and with Python's option `-P`.
    """
    inherited = os.environ.get("PYTHONPATH")
    folders = [str(ROOT), *([inherited] if inherited else [])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
