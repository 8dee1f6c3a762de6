"""Tests that benchmarks run, and that their tables are complete; no test asserts a time."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from bench.__main__ import main
from bench.algorithm import PARSE, PARTS, TRAFILATURA
from bench.figure import Bar
from bench.pages import load_pages


@pytest.fixture
def two_sites(tmp_path: Path) -> Path:
    """Write a folder with a site of ten pages and a site of three pages."""
    for site, pages in (("one", 10), ("two", 3)):
        lines = [
            orjson.dumps(
                {
                    "url": f"https://{site}.example/{number}",
                    "html": f"<html><body><p>Menu<p>Story {'very ' * number} long</body></html>",
                }
            )
            for number in range(pages)
        ]
        (tmp_path / f"{site}.jsonl").write_bytes(b"\n".join(lines))
    return tmp_path


def test_a_sample_has_as_many_pages_of_each_site_spread_over_its_time(two_sites: Path) -> None:
    """A sample takes pages from the sites in turn, evenly spaced in time.

    A site with few pages gives all its pages.
    """
    urls = [page.url for page in load_pages(two_sites).sample(10)]
    assert urls == [
        *("https://one.example/0", "https://two.example/0"),
        *("https://one.example/2", "https://two.example/1"),
        *("https://one.example/4", "https://two.example/2"),
        *("https://one.example/6", "https://one.example/8"),
    ]


def test_each_part_of_the_algorithm_has_a_line(two_sites: Path) -> None:
    """The table has a line for each part of the algorithm and each extractor for comparison."""
    result = CliRunner().invoke(main, ["algorithm", "--pages", str(two_sites), "--rounds", "1"])
    assert result.exit_code in (0, 1), result.output
    for part in (*PARTS, PARSE, TRAFILATURA):
        assert part in result.output


@pytest.mark.parametrize(
    ("bar", "cleared", "missed"),
    [(Bar(7.0, is_floor=True), 7.0, 6.9), (Bar(2.0, is_floor=False), 2.0, 2.1)],
)
def test_a_bar_is_cleared_from_the_right_side(bar: Bar, cleared: float, missed: float) -> None:
    """A floor is a lower limit, a ceiling is an upper limit, and the limit itself is accepted."""
    assert bar.is_cleared(cleared)
    assert not bar.is_cleared(missed)
