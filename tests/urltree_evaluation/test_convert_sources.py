"""Tests of converting: the corpora that an input contains, with their kind and name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.urltree_evaluation.corpora_on_disk import SHARED, order, page, put, shared_only
from urltree_evaluation.converting import convert, load_conversion
from urltree_evaluation.corpora.corpus_files import CorpusError
from urltree_evaluation.corpora.sources import find_corpora
from urltree_evaluation.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Return an empty workspace."""
    return Workspace(tmp_path / "work")


def test_each_file_of_a_folder_is_a_corpus(tmp_path: Path, workspace: Workspace) -> None:
    """The pages of each file are one part in their original order, with or without compression."""
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
    done = load_conversion(workspace, "d")
    assert (done.scored, done.html_bytes) == (1, 2)


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
    """The name or the manifest of a folder decides its kind; an explicit kind overrides both."""
    put(tmp_path / name / "site.jsonl", page("a"))
    if manifest is not None:
        (tmp_path / name / "manifest.json").write_bytes(orjson.dumps(manifest))
    assert [source.kind for source in find_corpora(tmp_path / name)] == [kind]
    assert [source.kind for source in find_corpora(tmp_path / name, kind="pages")] == ["pages"]
    assert [source.kind for source in find_corpora(tmp_path / name, kind="stream")] == ["stream"]


def test_folders_of_corpora_are_entered(tmp_path: Path, workspace: Workspace) -> None:
    """Corpora of all formats are found in subfolders, and folders without a corpus are skipped."""
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
    forms = {corpus.name: load_conversion(workspace, corpus.name).form for corpus in corpora}
    assert forms == {
        "b": "json-lines",
        "cleaneval": "cleaneval",
        "l3s": "l3s-gn1",
        "streams": "json-lines",
        "thesis": "thesis",
    }
    assert [p.gold for p in workspace.pages("thesis", "pages")] == ["A"]


def test_gold_of_a_tool_is_marked(tmp_path: Path, workspace: Workspace) -> None:
    """The caller, the manifest or the list of known corpora names the tool that made the gold."""
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


def test_a_folder_is_named_where_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the paths "." and "..", the real name of the folder is used."""
    put(tmp_path / "streams" / "in" / "1.jsonl", page("a"))
    monkeypatch.chdir(tmp_path / "streams" / "in")
    names = [
        [source.name for source in find_corpora(Path(path))] for path in (".", "..", "../in/..")
    ]
    assert names == [["1"], ["1"], ["1"]]
    (tmp_path / "streams" / "in").rename(tmp_path / "streams" / "stream")
    monkeypatch.chdir(tmp_path / "streams" / "stream")
    assert [source.name for source in find_corpora(Path())] == ["stream"]


def test_two_corpora_may_not_have_one_name(tmp_path: Path, workspace: Workspace) -> None:
    """Two corpora with the same name are an error, because one would overwrite the other.

    One of them can be converted alone, with another name.
    """
    files = [put(tmp_path / name / "a.jsonl", page("1")) for name in "xy"]
    with pytest.raises(CorpusError, match="2 corpora have the name a: convert them separately"):
        convert(files, workspace)
    with pytest.raises(CorpusError, match="'b' requires exactly one corpus, but INPUTS contain 2"):
        convert(files, workspace, name="b")
    assert [c.name for c in convert(files[:1], workspace, name="b")] == ["b"]


def test_nothing_of_a_known_form_is_said(tmp_path: Path, workspace: Workspace) -> None:
    """The error names the path if it does not exist or contains no corpus in the format."""
    (tmp_path / "in").mkdir()
    for path, options, problem in [
        (tmp_path / "in", {}, "in: contains no corpus in a known format"),
        (tmp_path / "none", {}, "none: does not exist"),
        (tmp_path / "in", {"form": "json-lines"}, "in: contains no .jsonl"),
        (tmp_path / "in", {"form": "l3s-gn1"}, "in: contains no page"),
        (tmp_path / "in", {"form": "cleaneval"}, "in: contains no page"),
    ]:
        with pytest.raises(CorpusError, match=problem):
            convert([path], workspace, **options)  # type: ignore[arg-type]


@shared_only
def test_the_22_sites_are_one_stream(record: Callable[[str], None]) -> None:
    """The 22 files of sites become one stream; each benchmark of single pages is a corpus.

    The gold of two of these corpora was made by a tool.
    """
    *pages, streams = find_corpora(SHARED)
    assert (streams.name, streams.kind, len(streams.paths)) == ("streams", "stream", 22)
    tools = {source.name: source.tool for source in pages if source.tool}
    assert tools == {
        "mozilla-readability-test-pages": "readability.js",
        "newspaper-tests": "newspaper",
    }
    record(f"convert: {len(streams.paths)} sites are one stream; {len(pages)} corpora of pages")


@pytest.mark.parametrize("name", ["..jsonl", "...jsonl", ".hidden.jsonl"])
def test_a_file_whose_name_would_leave_the_folder_asks_for_another(
    name: str, tmp_path: Path
) -> None:
    """The error asks for another name, because a corpus named ".." would overwrite all others."""
    file = put(tmp_path / name, page("1"))
    workspace = Workspace(tmp_path / "work")
    with pytest.raises(
        CorpusError, match=r"cannot be the name of a corpus, .* pass another with --name"
    ):
        convert([file], workspace)
    assert not workspace.path.exists()
    assert [corpus.name for corpus in convert([file], workspace, name="mine (2)")] == ["mine (2)"]
