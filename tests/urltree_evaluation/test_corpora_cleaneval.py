"""The format of CleanEval: the wrapper of a page, the marks of the gold, and pairs of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from urltree_evaluation.corpora.cleaneval import read, remove_marks, unwrap
from urltree_evaluation.corpora.corpus_files import CorpusError

WRAPPED = (
    b'<text id="http://site.example/a?b=1&amp;c=2" title="Fish & "Chips" &amp; caf\xe9"'
    b' encoding="iso-8859-1">\n<html><p>caf\xe9</p></html>\n</text>\n'
)


def put(file: Path, content: bytes | str) -> None:
    """Write a file, and create the folders of its path."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())


def test_the_wrapper_is_taken_off_and_heard() -> None:
    """The wrapper gives URL, title and encoding.

    Quotes in titles are not escaped there. The encoding counts as if an HTTP header named it.
    """
    page = unwrap(WRAPPED)
    assert page.url == "http://site.example/a?b=1&c=2"
    assert page.title == 'Fish & "Chips" & café'
    assert page.text() == "<html><p>café</p></html>\n"


@pytest.mark.parametrize(
    ("opening", "url", "title"),
    [
        (b'<text id="http://site.example/">', "http://site.example/", None),
        (b'\n <TEXT id="http://site.example/" title="" encoding="utf-8">', None, None),
        (b'<text id="http://site.example/"\ntitle="A"\nencoding="utf-8" >', None, "A"),
        (b'<text id="" title="A">', "", "A"),
    ],
)
def test_parts_of_the_wrapper_may_be_missing(
    opening: bytes, url: str | None, title: str | None
) -> None:
    """A wrapper may lack attributes, as in later data sets in this format."""
    page = unwrap(opening + b"<p>A</text>")
    assert page.text() == "<p>A"
    assert page.url == ("http://site.example/" if url is None else url)
    assert page.title == title


def test_a_page_without_wrapper_stays_as_it_is() -> None:
    """A page without a wrapper is not changed, even if it contains an element named text."""
    page = b'<svg><text id="a">A</text></svg>'
    assert unwrap(page).text() == page.decode()


@pytest.mark.parametrize(
    ("gold", "text"),
    [
        ("URL: http://site.example/\r\n\r\n<h>A\r\n\r\n<p>B is\r\n broken\r\n", "A\nB is broken"),
        ("<p> A\n<l>B\n<L> C", "A\nB\nC"),
        ("<p>A<p>B</p>C", "A\nB\nC"),
        ("A\n\n<p>B\n\nC", "A\nB\nC"),
        ("A\nB\n", "A\nB"),
        ("\ufeffURL: http://site.example/\n", ""),
        ("URL: http://site.example/\rA\rB", "A\nB"),
        ("A\nURL: is no mark here", "A\nURL: is no mark here"),
        ("<pre> <b> <link>", "<pre> <b> <link>"),
    ],
)
def test_marks_are_removed_from_gold(gold: str, text: str) -> None:
    """Marks are removed, and a mark or an empty line begins a block.

    Gold without marks keeps its lines.
    """
    assert remove_marks(gold.removeprefix("\ufeff")) == text


@pytest.mark.parametrize(
    ("page", "gold"),
    [("en_original/7.html", "en_cleaned/7-cleaned.txt"), ("input/7.html", "GoldStandard/7.txt")],
)
def test_pages_and_gold_meet_by_their_number(tmp_path: Path, page: str, gold: str) -> None:
    """Page and gold are matched by number in both layouts.

    A page without a gold file has no gold.
    """
    put(tmp_path / page, WRAPPED)
    put(tmp_path / gold, "URL: http://else.example/\n<h>Café")
    put((tmp_path / page).with_name("10.html"), "<p>A")
    put(tmp_path / "en_stripped/7.txt", "what annotators began with")
    put(tmp_path / "README.txt", "a note")
    first, second = read(tmp_path)
    assert (first.id, first.url, first.domain, first.gold) == (
        "7",
        "http://site.example/a?b=1&c=2",
        "site.example",
        "Café",
    )
    assert (second.id, second.html, second.gold, second.is_scored) == ("10", "<p>A", None, False)


def test_gold_tells_the_address_where_no_wrapper_does(tmp_path: Path) -> None:
    """If the page has no wrapper, its URL comes from the first line of the gold."""
    put(tmp_path / "input/a.html", "<p>A")
    put(tmp_path / "GoldStandard/a.txt", "\nURL: http://www.site.example/a\n<p>A")
    [page] = read(tmp_path)
    assert (page.url, page.domain) == ("http://www.site.example/a", "site.example")


@pytest.mark.parametrize(
    ("second", "problem"),
    [
        ("zh_original/7.html", "has the same name or number"),
        ("GoldStandard/8.txt", r"8\.html, does not exist"),
    ],
)
def test_files_that_cannot_be_matched_are_named(tmp_path: Path, second: str, problem: str) -> None:
    """It is an error if a folder has pages in two languages, or gold without its page."""
    put(tmp_path / "en_original/7.html", "<p>A")
    put(tmp_path / second, "<p>B")
    with pytest.raises(CorpusError, match=problem) as caught:
        list(read(tmp_path))
    assert second in str(caught.value)
