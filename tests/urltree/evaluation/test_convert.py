"""Convert: what becomes which corpus, in which order, and what is not done twice."""

from __future__ import annotations

import gzip
import hashlib
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
import zstandard

from urltree.evaluation.converting import conversion, convert
from urltree.evaluation.corpora.corpus_error import CorpusError
from urltree.evaluation.corpora.sources import find
from urltree.evaluation.corpus import Corpus
from urltree.evaluation.workspace import Workspace

SHARED = Path(__file__).parents[4] / "shared" / "data"
shared_only = pytest.mark.skipif(not SHARED.exists(), reason=f"no data at {SHARED.name}")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """An empty one."""
    return Workspace(tmp_path / "work")


def page(name: str, day: int | None = None, host: str = "site.example", **more: Any) -> Any:
    """A page with gold, as a record, of a day in May or of none."""
    published = f"2013-05-{day:02}T00:00:00Z" if day else None
    url = f"https://{host}/{name}"
    return {"id": name, "url": url, "html": name, "gold": name, "published": published} | more


def put(file: Path, *records: dict[str, Any]) -> Path:
    """Records as JSON Lines, compressed where the name says so."""
    pack: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".zst": zstandard.compress}
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = b"".join(orjson.dumps(record) + b"\n" for record in records)
    file.write_bytes(pack.get(file.suffix, bytes)(lines))
    return file


def order(workspace: Workspace, corpus: Corpus) -> dict[str, str]:
    """Ids of each part."""
    parts = {part: workspace.pages(corpus.name, part) for part in corpus.parts}
    return {part: " ".join(page.id for page in pages) for part, pages in parts.items()}


def test_each_file_of_a_folder_is_a_corpus(tmp_path: Path, workspace: Workspace) -> None:
    """Of pages as they come, in one part, whatever they are compressed by."""
    put(tmp_path / "in/a.jsonl", page("2", 2), page("1", 1, host="other.example"))
    put(tmp_path / "in/b.c.jsonl.gz", page("3"))
    put(tmp_path / "in/d.jsonl.zst", page("4"), page("5", gold=None))
    (tmp_path / "in/README.md").write_text("no corpus")
    corpora = convert([tmp_path / "in"], workspace)
    assert [(c.name, c.kind, c.parts, c.source) for c in corpora] == [
        ("a", "pages", {"pages": 2}, "a.jsonl"),
        ("b.c", "pages", {"pages": 1}, "b.c.jsonl.gz"),
        ("d", "pages", {"pages": 2}, "d.jsonl.zst"),
    ]
    assert order(workspace, corpora[0]) == {"pages": "2 1"}
    assert list(workspace.corpora.values()) == corpora
    done = conversion(workspace, "d")
    assert (done.scored, done.html_bytes) == (1, 2)


def test_a_stream_has_a_part_for_each_domain_in_order_of_time(
    tmp_path: Path, workspace: Workspace
) -> None:
    """Two hosts of a domain are one part, and two files; pages of one time keep their order."""
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
    """Days and times without offset are UTC; what is no time is none."""
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
    """Also where no page has any."""
    put(tmp_path / "streams/1.jsonl", page("a", gold=None), page("b", gold=None))
    [corpus] = convert([tmp_path / "streams"], workspace)
    assert corpus.parts == {"site.example": 2}
    assert conversion(workspace, "streams").scored == 0


@pytest.mark.parametrize(
    ("name", "manifest", "kind"),
    [
        ("streams", None, "stream"),
        ("stream", {}, "stream"),
        ("sites", {"domains": []}, "stream"),
        ("sites", {"site": {}}, "pages"),
        ("sites", [], "pages"),
        ("sites", None, "pages"),
    ],
)
def test_a_folder_says_whether_it_is_a_stream(
    tmp_path: Path, name: str, manifest: Any, kind: str
) -> None:
    """By its name or by its manifest; whoever calls knows better."""
    put(tmp_path / name / "site.jsonl", page("a"))
    if manifest is not None:
        (tmp_path / name / "manifest.json").write_bytes(orjson.dumps(manifest))
    assert [source.kind for source in find(tmp_path / name)] == [kind]
    assert [source.kind for source in find(tmp_path / name, kind="pages")] == ["pages"]
    assert [source.kind for source in find(tmp_path / name, kind="stream")] == ["stream"]


def test_folders_of_corpora_are_entered(tmp_path: Path, workspace: Workspace) -> None:
    """Whatever forms they have; what holds no corpus is passed over."""
    put(tmp_path / "in/streams/1.jsonl", page("a"))
    put(tmp_path / "in/pages/b.jsonl", page("a"))
    for name, text in {
        "in/thesis/meta.yaml": "- {raw: a.html, clean: a.txt}",
        "in/thesis/raw/a.html": "<p>A",
        "in/thesis/clean/a.txt": "A",
        "in/cleaneval/en_original/1.html": "<p>A",
        "in/cleaneval/en_cleaned/1-cleaned.txt": "<p>A",
        "in/l3s/original/1.html": "<p>A",
        "in/l3s/annotated/1.html": '<span class="x-nc-sel2">A',
        "in/notes/a.txt": "A",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    corpora = convert([tmp_path / "in"], workspace)
    forms = {corpus.name: conversion(workspace, corpus.name).form for corpus in corpora}
    assert forms == {
        "b": "json-lines",
        "cleaneval": "cleaneval",
        "l3s": "l3s-gn1",
        "streams": "json-lines",
        "thesis": "thesis",
    }
    assert [p.gold for p in workspace.pages("thesis", "pages")] == ["A"]


def test_gold_of_a_tool_is_marked(tmp_path: Path, workspace: Workspace) -> None:
    """By those who know the corpus, by its manifest, or because the literature's are known."""
    known = put(tmp_path / "in/newspaper-tests.jsonl", page("a"))
    other = put(tmp_path / "in/mine.jsonl", page("a"))
    put(tmp_path / "in/none.jsonl", page("a"))
    manifest = {"mine": {"tool": "my-tool"}, "none": {}}
    (tmp_path / "in/manifest.json").write_bytes(orjson.dumps(manifest))
    assert [corpus.tool for corpus in convert([known, other], workspace)] == [
        "newspaper",
        "my-tool",
    ]
    assert [c.tool for c in convert([tmp_path / "in"], workspace, tool="x")] == ["x"] * 3


def test_pages_of_no_known_site_are_sites_of_their_own(
    tmp_path: Path, workspace: Workspace
) -> None:
    """Together they would count as one in averages over sites."""
    convert(
        [put(tmp_path / "a.jsonl", page("1", url=""), page("2", url="", domain="L"))], workspace
    )
    assert [p.domain for p in workspace.pages("a", "pages")] == ["1", "L"]


def test_the_hash_is_of_the_pages_as_they_are_on_disk(tmp_path: Path, workspace: Workspace) -> None:
    """Uncompressed, part after part."""
    put(tmp_path / "streams/1.jsonl", page("a"), page("b", host="other.example"), page("c"))
    [corpus] = convert([tmp_path / "streams"], workspace)
    lines = b""
    for part in corpus.parts:
        with zstandard.open(workspace.pages_file("streams", part)) as stream:
            lines += stream.read()
    assert hashlib.sha256(lines).hexdigest() == corpus.sha256
    assert lines.count(b"\n") == 3


def test_what_has_not_changed_is_not_converted_again(tmp_path: Path, workspace: Workspace) -> None:
    """Another input, option or a part that is lost converts again, to the same bytes."""
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
    """Nor what was there of another version; corpora before it are there, and no other file."""
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


def test_a_folder_is_named_where_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dots name no corpus."""
    put(tmp_path / "streams" / "in" / "1.jsonl", page("a"))
    monkeypatch.chdir(tmp_path / "streams" / "in")
    names = [[source.name for source in find(Path(path))] for path in (".", "..", "../in/..")]
    assert names == [["1"], ["1"], ["1"]]
    (tmp_path / "streams" / "in").rename(tmp_path / "streams" / "stream")
    monkeypatch.chdir(tmp_path / "streams" / "stream")
    assert [source.name for source in find(Path())] == ["stream"]


@pytest.mark.parametrize(
    ("records", "options", "problem"),
    [
        ([page("1"), page("1")], {}, r"a\.jsonl: the id '1' is there twice"),
        ([page("1", gold=None)], {}, r"a\.jsonl: no page has gold, with or without"),
        ([], {}, r"a\.jsonl: has no page"),
        ([page("1")], {"name": "a/b"}, "'a/b' cannot name a folder"),
        ([page("1")], {"name": ".."}, r"'\.\.' cannot name a folder"),
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
    """With the file, and what is wrong with it."""
    with pytest.raises(CorpusError, match=problem):
        convert([put(tmp_path / "a.jsonl", *records)], workspace, **options)


def test_an_id_may_not_be_in_two_files_of_a_stream(tmp_path: Path, workspace: Workspace) -> None:
    """The second file is named."""
    put(tmp_path / "streams/1.jsonl", page("a"))
    put(tmp_path / "streams/2.jsonl", page("a", host="other.example"))
    with pytest.raises(CorpusError, match=r"2\.jsonl: the id 'a' is there twice"):
        convert([tmp_path / "streams"], workspace)


def test_two_corpora_may_not_have_one_name(tmp_path: Path, workspace: Workspace) -> None:
    """One would replace the other; one of them can be given a name."""
    files = [put(tmp_path / name / "a.jsonl", page("1")) for name in "xy"]
    with pytest.raises(CorpusError, match="2 corpora are named a"):
        convert(files, workspace)
    with pytest.raises(CorpusError, match="'b' cannot name a folder for 2 corpora"):
        convert(files, workspace, name="b")
    assert [c.name for c in convert(files[:1], workspace, name="b")] == ["b"]


def test_nothing_of_a_known_form_is_said(tmp_path: Path, workspace: Workspace) -> None:
    """A folder without corpora, a path that is not there, and a folder that is not of a form."""
    (tmp_path / "in").mkdir()
    for path, options, problem in [
        (tmp_path / "in", {}, "in: holds no corpus of a form that is known"),
        (tmp_path / "none", {}, "none: does not exist"),
        (tmp_path / "in", {"form": "json-lines"}, "in: holds no .jsonl"),
        (tmp_path / "in", {"form": "l3s-gn1"}, "in: has no page"),
        (tmp_path / "in", {"form": "cleaneval"}, "in: has no page"),
    ]:
        with pytest.raises(CorpusError, match=problem):
            convert([path], workspace, **options)  # type: ignore[arg-type]


def test_memory_does_not_grow_with_the_stream(tmp_path: Path, workspace: Workspace) -> None:
    """A page is held at a time."""
    file = tmp_path / "streams" / "1.jsonl"
    file.parent.mkdir()
    with file.open("wb") as out:
        for number in range(40):
            out.write(orjson.dumps(page(str(number), html="x" * 1_000_000)) + b"\n")
    tracemalloc.start()
    convert([tmp_path / "streams"], workspace)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert conversion(workspace, "streams").html_bytes == 40_000_000
    assert peak < 20_000_000  # 15 MB, with twice as many pages too


@shared_only
def test_the_22_sites_are_one_stream(record: Callable[[str], None]) -> None:
    """And each benchmark of single pages is a corpus; two have gold of a tool."""
    *pages, streams = find(SHARED)
    assert (streams.name, streams.kind, len(streams.paths)) == ("streams", "stream", 22)
    tools = {source.name: source.tool for source in pages if source.tool}
    assert tools == {
        "mozilla-readability-test-pages": "readability.js",
        "newspaper-tests": "newspaper",
    }
    record(f"convert: {len(streams.paths)} sites are one stream; {len(pages)} corpora of pages")


@shared_only
def test_records_without_url_are_converted(
    workspace: Workspace, record: Callable[[str], None]
) -> None:
    """273 pages, each under the label that the data gives it."""
    names = ["mozilla-readability-test-pages", "newspaper-tests"]
    convert([SHARED / "pages" / f"{name}.jsonl.zst" for name in names], workspace)
    pages = [page for name in names for page in workspace.pages(name, "pages")]
    without = [page for page in pages if not page.url]
    record(f"convert: {len(without)} pages without URL, of {len(pages)}, each has a domain")
    assert len(without) == 273
    assert all(page.domain for page in without)
