"""Tests of corpora in the format JSON Lines."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
import zstandard

from urltree_evaluation.corpora.corpus_files import CorpusError
from urltree_evaluation.corpora.json_lines import read
from urltree_evaluation.corpus import CorpusPage

FULL: dict[str, Any] = {
    "id": "a1",
    "url": "https://news.site.example/a",
    "domain": "a label",
    "published": "2013-10-27T10:00:00Z",
    "title": "A title",
    "html": "<p>Text",
    "gold": "A title\nText",
    "with": ["Text"],
    "without": ["Menu"],
}


def written(folder: Path, *records: dict[str, Any]) -> Path:
    """Write records as a JSON Lines file."""
    file = folder / "site.jsonl"
    file.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    return file


def test_all_fields_are_read(tmp_path: Path) -> None:
    """All fields of a record are read.

    The domain comes from the URL, even if the record has a label.
    """
    assert list(read(written(tmp_path, FULL))) == [
        CorpusPage(
            id="a1",
            url="https://news.site.example/a",
            domain="site.example",
            html="<p>Text",
            published="2013-10-27T10:00:00Z",
            title="A title",
            gold="A title\nText",
            gold_with=("Text",),
            gold_without=("Menu",),
        )
    ]


def test_html_is_enough(tmp_path: Path) -> None:
    """Only `html` is required.

    Missing, null and empty fields count as unknown, and the default id consists of the file name
    and the line number.
    """
    empty = {"html": "", "url": "", "title": "", "published": None, "with": None}
    pages = list(read(written(tmp_path, {"html": "<p>"}, empty)))
    assert pages == [
        CorpusPage("site/1", "", "", "<p>"),
        CorpusPage("site/2", "", "", ""),
    ]
    assert not any(page.is_scored for page in pages)


@pytest.mark.parametrize("url", ["", "hard::file.html", "xhttps://site.example/"])
def test_a_label_stands_for_the_domain_where_there_is_no_url(tmp_path: Path, url: str) -> None:
    """Without a valid URL, the label is the domain.

    An invalid URL counts as missing, because extractors fail on it.
    """
    [page] = read(written(tmp_path, FULL | {"url": url}))
    assert (page.url, page.domain) == ("", "a label")


def test_an_empty_gold_is_gold(tmp_path: Path) -> None:
    """A page with empty gold is scored: empty gold means that no text should be extracted."""
    [page] = read(written(tmp_path, {"html": "<p>", "gold": ""}))
    assert page.gold == ""
    assert page.is_scored


def test_a_number_may_be_an_id(tmp_path: Path) -> None:
    """An id may be a number, including zero, and becomes text."""
    assert [page.id for page in read(written(tmp_path, FULL | {"id": 0}))] == ["0"]


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress, bytes])
def test_files_may_be_compressed(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    """Compression by gzip or zstd is detected from the first bytes of a file, not from its name."""
    file = written(tmp_path, FULL, FULL)
    file.write_bytes(pack(file.read_bytes()))
    assert [page.id for page in read(file)] == ["a1", "a1"]


def test_lone_surrogates_are_replaced(tmp_path: Path) -> None:
    """Lone surrogates are replaced by U+FFFD.

    JSON can contain them but UTF-8 cannot, so later stages could not write them.
    """
    file = tmp_path / "site.jsonl"
    file.write_bytes(rb'{"html": "a\ud800b", "gold": "\ud83d\ude00", "with": ["\udfff"]}')
    [page] = read(file)
    assert (page.html, page.gold, page.gold_with) == ("a\ufffdb", "\U0001f600", ("\ufffd",))
    assert orjson.dumps(page)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"url": "https://site.example/"}', "page 2 of FILE: html is missing; it is required"),
        (b'{"html": 1}', "page 2 of FILE: html must be a string, but is of type int"),
        (b'{"html": "", "gold": []}', "page 2 of FILE: gold must be a string, but is of type list"),
        (b'{"html": "", "with": "a"}', "page 2 of FILE: with must be a list of strings"),
        (b'{"html": "", "without": [1]}', "page 2 of FILE: without must be a list of strings"),
        (b"[]", "line 2 of FILE: should be a JSON object, is list"),
        (b'{"html": ', "line 2 of FILE: is not valid JSON"),
    ],
)
def test_a_line_that_is_no_page_is_named(tmp_path: Path, line: bytes, problem: str) -> None:
    """The error contains the file, the number of the page or line, and the field."""
    file = written(tmp_path, FULL)
    file.write_bytes(file.read_bytes() + line)
    with pytest.raises(CorpusError) as caught:
        list(read(file))
    assert str(caught.value).startswith(problem.replace("FILE", str(file)))


def test_a_file_that_is_cut_short_is_named(tmp_path: Path) -> None:
    """A truncated file is an error, so that its first pages are not taken for the whole file."""
    file = written(tmp_path, FULL, FULL)
    file.write_bytes(gzip.compress(file.read_bytes())[:-9])
    with pytest.raises(CorpusError, match=r"site\.jsonl: "):
        list(read(file))
