"""The gate on the real streams: our heuristics, compared with the committed floors."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.conftest import Record
from urltree.heuristics.registry import NAMES
from urltree_evaluation.cli.gate import command
from urltree_evaluation.gate.floors import FIGURES, SHIPPED, Floors

pytestmark = pytest.mark.slow

STREAMS = Path(__file__).parents[3] / "shared" / "data" / "streams"
METRICS = ("words ", "words+title ")  # beginnings of the first lines of the two tables


def test_each_heuristic_has_a_shipped_floor() -> None:
    """Each value of each heuristic has a floor, and each lowered floor has a reason."""
    floors = Floors.read(SHIPPED)
    assert list(floors.floors) == list(NAMES)
    assert all(tuple(figures) == FIGURES for figures in floors.floors.values())
    assert all(entry["reason"] for entry in floors.lowered)


def test_the_gate_holds(record: Record) -> None:
    """The gate passes with every 10th page of all streams, unmasked and masked.

    It needs two minutes of CPU time.
    """
    if not STREAMS.is_dir():
        pytest.skip(f"no pages at {STREAMS}")
    result = CliRunner().invoke(command, [str(STREAMS)])
    assert result.exit_code == 0, result.output
    metric = ""
    for line in result.output.splitlines():
        if line.startswith(METRICS):
            metric = line.split()[0]
        elif line.startswith("  "):
            record(f"gate, {metric}: {line.strip()}")
