"""The work folder of an evaluation: the paths of all files, and how they are read and written.

    WORK/corpora/NAME/          corpus.json, PART.jsonl.zst      written by convert
    WORK/predictions/NAME/X/    run.json, PART.jsonl.zst         written by extract
    WORK/scores/NAME/X/         PART.jsonl.zst                   written by score
    WORK/cost.json                                               written by cost
    WORK/report/                index.html, *.md, *.csv          written by report
    WORK/lock                                                    locked while a run writes

A file gets its name only when it is complete. After an interruption, a stage writes the files that
are missing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Container, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import IO, Any, cast

import orjson
import zstandard
from filelock import FileLock, Timeout

from urltree_evaluation.corpus import Corpus, CorpusPage
from urltree_evaluation.prediction import Prediction, Run
from urltree_evaluation.score import PRF, Score, Segments

SUFFIX = ".jsonl.zst"
_LEVEL = 6


class WorkspaceError(Exception):
    """The work folder cannot be used; the message explains why."""


class Workspace:
    """The work folder of an evaluation."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def corpora(self) -> dict[str, Corpus]:
        """All corpora by name.

        Raises:
            WorkspaceError: there is no corpus.
        """
        files = sorted((self.path / "corpora").glob("*/corpus.json"))
        if not files:
            raise WorkspaceError(f"{self.path} has no corpus: run `urltree evaluate convert` first")
        found = [Corpus(**orjson.loads(file.read_bytes())) for file in files]
        return {corpus.name: corpus for corpus in found}

    @contextmanager
    def locked(self) -> Iterator[Workspace]:
        """Lock the folder against other runs.

        Raises:
            WorkspaceError: another run has locked the folder.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.path / "lock")
        try:
            lock.acquire(blocking=False)
        except Timeout:
            raise WorkspaceError(
                f"{self.path}: another run is writing to this folder: wait until it has ended"
            ) from None
        try:
            yield self
        finally:
            lock.release()

    def named(self, names: Collection[str]) -> list[Corpus]:
        """Return the corpora with these names, or all corpora if no name is given.

        Raises:
            WorkspaceError: there is no corpus of one of these names.
        """
        unknown = sorted(set(names) - set(self.corpora))
        if unknown:
            there_are = ", ".join(self.corpora)
            raise WorkspaceError(
                f"There is no corpus {', '.join(unknown)}. Available: {there_are}."
            )
        return [corpus for name, corpus in self.corpora.items() if not names or name in names]

    def pages_file(self, corpus: str, part: str) -> Path:
        """Return the path of the pages of a part."""
        return self.path / "corpora" / corpus / (part + SUFFIX)

    def predictions_file(self, corpus: str, extractor: str, part: str) -> Path:
        """Return the path of an extractor's predictions for a part."""
        return self.path / "predictions" / corpus / extractor / (part + SUFFIX)

    def scores_file(self, corpus: str, extractor: str, part: str) -> Path:
        """Return the path of an extractor's scores for a part."""
        return self.path / "scores" / corpus / extractor / (part + SUFFIX)

    def pages(self, corpus: str, part: str) -> Iterator[CorpusPage]:
        """Yield the pages of a part, in order."""
        for _, page in self.numbered_pages(corpus, part):
            yield page

    def numbered_pages(
        self, corpus: str, part: str, only: Container[int] | None = None
    ) -> Iterator[tuple[int, CorpusPage]]:
        """Yield (index, page) for each page of a part, or only for the indexes in `only`."""
        for place, line in enumerate(_raw_lines(self.pages_file(corpus, part))):
            if only is None or place in only:
                fields = orjson.loads(line)
                with_, without = tuple(fields.pop("gold_with")), tuple(fields.pop("gold_without"))
                yield place, CorpusPage(**fields, gold_with=with_, gold_without=without)

    def predictions(self, corpus: str, extractor: str, part: str) -> Iterator[Prediction]:
        """Yield an extractor's predictions for a part, in the order of the pages."""
        for fields in read_lines(self.predictions_file(corpus, extractor, part)):
            yield Prediction(**fields)

    def scores(self, corpus: str, extractor: str) -> Iterator[Score]:
        """Yield all scores of an extractor on a corpus, part after part."""
        for part in self.corpora[corpus].parts:
            file = self.scores_file(corpus, extractor, part)
            for fields in read_lines(file) if file.exists() else ():
                metrics = {name: PRF(*values) for name, values in fields.pop("metrics").items()}
                segments = fields.pop("segments")
                yield Score(
                    **fields, metrics=metrics, segments=Segments(*segments) if segments else None
                )

    def run(self, corpus: str, extractor: str) -> Run | None:
        """Return the description of an extractor's run, or None if there was no run."""
        file = self.path / "predictions" / corpus / extractor / "run.json"
        return Run(**orjson.loads(file.read_bytes())) if file.exists() else None

    def extractors(self, corpus: str) -> list[str]:
        """Return the sorted names of the extractors that were run on a corpus."""
        files = (self.path / "predictions" / corpus).glob("*/run.json")
        return sorted(file.parent.name for file in files)


def read_lines(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a .jsonl.zst file, in order."""
    return map(orjson.loads, _raw_lines(file))


def _raw_lines(file: Path) -> Iterator[bytes]:
    with file.open("rb") as raw, zstandard.ZstdDecompressor().stream_reader(raw) as plain:
        try:
            yield from BufferedReader(cast("RawIOBase", plain))
        except zstandard.ZstdError as error:
            raise WorkspaceError(
                f"{file} is damaged: {error}. Delete this file, and run the command that writes it."
            ) from error


def write_lines(file: Path, records: Iterable[object]) -> None:
    """Write dataclasses as JSON lines; the file gets its name when all of them are written."""
    with lines_to(file) as write:
        for record in records:
            write(orjson.dumps(record, default=tuple))


@contextmanager
def lines_to(file: Path) -> Iterator[Callable[[bytes], None]]:
    """Return a function that writes a line of JSON; the file gets its name at the context's end."""
    with appearing(file) as raw, zstandard.ZstdCompressor(_LEVEL).stream_writer(raw) as out:

        def write(line: bytes) -> None:
            out.write(line + b"\n")

        yield write


@contextmanager
def appearing(file: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file; it gets its final name if the context ends without an exception."""
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with new.open("wb") as out:
            yield out
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)
