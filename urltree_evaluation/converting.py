"""Convert: corpora in the forms of the literature become the one form of the evaluation.

    inputs ──▶ corpora/sources ──▶ corpora/ordering ──▶ WORK/corpora/NAME/PART.jsonl.zst
               what each is        by domain and time                     corpus.json, at the end

Beside corpus.json lies conversion.json: what was read. A corpus whose inputs have not changed since
is not converted again; one that was interrupted has no corpus.json, and begins anew.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from urltree_evaluation.corpora.corpus_files import CorpusError
from urltree_evaluation.corpora.ordering import PageSorter
from urltree_evaluation.corpora.sources import Form, SourceCorpus, find_corpora
from urltree_evaluation.corpus import Corpus, CorpusKind
from urltree_evaluation.progress import Progress
from urltree_evaluation.workspace import SUFFIX, Workspace, appearing, write_lines

_FOLDER_NAME = re.compile(r"[^./\\\0-\x1f][^/\\\0-\x1f]{,99}")
VERSION = 1  # of what this stage writes: a higher one converts all corpora again


@dataclass(frozen=True, slots=True)
class Conversion:
    """How a corpus came about.

    Attributes:
        files: what was read: name, bytes and time of change of each.
        scored: pages that have any gold.
        html_bytes: of all pages, as UTF-8.
    """

    version: int
    form: Form
    kind: CorpusKind
    tool: str | None
    files: list[tuple[str, int, int]]
    scored: int = 0
    html_bytes: int = 0


def convert(  # noqa: PLR0913 - one parameter an option of the verb
    inputs: Sequence[Path],
    workspace: Workspace,
    *,
    form: Form | None = None,
    kind: CorpusKind | None = None,
    name: str | None = None,
    tool: str | None = None,
    progress: Progress | None = None,
) -> list[Corpus]:
    """Convert all corpora of the inputs that have changed since they were converted.

    Args:
        inputs: files and folders in any form of corpora/sources.py.
        workspace: where the corpora will lie.
        form: of all inputs; found out where None.
        kind: of all corpora; found out where None.
        name: of the one corpus; by its file or folder where None.
        tool: whose output the gold of all corpora is; by their manifest where None.
        progress: told of each page; how many there will be is not known.

    Returns:
        All corpora of the inputs, in their order.

    Raises:
        CorpusError: an input is no corpus, or damaged; the corpora before it are converted.
    """
    sources = [corpus for path in inputs for corpus in find_corpora(path, form, kind)]
    if name is not None:
        if len(sources) != 1:
            raise CorpusError(f"{name!r} cannot name {len(sources)} corpora: convert one at a time")
        sources = [replace(sources[0], name=name)]
    for each, count in Counter(source.name for source in sources).items():
        if not _FOLDER_NAME.fullmatch(each):
            raise CorpusError(f"{each!r} cannot name a corpus, which is a folder: give another")
        if count > 1:
            raise CorpusError(f"{count} corpora are named {each}: give one of them a name")
    progress = progress or Progress()
    return [_converted(replace(s, tool=tool or s.tool), workspace, progress) for s in sources]


def load_conversion(workspace: Workspace, name: str) -> Conversion:
    """How a corpus that is there came about."""
    fields = orjson.loads((_folder(workspace, name) / "conversion.json").read_bytes())
    return Conversion(**fields | {"files": [tuple(file) for file in fields["files"]]})


def _converted(source: SourceCorpus, workspace: Workspace, progress: Progress) -> Corpus:
    """The corpus, as it is there or made now."""
    planned = Conversion(VERSION, source.form, source.kind, source.tool, _files(source))
    there = _done(planned, workspace, source.name)
    if there is not None:
        return there
    folder = _folder(workspace, source.name)
    if (folder / "corpus.json").exists():
        progress.say(f"{source.name} is converted anew: its input or its options are others")
    folder.mkdir(parents=True, exist_ok=True)
    for old in (folder / "corpus.json", *folder.glob(f"*{SUFFIX}*")):  # of a killed one too
        old.unlink(missing_ok=True)
    with PageSorter(source.kind, folder) as spool:
        filled = _fill(spool, source, planned, progress)
        corpus = _write(spool, source, workspace)
    _write_json(folder / "conversion.json", filled)
    _write_json(folder / "corpus.json", corpus)
    return corpus


def _fill(
    spool: PageSorter, source: SourceCorpus, planned: Conversion, progress: Progress
) -> Conversion:
    """Spool all pages; what was planned with its counts."""
    scored = html_bytes = 0
    for path in source.paths:
        progress.now(str(path))
        for page in source.pages(path):
            if not spool.add(page):
                raise CorpusError(f"{path}: the id {page.id!r} is there twice")
            scored += page.is_scored
            html_bytes += len(page.html.encode())
            progress.advance()
    if not spool.parts():
        raise CorpusError(f"{source.paths[0]}: has no page")
    if source.kind == "pages" and not scored:
        raise CorpusError(f"{source.paths[0]}: no page has gold, with or without")
    return replace(planned, scored=scored, html_bytes=html_bytes)


def _write(spool: PageSorter, source: SourceCorpus, workspace: Workspace) -> Corpus:
    sha256 = hashlib.sha256()
    parts = spool.parts()
    for part in parts:
        lines = _hashed(spool.read(part), sha256)
        write_lines(workspace.pages_file(source.name, part), map(orjson.Fragment, lines))
    names = ", ".join(path.name for path in source.paths)
    return Corpus(source.name, source.kind, parts, sha256.hexdigest(), source.tool, names)


def _hashed(lines: Iterable[bytes], sha256: hashlib._Hash) -> Iterator[bytes]:
    """The lines without their newline, which the hash has."""
    for line in lines:
        sha256.update(line)
        yield line.removesuffix(b"\n")


def _files(source: SourceCorpus) -> list[tuple[str, int, int]]:
    stats = [(file.name, file.stat()) for file in source.files()]
    return [(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats]


def _done(planned: Conversion, workspace: Workspace, name: str) -> Corpus | None:
    """The corpus as it is there, whole, from the same inputs."""
    try:
        corpus = Corpus(**orjson.loads((_folder(workspace, name) / "corpus.json").read_bytes()))
        before = replace(load_conversion(workspace, name), scored=0, html_bytes=0)
    except (OSError, ValueError, TypeError, KeyError):  # absent, or of another version
        return None
    is_whole = all(workspace.pages_file(name, part).exists() for part in corpus.parts)
    return corpus if is_whole and before == planned else None


def _folder(workspace: Workspace, name: str) -> Path:
    return workspace.path / "corpora" / name


def _write_json(file: Path, record: object) -> None:
    with appearing(file) as out:
        out.write(orjson.dumps(record, option=orjson.OPT_INDENT_2))
