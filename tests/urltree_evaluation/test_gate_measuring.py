"""Tests of the gate's values, which come from every 10th page, and of the hash of the corpus."""

from __future__ import annotations

from pathlib import Path
from string import ascii_lowercase

import pytest
import zstandard

from tests.urltree_evaluation.small_streams import SITES, two_streams, write_stream
from urltree.heuristics.registry import DEFAULT
from urltree_evaluation.gate.floors import FIGURES, Floors, GateFigures, round_down
from urltree_evaluation.gate.measuring import Streams, measure_heuristics


@pytest.fixture
def streams(tmp_path: Path) -> Path:
    """Write a folder with two streams."""
    return two_streams(tmp_path / "streams")


def test_figures_are_means_of_sites_of_pages_that_learned_from_all_before(streams: Path) -> None:
    """A figure is the mean over sites of the F1 of their scored pages.

    Each page is judged after all earlier pages were learned, so only the first page keeps the menu.
    """
    measured = measure_heuristics(Streams.of(streams))
    first = 2 * 11 / (11 + 12)  # F1: 11 words of gold; the text also has the menu's word
    assert measured.macro()["strict"]["words"] == pytest.approx((first + 1 + 1) / 3)


def test_masking_changes_nothing_for_heuristics_of_repetition(streams: Path) -> None:
    """Masking changes no figure of heuristics that use only repetition.

    They use neither hosts nor titles nor class names.
    """
    measured = measure_heuristics(Streams.of(streams)).macro()
    del measured[DEFAULT]  # this heuristic uses class names, so masking changes it
    for figures in measured.values():
        assert figures["masked words"] == figures["words"]
        assert figures["masked words+title"] == figures["words+title"]


def test_what_was_written_for_one_host_falls_when_it_is_masked(tmp_path: Path) -> None:
    """Masking lowers a figure that depends on the host's name.

    Here the paper's query rule for the host detects duplicates only under the real name.
    """
    told_twice = ascii_lowercase[:10] * 2 + "k"
    write_stream(tmp_path, "abcnews.go.com", stories=told_twice, path="?id={name}&at={number}")
    figures = measure_heuristics(Streams.of(tmp_path)).macro()["strict"]
    assert figures["masked words"] < figures["words"] - 0.3


def test_processes_find_the_same(streams: Path) -> None:
    """Two processes measure the same values as one."""
    found = Streams.of(streams)
    assert measure_heuristics(found, processes=2) == measure_heuristics(found, processes=1)


def test_the_corpus_is_known_by_its_pages(streams: Path) -> None:
    """The hash of the corpus depends on its pages, and not on their compression."""
    before = Streams.of(streams).corpus
    file = streams / f"{SITES[0]}.jsonl.zst"
    packed = file.read_bytes()
    file.write_bytes(zstandard.compress(zstandard.decompress(packed), level=19))
    assert Streams.of(streams).corpus == before
    write_stream(streams, SITES[0], menu="Other")
    assert Streams.of(streams).corpus != before


@pytest.mark.parametrize(
    ("figure", "floor"), [(0.86207, 0.862), (0.8620, 0.862), (0.86199999, 0.8619), (1.0, 1.0)]
)
def test_floors_have_four_digits_rounded_down(figure: float, floor: float) -> None:
    """Floors are rounded down to four digits, so that a value is never below its own floor."""
    assert round_down(figure) == floor
    sites = {"strict": {"one.example": dict.fromkeys(FIGURES, figure)}}
    measured = GateFigures("corpus", 1, sites)
    assert Floors.of(measured).falls(measured) == []
