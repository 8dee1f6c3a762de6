"""Convert corpora of any known format to the one format of the evaluation.

    inputs ──▶ corpora/sources ──▶ corpora/ordering ──▶ WORK/corpora/NAME/PART.jsonl.zst
               detect formats      order by domain      corpus.json, written last
                                   and time

The file conversion.json beside corpus.json lists the files that were read. If these files have not
changed, the corpus is not converted again. An interrupted conversion leaves no corpus.json, so the
next run converts the corpus from the start.
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
# Version of the files that this stage writes. If it changes, all corpora are converted again.
VERSION = 1


@dataclass(frozen=True, slots=True)
class Conversion:
    """A description of how a corpus was converted.

    Attributes:
        version: version of the converter, see `VERSION`.
        form: format of the input.
        kind: kind of the corpus.
        tool: name of the program that produced the gold text; None if people wrote the gold.
        files: name, size in bytes and modification time in nanoseconds of each file that was read.
        scored: number of pages that have gold.
        html_bytes: total size of all pages in bytes of UTF-8.
    """

    version: int
    form: Form
    kind: CorpusKind
    tool: str | None
    files: list[tuple[str, int, int]]
    scored: int = 0
    html_bytes: int = 0


def convert(  # noqa: PLR0913 - one parameter for each option of the command
    inputs: Sequence[Path],
    workspace: Workspace,
    *,
    form: Form | None = None,
    kind: CorpusKind | None = None,
    name: str | None = None,
    tool: str | None = None,
    progress: Progress | None = None,
) -> list[Corpus]:
    """Convert all corpora of the inputs that have changed since their last conversion.

    Args:
        inputs: files and folders in any format of corpora/sources.py.
        workspace: work folder to which the corpora are written.
        form: format of all inputs; None detects the format of each input.
        kind: kind of all corpora; None detects the kind of each corpus.
        name: name of the corpus, if the inputs contain exactly one corpus; None uses the name of
            its file or folder.
        tool: program that produced the gold of all corpora; None reads it from the manifest.
        progress: display of the number of pages; their total number is unknown.

    Returns:
        All corpora of the inputs, in the order of the inputs.

    Raises:
        CorpusError: an input is not a corpus, or is damaged. The corpora before it are converted.
    """
    sources = [corpus for path in inputs for corpus in find_corpora(path, form, kind)]
    if name is not None:
        if len(sources) != 1:
            raise CorpusError(
                f"--name {name!r} requires exactly one corpus, but INPUTS contain {len(sources)}"
            )
        sources = [replace(sources[0], name=name)]
    for each, count in Counter(source.name for source in sources).items():
        if not _FOLDER_NAME.fullmatch(each):
            raise CorpusError(
                f"{each!r} cannot be the name of a corpus, because it is not a valid folder name:"
                " pass another with --name"
            )
        if count > 1:
            raise CorpusError(
                f"{count} corpora have the name {each}: convert them separately, with --name"
            )
    progress = progress or Progress()
    return [_convert_one(replace(s, tool=tool or s.tool), workspace, progress) for s in sources]


def load_conversion(workspace: Workspace, name: str) -> Conversion:
    """Read the file conversion.json of an existing corpus."""
    fields = orjson.loads((_corpus_folder(workspace, name) / "conversion.json").read_bytes())
    return Conversion(**fields | {"files": [tuple(file) for file in fields["files"]]})


def _convert_one(source: SourceCorpus, workspace: Workspace, progress: Progress) -> Corpus:
    """Convert a corpus if it is missing or out of date, and return its description."""
    planned = Conversion(VERSION, source.form, source.kind, source.tool, _list_files(source))
    there = _load_if_current(planned, workspace, source.name)
    if there is not None:
        return there
    folder = _corpus_folder(workspace, source.name)
    if (folder / "corpus.json").exists():
        progress.say(f"converting {source.name} again: its input or options have changed")
    folder.mkdir(parents=True, exist_ok=True)
    # The pattern also matches temporary files.
    for old in (folder / "corpus.json", *folder.glob(f"*{SUFFIX}*")):
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
    """Write all pages to the sorter, and return `planned` with the counts of pages and bytes."""
    scored = html_bytes = 0
    for path in source.paths:
        progress.now(str(path))
        for page in source.pages(path):
            if not spool.add(page):
                raise CorpusError(f"{path}: two pages have the id {page.id!r}: ids must be unique")
            scored += page.is_scored
            html_bytes += len(page.html.encode())
            progress.advance()
    if not spool.parts():
        raise CorpusError(f"{source.paths[0]}: contains no page")
    if source.kind == "pages" and not scored:
        raise CorpusError(
            f'{source.paths[0]}: no page can be scored: none has "gold", "with" or "without"'
        )
    return replace(planned, scored=scored, html_bytes=html_bytes)


def _write(spool: PageSorter, source: SourceCorpus, workspace: Workspace) -> Corpus:
    sha256 = hashlib.sha256()
    parts = spool.parts()
    for part in parts:
        lines = _hash_lines(spool.read(part), sha256)
        write_lines(workspace.pages_file(source.name, part), map(orjson.Fragment, lines))
    names = ", ".join(path.name for path in source.paths)
    return Corpus(source.name, source.kind, parts, sha256.hexdigest(), source.tool, names)


def _hash_lines(lines: Iterable[bytes], sha256: hashlib._Hash) -> Iterator[bytes]:
    """Yield each line without its newline, and add the line with its newline to the hash."""
    for line in lines:
        sha256.update(line)
        yield line.removesuffix(b"\n")


def _list_files(source: SourceCorpus) -> list[tuple[str, int, int]]:
    stats = [(file.name, file.stat()) for file in source.files()]
    return [(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats]


def _load_if_current(planned: Conversion, workspace: Workspace, name: str) -> Corpus | None:
    """Return the existing corpus if it is complete and was made from the same inputs."""
    try:
        corpus = Corpus(
            **orjson.loads((_corpus_folder(workspace, name) / "corpus.json").read_bytes())
        )
        before = replace(load_conversion(workspace, name), scored=0, html_bytes=0)
    except (
        OSError,
        ValueError,
        TypeError,
        KeyError,
    ):  # the files are missing, or another version wrote them
        return None
    is_whole = all(workspace.pages_file(name, part).exists() for part in corpus.parts)
    return corpus if is_whole and before == planned else None


def _corpus_folder(workspace: Workspace, name: str) -> Path:
    return workspace.path / "corpora" / name


def _write_json(file: Path, record: object) -> None:
    with appearing(file) as out:
        out.write(orjson.dumps(record, option=orjson.OPT_INDENT_2))
