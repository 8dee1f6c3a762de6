"""The gate itself: our heuristics on the streams, held to the floors that are committed."""

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
METRICS = ("words ", "words+title ")  # begin a table: plain, floor, masked, floor, difference


def test_each_heuristic_has_a_shipped_floor() -> None:
    """For each figure; where one was lowered, there is a reason."""
    floors = Floors.read(SHIPPED)
    assert list(floors.floors) == list(NAMES)
    assert all(tuple(figures) == FIGURES for figures in floors.floors.values())
    assert all(entry["reason"] for entry in floors.lowered)


def test_the_gate_holds(record: Record) -> None:
    """On every 10th page of all streams, plain and masked: about two minutes of CPU."""
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
