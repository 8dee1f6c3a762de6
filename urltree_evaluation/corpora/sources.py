"""Detect the format of an input and the corpora in it.

pages.jsonl.zst                         one corpus of single pages
folder with *.jsonl*                    one corpus of single pages for each file
  and manifest.json has "domains", or     one stream of all files
  its name is "stream" or "streams"
folder with meta.yaml                   the thesis' layout
folder with original/ and annotated/    L3S-GN1
folder with GoldStandard/, or with      CleanEval
  N-cleaned.txt in a subfolder
folder of folders                       the corpora of all subfolders
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import orjson

from urltree_evaluation.corpora import cleaneval, json_lines, l3s_gn1, thesis
from urltree_evaluation.corpora.corpus_files import CorpusError
from urltree_evaluation.corpus import CorpusKind, CorpusPage

Form = Literal["json-lines", "thesis", "cleaneval", "l3s-gn1"]

_READERS: dict[Form, Callable[[Path], Iterator[CorpusPage]]] = {
    "json-lines": json_lines.read,
    "thesis": thesis.read,
    "cleaneval": cleaneval.read,
    "l3s-gn1": l3s_gn1.read,
}

# Published corpora whose gold is the output of a program. Scores on these corpora measure the
# similarity to that program, so these corpora are reported separately.
_TOOLS = {"mozilla-readability-test-pages": "readability.js", "newspaper-tests": "newspaper"}


@dataclass(frozen=True, slots=True)
class SourceCorpus:
    """A corpus that has not been read yet.

    Attributes:
        name: name of the corpus.
        form: format of its files.
        kind: "pages" for single pages, or "stream".
        paths: the JSON Lines files; for every other format, the folder.
        tool: program that produced the gold; None if no program is known.
    """

    name: str
    form: Form
    kind: CorpusKind
    paths: tuple[Path, ...]
    tool: str | None = None

    def pages(self, path: Path) -> Iterator[CorpusPage]:
        """Yield the pages of one of the paths. Raises CorpusError if it cannot be read."""
        return _READERS[self.form](path)

    def files(self) -> list[Path]:
        """Return all files of the corpus, sorted."""
        return sorted(
            file for path in self.paths for file in (path, *path.rglob("*")) if file.is_file()
        )


def find_corpora(
    path: Path, form: Form | None = None, kind: CorpusKind | None = None
) -> list[SourceCorpus]:
    """Return the corpora of an input.

    Args:
        path: a file or a folder.
        form: format of the input; None detects it.
        kind: kind of the corpora in the input; None detects the kind.

    Raises:
        CorpusError: the input does not exist, has an unknown format, or contains no corpus.
    """
    if not path.exists():
        raise CorpusError(f"{path}: does not exist")
    path = path if path.name.strip(".") else path.resolve()  # "." and ".." have no usable name
    form = form or _form(path)
    if form is None:
        return _find_below(path, kind)
    if form == "json-lines":
        return _find_json_lines(path, kind)
    return [SourceCorpus(path.name, form, kind or "pages", (path,))]


def _form(path: Path) -> Form | None:
    if path.is_file() or _json_lines_in(path):
        return "json-lines"
    if (path / "meta.yaml").exists():
        return "thesis"
    if (path / "original").is_dir() and (path / "annotated").is_dir():
        return "l3s-gn1"
    if (path / "GoldStandard").is_dir() or any(path.glob("*/*-cleaned.txt")):
        return "cleaneval"
    return None


def _find_below(folder: Path, kind: CorpusKind | None) -> list[SourceCorpus]:
    folders = sorted(each for each in folder.iterdir() if each.is_dir())
    found = [corpus for each in folders if _form(each) for corpus in find_corpora(each, None, kind)]
    if not found:
        raise CorpusError(
            f"{folder}: contains no corpus in a known format: see the table in docs/evaluation.md"
        )
    return found


def _find_json_lines(path: Path, kind: CorpusKind | None) -> list[SourceCorpus]:
    files = _json_lines_in(path) if path.is_dir() else [path]
    if not files:
        raise CorpusError(f"{path}: contains no .jsonl, .jsonl.gz or .jsonl.zst file")
    manifest = _manifest(path if path.is_dir() else path.parent)
    if path.is_dir() and (kind or _kind(path, manifest)) == "stream":
        return [SourceCorpus(path.name, "json-lines", "stream", tuple(files))]
    return [_single_file_corpus(file, kind or "pages", manifest) for file in files]


def _single_file_corpus(file: Path, kind: CorpusKind, manifest: dict[str, Any]) -> SourceCorpus:
    name = json_lines.stem(file) or file.name
    entry = manifest.get(name)
    tool = entry.get("tool") if isinstance(entry, dict) else None
    return SourceCorpus(name, "json-lines", kind, (file,), tool or _TOOLS.get(name))


def _json_lines_in(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if file.is_file() and json_lines.stem(file))


def _kind(folder: Path, manifest: dict[str, Any]) -> CorpusKind:
    return "stream" if "domains" in manifest or folder.name in {"stream", "streams"} else "pages"


def _manifest(folder: Path) -> dict[str, Any]:
    file = folder / "manifest.json"
    try:
        manifest = orjson.loads(file.read_bytes()) if file.exists() else {}
    except orjson.JSONDecodeError as error:
        raise CorpusError(f"{file}: not valid JSON: {error}") from error
    return manifest if isinstance(manifest, dict) else {}
