"""The format of L3S-GN1, whose gold is marked by spans."""

from __future__ import annotations

from pathlib import Path

import pytest

from urltree_evaluation.corpora.corpus_files import CorpusError
from urltree_evaluation.corpora.l3s_gn1 import annotated_gold, read

ANNOTATED = """
<html><head><title>Not content</title></head><body>
<div>Menu <span class="x-nc-sel0">Not content</span></div>
<h1><span class="x-nc-sel1">The <b>head</b>line</span></h1>
<span class="x-nc-sel3">Supplemental</span>
<div><span class="x-nc-sel2">First
   line<br>second <i>line</i><script>code()</script>
   <p>a paragraph <span class="x-nc-sel5">a comment</span> goes on</p>
   <span class="bodysmall"><span class="x-nc-sel2">twice in</span> once out</span></span></div>
<span class="x-nc-sel4">Related</span>
</body></html>
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a corpus of one page."""
    for name, html in (("original", "<p>page"), ("annotated", ANNOTATED)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1-a.html").write_text(html)
    (tmp_path / "url-mapping.txt").write_text("<urn:uuid:1-a> http://www.site.example/1\nnoise\n")
    return tmp_path


def test_gold_is_headline_and_full_text() -> None:
    """The gold has one line for each block, in the page's order.

    A text belongs to the innermost span around it.
    """
    gold = annotated_gold(ANNOTATED, "page")
    assert gold.headline == "The headline"
    assert gold.text.splitlines() == [
        "The headline",
        "First line",
        "second line",
        "a paragraph goes on",
        "twice in once out",
    ]


def test_spans_around_runs_of_text_part_no_lines() -> None:
    """A span does not begin a new line, because annotators marked each text between two tags.

    The headline is still a line of its own.
    """
    runs = """<p><span class="x-nc-sel1">A</span> <span class="x-nc-sel2">b</span>
        <a><span class="x-nc-sel2">c</span></a><span class="x-nc-sel2">, d</span>"""
    assert annotated_gold(runs, "page") == ("A\nb c, d", "A")


@pytest.mark.parametrize("html", ["", "<p>A", '<span class="x-nc-sel5">A</span>'])
def test_a_page_in_which_nothing_is_marked_has_empty_gold(html: str) -> None:
    """A page without marked text has empty gold, which means that no text should be extracted."""
    assert annotated_gold(html, "page") == ("", None)


def test_the_three_files_of_a_page_meet_by_its_id(folder: Path) -> None:
    """The HTML comes from the original file, and the title from the annotated file."""
    (folder / "original" / "2-b.html").write_bytes(b"<meta charset=iso-8859-2><p>\xb3\xf3d\xbc")
    first, second = read(folder)
    assert (first.id, first.url, first.domain) == (
        "1-a",
        "http://www.site.example/1",
        "site.example",
    )
    assert (first.html, first.title) == ("<p>page", "The headline")
    assert first.gold is not None
    assert first.gold.startswith("The headline\nFirst line\n")
    assert (second.id, second.url, second.domain, second.gold) == ("2-b", "", "", None)
    assert second.html.endswith("łódź")


def test_addresses_may_be_missing(folder: Path) -> None:
    """The file of URLs may be missing; the pages then have no URL."""
    (folder / "url-mapping.txt").unlink()
    assert [page.url for page in read(folder)] == [""]


def test_gold_without_its_page_is_named(folder: Path) -> None:
    """A gold file without its page is an error; otherwise it would be ignored silently."""
    (folder / "original" / "1-a.html").unlink()
    with pytest.raises(
        CorpusError, match=r"annotated/1-a\.html: the original of this page, .* does not exist"
    ):
        list(read(folder))
