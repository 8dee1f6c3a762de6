"""Tests of the gate on two small sites: when it passes or fails, and how floors change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from tests.urltree_evaluation.small_streams import SITES, two_streams, write_stream
from urltree.heuristics.registry import NAMES
from urltree_evaluation.cli.gate import command
from urltree_evaluation.gate.floors import FIGURES, Floors
from urltree_evaluation.gate.measuring import Streams

Gate = Callable[..., Result]


@pytest.fixture
def streams(tmp_path: Path) -> Path:
    """Write a folder with two streams, and return its path."""
    return two_streams(tmp_path / "streams")


@pytest.fixture
def floors(tmp_path: Path) -> Path:
    """Return the path of the file of floors (least scores), as the fixture `raised` writes it."""
    return tmp_path / "floors.yaml"


@pytest.fixture
def gate(streams: Path, floors: Path) -> Gate:
    """Return a function that runs the command on the two streams with some options."""

    def run(*options: str) -> Result:
        fixed = [str(streams), "--floors", str(floors), "--processes", "1"]
        return CliRunner().invoke(command, [*fixed, *options])

    return run


@pytest.fixture
def raised(gate: Gate) -> Gate:
    """Return the function of `gate`, after --raise has written floors at the measured values."""
    assert gate("--raise").exit_code == 0
    return gate


def set_floor(file: Path, figure: str, floor: float, site_floor: float = 0.0) -> None:
    """Set a floor of `strict`, and the stored value of `strict` on the first site."""
    said = yaml.safe_load(file.read_text())
    said["floors"]["strict"][figure] = floor
    said["sites"]["strict"][SITES[0]][figure] = site_floor
    file.write_text(yaml.safe_dump(said))


def test_each_heuristic_has_a_floor_for_each_figure(raised: Gate, floors: Path) -> None:
    """Each heuristic has floors for all figures, and stored values of each site.

    Figures are measured without and with title, unmasked and masked.
    """
    found = Floors.read(floors)
    assert list(found.floors) == list(found.sites) == list(NAMES)
    for name in NAMES:
        assert list(found.floors[name]) == list(FIGURES)
        assert list(found.sites[name]) == list(SITES)
    assert raised().exit_code == 0
    assert found.pages == 6


def test_the_gate_holds_where_all_is_as_it_was(raised: Gate) -> None:
    """If no value has changed, the gate passes.

    Its output has each value, and the difference that masking makes.
    """
    result = raised()
    assert result.exit_code == 0
    assert "passed: no value is below its floor" in result.output
    assert "  strict                    0.9855   0.9855   0.9855   0.9855   +0.000000" in (
        result.output
    )


@pytest.mark.parametrize("figure", FIGURES)
def test_a_fall_of_the_last_digit_fails_and_says_where(
    raised: Gate, floors: Path, figure: str
) -> None:
    """The gate fails if any figure is below its floor by 0.0001.

    The output lists only the sites on which the figure has fallen.
    """
    now = Floors.read(floors).floors["strict"][figure]
    set_floor(floors, figure, now + 0.0001, site_floor=1.0)
    result = raised()
    assert result.exit_code == 1
    assert (
        f"below its floor: strict, {figure}: {now:.4f}, floor {now + 0.0001:.4f} (-0.0001)"
        in result.output
    )
    assert f"  {SITES[0]:<30} {now:.4f}, was 1.0000 ({now - 1:+.4f})" in result.output
    assert f"  {SITES[1]}" not in result.output


def test_raising_writes_better_figures(raised: Gate, floors: Path) -> None:
    """The option --raise sets each floor that is below its measured value to that value."""
    before = floors.read_text()
    set_floor(floors, "words", 0.5)
    assert raised("--raise").exit_code == 0
    assert floors.read_text() == before


def test_raising_never_lowers(raised: Gate, floors: Path) -> None:
    """If one value is below its floor, --raise changes no floor, not even one that could rise."""
    set_floor(floors, "words", 0.5)
    set_floor(floors, "masked words", 0.999)
    before = floors.read_text()
    result = raised("--raise")
    assert result.exit_code == 1
    assert "below its floor: strict, masked words" in result.output
    assert floors.read_text() == before


@pytest.mark.parametrize(
    "options", [["--lower"], ["--lower", "--reason", " "], ["--reason", "Because."]]
)
def test_nothing_is_lowered_without_flag_and_reason(
    raised: Gate, floors: Path, options: list[str]
) -> None:
    """Lowering floors requires both --lower and a reason that is not blank."""
    set_floor(floors, "words", 0.999)
    before = floors.read_text()
    assert raised(*options).exit_code == 2
    assert floors.read_text() == before


def test_what_was_lowered_is_kept_with_its_reason(raised: Gate, floors: Path) -> None:
    """The log of lowered floors has the old floor, the new value and the reason.

    A later --raise passes and keeps the log.
    """
    set_floor(floors, "words", 0.999)
    assert raised("--lower", "--reason", "The tokenizer keeps tables.").exit_code == 0
    log = [
        {
            "what": "strict, words",
            "floor": 0.999,
            "now": 0.9855,
            "reason": "The tokenizer keeps tables.",
        }
    ]
    assert Floors.read(floors).lowered == log
    assert raised("--raise").exit_code == 0
    assert Floors.read(floors).lowered == log


def test_floors_of_another_corpus_are_never_compared(
    raised: Gate, floors: Path, streams: Path
) -> None:
    """If the corpus has changed, the error contains the hashes of both corpora.

    Only --lower replaces the floors.
    """
    old, before = Streams.of(streams).corpus, floors.read_text()
    write_stream(streams, "three.example", menu="Other")
    new = Streams.of(streams).corpus
    for options in ([], ["--raise"]):
        result = raised(*options)
        assert result.exit_code == 2
        assert old in result.output
        assert new in result.output
        assert floors.read_text() == before
    assert raised("--lower", "--reason", "One more site.").exit_code == 0
    written = Floors.read(floors)
    assert written.corpus == new
    assert written.lowered == [
        {"what": "corpus", "floor": old, "now": new, "reason": "One more site."}
    ]


@pytest.mark.parametrize("figures", [FIGURES, FIGURES[-1:]], ids=["none", "one short"])
def test_a_heuristic_without_floor_does_not_pass(
    raised: Gate, floors: Path, figures: tuple[str, ...]
) -> None:
    """The gate fails for a heuristic without floors until --raise writes them."""
    said = yaml.safe_load(floors.read_text())
    for figure in figures:
        del said["floors"]["strict-at-domain"][figure]
    floors.write_text(yaml.safe_dump(said))
    result = raised()
    assert result.exit_code == 1
    assert "no floor for strict-at-domain: pass --raise to write one" in result.output
    assert raised("--raise").exit_code == 0
    assert raised().exit_code == 0


def test_a_heuristic_that_is_gone_has_fallen(raised: Gate, floors: Path) -> None:
    """The floors of a heuristic that no longer exists remain, so the gate fails."""
    said = yaml.safe_load(floors.read_text())
    said["floors"]["better"] = said["floors"]["strict"]
    floors.write_text(yaml.safe_dump(said))
    assert "below its floor: better, words: 0.0000, floor 0.9855" in raised("--raise").output


@pytest.mark.parametrize("text", [None, "", "[]", "floors: {}", "{"])
def test_without_floors_nothing_is_measured(gate: Gate, floors: Path, text: str | None) -> None:
    """A missing or invalid file of floors is an error."""
    if text is not None:
        floors.write_text(text)
    result = gate()
    assert result.exit_code == 2
    assert "cannot read floors" in result.output


def test_a_folder_without_streams_is_said(tmp_path: Path) -> None:
    """A folder without streams is an error with exit code 2."""
    result = CliRunner().invoke(command, [str(tmp_path)])
    assert result.exit_code == 2
    assert "contains no stream" in result.output
