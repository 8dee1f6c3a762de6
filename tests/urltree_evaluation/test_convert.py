"""Tests of converting: the order of pages, the hash of a corpus, and unchanged inputs."""

from __future__ import annotations

import hashlib
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
import zstandard

from tests.urltree_evaluation.corpora_on_disk import SHARED, order, page, put, shared_only
from urltree_evaluation.converting import convert, load_conversion
from urltree_evaluation.corpora.corpus_files import CorpusError
from urltree_evaluation.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Return an empty workspace."""
    return Workspace(tmp_path / "work")


def test_a_stream_has_a_part_for_each_domain_in_order_of_time(
    tmp_path: Path, workspace: Workspace
) -> None:
    """Pages of two hosts of a domain, in two files, are one part.

    Pages with the same time keep their order.
    """
    put(tmp_path / "streams/1.jsonl", page("c", 3), page("a", 1), page("b", 2), page("b2", 2))
    put(
        tmp_path / "streams/2.jsonl",
        page("d", 2, host="www.site.example"),
        page("e", 1, host="other.example"),
    )
    [corpus] = convert([tmp_path / "streams"], workspace)
    assert (corpus.name, corpus.kind, corpus.source) == ("streams", "stream", "1.jsonl, 2.jsonl")
    assert order(workspace, corpus) == {"other.example": "e", "site.example": "a b b2 d c"}


def test_an_undated_page_stays_behind_the_one_before(tmp_path: Path, workspace: Workspace) -> None:
    """A page without a valid time follows the page before it.

    Dates and times without offset are UTC.
    """
    put(
        tmp_path / "streams/1.jsonl",
        page("first"),
        page("d", 4),
        page("after d"),
        page("a", published="2013-05-01"),
        page("after a", published="in May"),
        page("c", published="2013-05-02T23:00:00-02:00"),
        page("b", published="2013-05-02T23:00:00"),
    )
    [corpus] = convert([tmp_path / "streams"], workspace)
    assert order(workspace, corpus) == {"site.example": "first a after a b c d after d"}


def test_pages_without_gold_are_streamed(tmp_path: Path, workspace: Workspace) -> None:
    """A stream may have pages without gold, and even no page with gold."""
    put(tmp_path / "streams/1.jsonl", page("a", gold=None), page("b", gold=None))
    [corpus] = convert([tmp_path / "streams"], workspace)
    assert corpus.parts == {"site.example": 2}
    assert load_conversion(workspace, "streams").scored == 0


def test_pages_of_no_known_site_are_sites_of_their_own(
    tmp_path: Path, workspace: Workspace
) -> None:
    """A page without URL and label has its id as its domain.

    Otherwise all such pages would count as one site in averages over sites.
    """
    convert(
        [put(tmp_path / "a.jsonl", page("1", url=""), page("2", url="", domain="L"))], workspace
    )
    assert [p.domain for p in workspace.pages("a", "pages")] == ["1", "L"]


def test_the_hash_is_of_the_pages_as_they_are_on_disk(tmp_path: Path, workspace: Workspace) -> None:
    """The hash of a corpus covers the uncompressed lines of all parts, one part after the other."""
    put(tmp_path / "streams/1.jsonl", page("a"), page("b", host="other.example"), page("c"))
    [corpus] = convert([tmp_path / "streams"], workspace)
    lines = b""
    for part in corpus.parts:
        with zstandard.open(workspace.pages_file("streams", part)) as stream:
            lines += stream.read()
    assert hashlib.sha256(lines).hexdigest() == corpus.sha256
    assert lines.count(b"\n") == 3


def test_what_has_not_changed_is_not_converted_again(tmp_path: Path, workspace: Workspace) -> None:
    """A corpus is converted again only after a changed input or option, or if a part is missing.

    The same input gives the same hash.
    """
    file = put(tmp_path / "a.jsonl", page("1"), page("2"))
    written = workspace.path / "corpora" / "a" / "corpus.json"

    def is_converted(**options: Any) -> bool:
        before = written.stat().st_mtime_ns
        convert([file], workspace, **options)
        return written.stat().st_mtime_ns != before

    [first] = convert([file], workspace)
    assert not is_converted()
    assert is_converted(tool="x")
    assert not is_converted(tool="x")
    workspace.pages_file("a", "pages").unlink()
    assert is_converted(tool="x")
    assert workspace.corpora["a"].sha256 == first.sha256
    put(file, page("1"), page("2"), page("3"))
    assert is_converted(tool="x")
    assert order(workspace, first) == {"pages": "1 2 3"}


def test_a_conversion_that_fails_leaves_no_corpus(tmp_path: Path, workspace: Workspace) -> None:
    """No file of a failed corpus remains, not even an older version; other corpora are kept."""
    good = put(tmp_path / "good.jsonl", page("1"))
    bad = put(tmp_path / "bad.jsonl", page("1"))
    convert([good, bad], workspace)
    put(bad, page("1"), {"html": 1})
    (workspace.path / "corpora/bad/.pages.jsonl.zst.17").write_text("of a process that was killed")
    with pytest.raises(CorpusError, match=r"page 2 of .*bad\.jsonl"):
        convert([good, bad], workspace)
    assert list(workspace.corpora) == ["good"]
    folder = workspace.path / "corpora"
    assert not [file for file in folder.rglob("*") if file.name.startswith((".", "tmp"))]
    put(bad, page("1"), page("2"))
    convert([good, bad], workspace)
    assert list(Workspace(workspace.path).corpora) == ["bad", "good"]


@pytest.mark.parametrize(
    ("records", "options", "problem"),
    [
        ([page("1"), page("1")], {}, r"a\.jsonl: two pages have the id '1'"),
        (
            [page("1", gold=None)],
            {},
            r'a\.jsonl: no page can be scored: none has "gold", "with" or "without"',
        ),
        ([], {}, r"a\.jsonl: contains no page"),
        ([page("1")], {"name": "a/b"}, "'a/b' cannot be the name of a corpus"),
        ([page("1")], {"name": ".."}, r"'\.\.' cannot be the name of a corpus"),
        ([page("1")], {"form": "thesis"}, r"a\.jsonl/meta\.yaml: Not a directory"),
    ],
)
def test_what_is_no_corpus_is_said(
    tmp_path: Path,
    workspace: Workspace,
    records: list[dict[str, Any]],
    options: dict[str, Any],
    problem: str,
) -> None:
    """An input that is not a valid corpus, or a wrong option, is an error with the reason."""
    with pytest.raises(CorpusError, match=problem):
        convert([put(tmp_path / "a.jsonl", *records)], workspace, **options)


def test_an_id_may_not_be_in_two_files_of_a_stream(tmp_path: Path, workspace: Workspace) -> None:
    """If two files of a stream have a page with the same id, the error names the second file."""
    put(tmp_path / "streams/1.jsonl", page("a"))
    put(tmp_path / "streams/2.jsonl", page("a", host="other.example"))
    with pytest.raises(CorpusError, match=r"2\.jsonl: two pages have the id 'a'"):
        convert([tmp_path / "streams"], workspace)


def test_memory_does_not_grow_with_the_stream(tmp_path: Path, workspace: Workspace) -> None:
    """Converting a stream keeps only one page in memory at a time."""
    file = tmp_path / "streams" / "1.jsonl"
    file.parent.mkdir()
    with file.open("wb") as out:
        for number in range(40):
            out.write(orjson.dumps(page(str(number), html="x" * 1_000_000)) + b"\n")
    tracemalloc.start()
    convert([tmp_path / "streams"], workspace)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert load_conversion(workspace, "streams").html_bytes == 40_000_000
    assert peak < 20_000_000  # measured: 15 MB, even with twice as many pages


@shared_only
def test_records_without_url_are_converted(
    workspace: Workspace, record: Callable[[str], None]
) -> None:
    """The domain of each of the 273 pages without URL is the label of its record."""
    names = ["mozilla-readability-test-pages", "newspaper-tests"]
    convert([SHARED / "pages" / f"{name}.jsonl.zst" for name in names], workspace)
    pages = [page for name in names for page in workspace.pages(name, "pages")]
    without = [page for page in pages if not page.url]
    record(f"convert: {len(without)} pages without URL, of {len(pages)}, each has a domain")
    assert len(without) == 273
    assert all(page.domain for page in without)
