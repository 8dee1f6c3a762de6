"""Tests of the quality report: the pages that count, and the figures of each section."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import orjson
import pytest
import zstandard
from click.testing import CliRunner

import urltree
from bench.quality.__main__ import main
from bench.quality.ablation import Generated, ablation
from bench.quality.against import against
from bench.quality.level import LEARNED, POSITIONS, level, positions, worst_drop
from bench.quality.markdown import QualityResult
from bench.quality.passes import (
    PageF1,
    StreamPass,
    is_scored,
    score_stream,
    score_streams,
    score_table,
)
from bench.quality.peers import peer_texts
from bench.quality.single_pages import text_alone
from bench.quality.variant import Variant, evidence_of
from bench.quality.without import without_titles
from urltree.heuristics.registry import DEFAULT, heuristic
from urltree_evaluation.corpora.json_lines import read
from urltree_evaluation.metrics.sequences import compare
from urltree_evaluation.metrics.words import split_words
from urltree_evaluation.workspace import SUFFIX, read_lines, write_lines

EVIDENCE = Variant("evidence")


def page(number: int) -> dict[str, str]:
    """Return a page with a line above its title; only the record tells which line is the title."""
    name = chr(97 + number // 26) * 3 + chr(97 + number % 26) * 3
    text = f"The story of {name} is told here in words that no other page of the site has."
    return {
        "url": f"https://example.org/news/{name}",
        "published": f"2026-01-{number % 28 + 1:02}T00:00:00Z",
        "title": f"Story {name}",
        "html": f"<body><div>Filed below {name * 2} today</div><h2>Story {name}</h2><div><p>{text}"
        f"</p><p>So {name * 2} ends.</p></div><div class=footer>All of {name * 3} is ours</div>",
        "gold": f"Story {name}\n{text}\nSo {name * 2} ends.",
    }


def stream(folder: Path, pages: int, name: str = "example.org") -> Path:
    """Write a stream of pages made by `page`, and return the stream's file."""
    file = folder / (name + SUFFIX)
    file.write_bytes(zstandard.compress(b"\n".join(map(orjson.dumps, map(page, range(pages))))))
    return file


def scores(site: str, values: list[float], titled: float = 0.0) -> list[PageF1]:
    """Return scores of a site's pages, which are numbered from 1."""
    return [
        PageF1(f"{site}/{number}", site, number, value, value + titled)
        for number, value in enumerate(values, start=1)
    ]


def figures(answer: QualityResult) -> dict[str, float]:
    """Return the figures of a section by name."""
    return {figure.name: figure.value for figure in answer.figures}


def test_a_sites_first_thirty_pages_are_scored_and_every_tenth() -> None:
    """The first 30 pages of a site are scored, and then every tenth page.

    Pages are numbered from 1 here, and from 0 in the gate.
    """
    scored = [number for number in range(1, 62) if is_scored(number)]
    assert scored == [*range(1, 31), 31, 41, 51, 61]


def test_all_pages_are_learned(tmp_path: Path) -> None:
    """All pages are learned: scored pages have the same F1 as when the library gets every page."""
    file = stream(tmp_path, 45)
    said = list(urltree.extract([page(number) for number in range(45)], heuristic=DEFAULT))
    expected = [
        compare(split_words(page(number)["gold"]), split_words(said[number].text or "")).f1
        for number in (*range(30), 30, 40)
    ]
    assert [found.f1 for found in score_stream(StreamPass(file, Variant(DEFAULT)))] == expected


def test_each_class_of_positions_is_its_own_figure() -> None:
    """Pages 1, 2 to 5, 6 to 10 and 11 to 30 are four classes, each with its own figure.

    Later pages are in no class.
    """
    values = [0.1] + [0.2] * 4 + [0.3] * 5 + [0.4] * 20 + [0.9] * 5
    found = figures(positions(scores("a.example", values)))
    assert [found[f"page {name}"] for name in POSITIONS] == pytest.approx([0.1, 0.2, 0.3, 0.4])


def test_the_second_page_is_compared_with_the_first_of_its_site() -> None:
    """The second page of a site is compared with its first page.

    The site with the largest loss is named, and not a site with two low pages.
    """
    both = score_table({"": [*scores("low", [0.2, 0.2]), *scores("falls", [0.9, 0.6])]})
    site, drop = worst_drop(both)
    assert site == "falls"
    assert drop == pytest.approx(0.3)


def test_sites_weigh_the_same_and_the_worst_is_named() -> None:
    """All sites have the same weight, and the worst site is named.

    A site counts as learned after a hundred documents.
    """
    long = [0.5] * LEARNED + [1.0] * 20
    answer = level([*scores("long", long), *scores("short", [1.0, 1.0])])
    found = figures(answer)
    assert found["macro F1"] == pytest.approx((fmean(long) + 1) / 2)
    assert found[f"after {LEARNED} documents"] == pytest.approx(1)
    assert found["worst site"] == pytest.approx(fmean(long))
    assert found["pages below 0.9"] == pytest.approx(100 / 122)
    assert answer.missed == ["macro F1", "worst site"]


def test_only_the_other_extractor_gets_the_title() -> None:
    """The title is prepended only to the text of the other extractor.

    Only pages that both extractors have are compared.
    """
    ours = [*scores("a.example", [0.9, 0.7], titled=0.1), *scores("b.example", [0.8])]
    theirs = [*scores("a.example", [0.6, 0.6, 0], titled=0.1), *scores("b.example", [0.8], 0.05)]
    found = figures(against(ours, theirs))
    assert found["ours"] == pytest.approx(0.8)
    assert found["trafilatura, title prepended"] == pytest.approx((0.7 + 0.85) / 2)
    assert found["ahead by"] == pytest.approx(0.025)
    assert found["worst site"] == pytest.approx(-0.05)
    # the lower end is reached if the bootstrap draws b.example twice
    assert found["lower end of that interval"] == pytest.approx(-0.05)


def test_a_title_is_given_or_not(tmp_path: Path) -> None:
    """If the record's title is hidden, the text above the page's title is kept, and F1 falls."""
    hidden = EVIDENCE._replace(is_titled=False)
    found = score_streams([stream(tmp_path, 6)], [EVIDENCE, hidden])
    assert [each.f1 for each in found[EVIDENCE]] == [1] * 6
    assert all(each.f1 < 1 for each in found[hidden])
    lost = figures(without_titles(found[EVIDENCE], found[hidden]))["difference"]
    assert lost == pytest.approx(fmean(each.f1 for each in found[hidden]) - 1)


@pytest.mark.parametrize("piece", evidence_of("evidence"))
def test_evidence_can_be_left_out(piece: str) -> None:
    """The name of a heuristic without some evidence says which evidence was left out."""
    without = EVIDENCE.without(piece).heuristic
    assert heuristic(without).name == without == f"evidence-without-{piece}"


def test_leaving_out_evidence_shows_its_worth(tmp_path: Path) -> None:
    """The worth of a piece of evidence is the F1 that is lost without it.

    On these pages only the title block matters. Evidence that finds nothing is worth 0.
    """
    pieces = ("title", "duplicate-title")
    variants = [EVIDENCE, *map(EVIDENCE.without, pieces)]
    found = score_streams([stream(tmp_path, 6)], variants)
    generated = [Generated("g", variant.heuristic, 0.5) for variant in variants]
    earned = figures(ablation(EVIDENCE, pieces, found, generated))
    assert earned["title earns"] > 0.01
    assert earned["duplicate-title earns"] == 0


def test_evidence_may_earn_its_place_on_one_generator() -> None:
    """The worth of evidence is its largest gain on one generator, even if it loses on others."""
    found = {variant: scores("a.example", [0.9]) for variant in (EVIDENCE, EVIDENCE.without("x"))}
    generated = [
        Generated("first", "evidence", 0.9),
        Generated("first", "evidence-without-x", 0.8),
        Generated("second", "evidence", 0.5),
        Generated("second", "evidence-without-x", 0.9),
    ]
    answer = ablation(EVIDENCE, ["x"], found, generated)
    assert figures(answer) == {"x earns": pytest.approx(0.1)}
    assert "-0.1000 first" in str(answer)
    assert "+0.4000 second" in str(answer)


def test_texts_of_others_are_read_once(tmp_path: Path) -> None:
    """Texts of another extractor are computed once.

    A second call reads them from a file that belongs to the extractor's version.
    """
    pages = list(read(stream(tmp_path, 2)))
    first = peer_texts("all-text", pages[:1], tmp_path)
    (file,) = tmp_path.glob("peers/all-text-*/*")
    assert [each["text"] for each in read_lines(file)] == list(first.values())
    write_lines(file, [{"id": pages[0].id, "text": "kept"}])
    both = peer_texts("all-text", pages, tmp_path)
    assert both[pages[0].id] == "kept"
    assert page(1)["title"] in both[pages[1].id]


def test_a_single_page_is_extracted_without_the_others(tmp_path: Path) -> None:
    """A single page is extracted without other pages and without its record's title."""
    pages = list(read(stream(tmp_path, 3)))
    alone = [text_alone(each, {"heuristic": "strict"}) for each in [*pages, pages[0]]]
    assert alone[0] == alone[-1]
    assert all("is ours" in text for text in alone)


def test_the_report_shows_figures_beside_bars(tmp_path: Path) -> None:
    """The report is printed and written as Markdown.

    The exit code is 1 if a figure misses its required value.
    """
    stream(tmp_path, 12)
    out = tmp_path / "report.md"
    rows = ["--rows", "1,6", "--processes", "1", "--heuristic"]
    holds = CliRunner().invoke(main, [str(tmp_path), *rows, "evidence", "--out", str(out)])
    assert holds.exit_code == 0, holds.output
    assert "| macro F1 | 1.0000 | ≥ 0.988 | holds |" in holds.output
    assert "| page 1 | 1.0000 | ≥ 0.94 | holds |" in out.read_text("utf-8")
    misses = CliRunner().invoke(main, [str(tmp_path), *rows, "strict"])
    assert misses.exit_code == 1
    assert "**missed**" in misses.output


def test_options_reach_the_library(tmp_path: Path) -> None:
    """Options are passed to the library, as JSON if possible and otherwise as text.

    The library refuses unknown values.
    """
    stream(tmp_path, 3)
    rows = [str(tmp_path), "--rows", "6", "--processes", "1", "--option"]
    taken = CliRunner().invoke(main, [*rows, "markdown=true"])
    assert taken.exit_code == 0, taken.output
    refused = CliRunner().invoke(main, [*rows, "revisits=never"])
    assert isinstance(refused.exception, ValueError)
