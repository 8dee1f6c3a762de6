"""The layout of corpora in the thesis: the folders raw and clean, and the file meta.yaml."""

from __future__ import annotations

from pathlib import Path

import pytest

from urltree_evaluation.corpora.corpus_files import CorpusError
from urltree_evaluation.corpora.thesis import read
from urltree_evaluation.corpus import CorpusPage

CLEANEVAL = """
- clean: 763.txt
  clean_encoding: utf-8
  id: '763'
  meta:
    encoding: iso-8859-1
    id: http://www.site.example/763
    title: The Site - 763
  raw: 763.html
  raw_encoding: iso8859-1
"""
L3S_GN1 = """
- clean: 4a3c.html
  clean_encoding: utf-8
  id: 4a3c
  meta:
    encoding_confidence: 0.87624999999999997
  raw: 4a3c.html
  raw_encoding: utf-8
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write the files that CLEANEVAL and L3S_GN1 refer to."""
    for name, content in {
        "raw/763.html": b"<html>caf\xe9 \x93quoted\x94 \x81",
        "clean/763.txt": "URL: http://www.site.example/763\n<h>Café".encode(),
        "raw/4a3c.html": "<html>łódź".encode(),
        "clean/4a3c.html": '<span class="x-nc-sel2">łódź</span> menu'.encode(),
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return tmp_path


def pages(folder: Path, meta: str) -> list[CorpusPage]:
    """Return the pages of a folder with this meta.yaml."""
    (folder / "meta.yaml").write_text(meta)
    return list(read(folder))


def test_cleaneval_is_read_as_the_thesis_kept_it(folder: Path) -> None:
    """For CleanEval, the `id` in `meta` is the URL, and CleanEval's marks are removed."""
    (folder / "raw/763.html").write_bytes(b"<html>caf\xe9 \x93quoted\x94")
    assert pages(folder, CLEANEVAL) == [
        CorpusPage(
            id="763",
            url="http://www.site.example/763",
            domain="site.example",
            html="<html>café “quoted”",
            title="The Site - 763",
            gold="Café",
        )
    ]


def test_l3s_gn1_is_read_as_the_thesis_kept_it(folder: Path) -> None:
    """For L3S-GN1, the gold file is HTML, and the gold is the text that L3S-GN1's spans mark."""
    assert pages(folder, L3S_GN1) == [CorpusPage("4a3c", "", "", "<html>łódź", gold="łódź")]


def test_a_byte_without_meaning_to_browsers_has_that_of_the_label(folder: Path) -> None:
    """A page labelled `iso8859-1` is decoded as windows-1252.

    A byte that is undefined in windows-1252 is decoded as ISO 8859-1.
    """
    [page] = pages(folder, CLEANEVAL)
    assert page.html == "<html>café \x93quoted\x94 \x81"


def test_raw_is_enough(folder: Path) -> None:
    """An entry needs only `raw`.

    Its id is then the file name, its encoding is detected, and it has no gold.
    """
    assert pages(folder, "- {raw: 4a3c.html}") == [CorpusPage("4a3c", "", "", "<html>łódź")]


def test_the_entry_itself_may_say_what_meta_says(folder: Path) -> None:
    """The fields of `meta` may be in the entry itself.

    Numbers and dates that YAML has parsed are converted to text.
    """
    meta = (
        "- {raw: 4a3c.html, id: 17, url: 'http://a.example/', title: 1984, published: 2012-09-01}"
    )
    [page] = pages(folder, meta)
    assert (page.id, page.url, page.title, page.published) == (
        "17",
        "http://a.example/",
        "1984",
        "2012-09-01",
    )


def test_the_wrapper_of_cleaneval_may_be_left_on(folder: Path) -> None:
    """A page may have CleanEval's wrapper.

    The encoding in meta.yaml overrides that of the wrapper.
    """
    wrapped = '<text id="http://site.example/9" title="Żółw" encoding="utf-8"><p>łódź</text>'
    (folder / "raw/9.html").write_bytes(wrapped.encode("iso-8859-2"))
    [page] = pages(folder, "- {raw: 9.html, raw_encoding: iso-8859-2, meta: {title: A}}")
    assert (page.url, page.title, page.html) == ("http://site.example/9", "A", "<p>łódź")


def test_tags_of_python_2_are_understood(folder: Path) -> None:
    """Type tags of Python 2 are read as text, because the scripts of the thesis wrote them."""
    [page] = pages(folder, "- {raw: !!python/str '4a3c.html', title: !!python/unicode 'A'}")
    assert page.title == "A"


@pytest.mark.parametrize(
    ("meta", "problem"),
    [
        ("- {id: a, raw: none.html}", r"entry 1, id a: .*raw/none\.html: No such file"),
        ("- {raw: 763.html, clean: none.txt}", r"entry 1, id 763: .*clean/none\.txt: No such"),
        ("- {raw: 763.html}\n- {id: a}", r"entry 2: raw is missing; it is required"),
        (
            "- {raw: 763.html, raw_encoding: utf-8}",
            r"raw/763\.html: cannot be decoded as utf-8: .*position 9",
        ),
        ("- {raw: 763.html, raw_encoding: utf-9}", r"763\.html: unknown encoding 'utf-9'"),
        (
            "- {raw: 763.html, clean: 763.txt, clean_encoding: ascii-7}",
            r"763\.txt: unknown encoding",
        ),
        ("- {raw: [a]}", r"entry 1: raw must be a text, but is of type list"),
        (
            "- {raw: 763.html, meta: []}\n- {raw: 4a3c.html, meta: [a]}",
            r"entry 2: meta must be a mapping",
        ),
        ("- a", r"entry 1: must be a mapping, but is of type str"),
        ("raw: a", r"meta\.yaml: must be a list of pages, but is of type dict"),
        ("", r"meta\.yaml: must be a list of pages, but is of type NoneType"),
        ("- {raw: a", r"meta\.yaml: not valid YAML: .*line 1"),
        ("- {raw: a, published: 2013-02-30}", r"meta\.yaml: not valid YAML: day is out of range"),
        ("- !!python/object:os.system {}", r"meta\.yaml: not valid YAML"),
    ],
)
def test_what_is_wrong_is_said(folder: Path, meta: str, problem: str) -> None:
    """The error contains the file. It contains the entry and the entry's id if these are known."""
    with pytest.raises(CorpusError, match=f"(?s){problem}"):
        pages(folder, meta)
