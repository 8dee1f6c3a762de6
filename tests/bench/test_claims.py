"""Tests of the measurement of the paper's claims: it gives the same results as the library."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import orjson
import pytest
import zstandard

import urltree
from bench.claims import figures, tables
from bench.claims.curves import draw_curves, draw_stored
from bench.claims.variants import DOCUMENTS, FOREVER, SiteF1, measure_site, variants
from urltree import Eviction
from urltree_evaluation.metrics.sequences import compare
from urltree_evaluation.metrics.words import split_words

DOCS = Path(__file__).parents[2] / "docs"
TABLES = ("learning", "sites_above", "heuristics", "windows")


def page(number: int) -> dict[str, str]:
    """Return a page with a menu, a teaser that four pages share, and a sentence that recurs."""
    name, saying = chr(97 + number) * 3, chr(65 + number % 8) * 4
    return {
        "url": f"https://example.org/news/{name}",
        "published": f"2026-01-{number + 1:02}T00:00:00Z",
        "title": f"Story {name}",
        "html": f"<p>Menu</p><h1>Story {name}</h1><p>Teaser {number // 4 * 'x'}</p>"
        f"<p>They said {saying}</p><p>Text of {name}.</p>",
        "gold": f"Story {name}\nThey said {saying}\nText of {name}.",
    }


PAGES = [page(number) for number in range(24)]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> SiteF1:
    """Measure the F1 of all variants on a site."""
    file = tmp_path_factory.mktemp("streams") / "example.org.jsonl.zst"
    file.write_bytes(zstandard.compress(b"\n".join(map(orjson.dumps, PAGES))))
    return measure_site(file)


@pytest.mark.parametrize(
    ("variant", "options"),
    [
        ("strict", {"heuristic": "strict", "eviction": None}),
        ("strict-at-domain", {"heuristic": "strict-at-domain", "eviction": None}),
        ("relaxed-at-domain-5", {"heuristic": "relaxed-at-domain-5", "eviction": None}),
        ("strict, newest 5", {"heuristic": "strict", "eviction": Eviction(5, FOREVER, keep=5)}),
        ("strict, paper's", {"heuristic": "strict"}),
        ("strict, two passes", {"heuristic": "strict", "two_pass": True}),
    ],
)
def test_a_variant_scores_what_the_library_says(site: SiteF1, variant: str, options: dict) -> None:  # type: ignore[type-arg]
    """The F1 of each variant equals the F1 of the texts that the library returns.

    If several variants choose the same blocks of a page, these blocks are scored only once.
    """
    texts = [page.text for page in urltree.extract(PAGES, **options)]
    expected = [
        compare(split_words(page["gold"]), split_words(text or "")).f1
        for page, text in zip(PAGES, texts, strict=True)
    ]
    assert list(tables.f1_of(site, variant)) == pytest.approx(expected)
    assert site.variants == variants()


def test_variants_differ(site: SiteF1) -> None:
    """Some variants differ; otherwise the test above could not fail."""
    kinds = {tuple(tables.f1_of(site, variant)) for variant in site.variants}
    assert len(kinds) >= 4
    assert f"strict, newest {DOCUMENTS[0]}" in site.variants


@pytest.mark.parametrize("table", TABLES)
def test_a_table_stands_in_the_documents(table: str, site: SiteF1) -> None:
    """Each table in docs/claims.md has the header that the code writes, and no missing figures."""
    text = (DOCS / "claims.md").read_text("utf-8")
    written = re.search(rf"<!-- {table} -->\n(.*?)\n<!-- end -->", text, re.DOTALL)
    assert written is not None
    assert written[1].splitlines()[0] == getattr(tables, f"{table}_table")([site]).splitlines()[0]
    assert "nan" not in written[1]


def test_stored_figures_are_read_as_they_were_computed(site: SiteF1, tmp_path: Path) -> None:
    """Stored figures equal the computed ones, so a curve that is drawn later is correct."""
    computed = figures.compute([site])
    figures.save(computed, tmp_path / "figures.json")
    stored = figures.load_figures(tmp_path / "figures.json")
    assert [tuple(point) for point in stored.sites[0]] == computed.sites[0]
    assert [tuple(point) for point in stored.windows["strict"]] == computed.windows["strict"]
    assert stored.everything == computed.everything
    average = tables.f1_of(site, "strict").mean()
    assert stored.sites[0][-1] == [len(PAGES), pytest.approx(average, abs=1e-4)]


def test_the_curves_of_the_documents_are_drawn_from_stored_figures(tmp_path: Path) -> None:
    """`make generate` draws the committed curves again with the same bytes, at most 30 KB each."""
    shutil.copy(DOCS / "claims" / "figures.json", tmp_path)
    draw_stored(tmp_path)
    for name in ("heuristics.svg", "sites.svg", "windows.svg"):
        committed = (DOCS / "claims" / name).read_bytes()
        assert len(committed) <= 30_000
        assert committed == (tmp_path / name).read_bytes(), "run make generate"


def test_curves_are_drawn_with_their_axes_named(site: SiteF1, tmp_path: Path) -> None:
    """The same figures give the same bytes of each curve, and each curve names its axis of F1."""
    computed = figures.compute([site])
    draw_curves(computed, tmp_path / "first")
    draw_curves(computed, tmp_path / "second")
    files = sorted((tmp_path / "first").iterdir())
    assert [file.name for file in files] == ["heuristics.svg", "sites.svg", "windows.svg"]
    for file in files:
        assert file.read_bytes() == (tmp_path / "second" / file.name).read_bytes()
        assert "F1, mean" in file.read_text("utf-8")
        assert (DOCS / "claims" / file.name).exists()
