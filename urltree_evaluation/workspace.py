"""The folder of an evaluation: where each stage's files lie, and how they are read and written.

    WORK/corpora/NAME/          corpus.json, PART.jsonl.zst      written by convert
    WORK/predictions/NAME/X/    run.json, PART.jsonl.zst         written by extract
    WORK/scores/NAME/X/         PART.jsonl.zst                   written by score
    WORK/cost.json                                               written by cost
    WORK/report/                index.html, *.md, *.csv          written by report
    WORK/lock                                                    held by the one run that writes

A file appears whole or not at all: a stage that was interrupted does again what is missing.
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
    """The folder does not hold what a stage needs; the message says which verb makes it."""


class Workspace:
    """An evaluation's folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def corpora(self) -> dict[str, Corpus]:
        """All corpora, by name.

        Raises:
            WorkspaceError: there is none.
        """
        files = sorted((self.path / "corpora").glob("*/corpus.json"))
        if not files:
            raise WorkspaceError(f"{self.path} has no corpus: urltree evaluate convert makes one")
        found = [Corpus(**orjson.loads(file.read_bytes())) for file in files]
        return {corpus.name: corpus for corpus in found}

    @contextmanager
    def locked(self) -> Iterator[Workspace]:
        """No other run writes here meanwhile.

        Raises:
            WorkspaceError: one does.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.path / "lock")
        try:
            lock.acquire(blocking=False)
        except Timeout:
            raise WorkspaceError(f"{self.path}: another run is writing here") from None
        try:
            yield self
        finally:
            lock.release()

    def named(self, names: Collection[str]) -> list[Corpus]:
        """The corpora of these names; all, where there is none.

        Raises:
            WorkspaceError: there is no corpus of a name.
        """
        unknown = sorted(set(names) - set(self.corpora))
        if unknown:
            there_are = ", ".join(self.corpora)
            raise WorkspaceError(f"no corpus {', '.join(unknown)}; there are {there_are}")
        return [corpus for name, corpus in self.corpora.items() if not names or name in names]

    def pages_file(self, corpus: str, part: str) -> Path:
        """Where the pages of a part lie."""
        return self.path / "corpora" / corpus / (part + SUFFIX)

    def predictions_file(self, corpus: str, extractor: str, part: str) -> Path:
        """Where what an extractor said of a part lies."""
        return self.path / "predictions" / corpus / extractor / (part + SUFFIX)

    def scores_file(self, corpus: str, extractor: str, part: str) -> Path:
        """Where the scores of a part lie."""
        return self.path / "scores" / corpus / extractor / (part + SUFFIX)

    def pages(self, corpus: str, part: str) -> Iterator[CorpusPage]:
        """The pages of a part, in order."""
        for _, page in self.numbered_pages(corpus, part):
            yield page

    def numbered_pages(
        self, corpus: str, part: str, only: Container[int] | None = None
    ) -> Iterator[tuple[int, CorpusPage]]:
        """The pages of a part with their places from 0; those that are not wanted stay encoded."""
        for place, line in enumerate(_raw_lines(self.pages_file(corpus, part))):
            if only is None or place in only:
                fields = orjson.loads(line)
                with_, without = tuple(fields.pop("gold_with")), tuple(fields.pop("gold_without"))
                yield place, CorpusPage(**fields, gold_with=with_, gold_without=without)

    def predictions(self, corpus: str, extractor: str, part: str) -> Iterator[Prediction]:
        """What an extractor said of a part's pages, in order."""
        for fields in read_lines(self.predictions_file(corpus, extractor, part)):
            yield Prediction(**fields)

    def scores(self, corpus: str, extractor: str) -> Iterator[Score]:
        """All scores of an extractor on a corpus, part after part."""
        for part in self.corpora[corpus].parts:
            file = self.scores_file(corpus, extractor, part)
            for fields in read_lines(file) if file.exists() else ():
                metrics = {name: PRF(*values) for name, values in fields.pop("metrics").items()}
                segments = fields.pop("segments")
                yield Score(
                    **fields, metrics=metrics, segments=Segments(*segments) if segments else None
                )

    def run(self, corpus: str, extractor: str) -> Run | None:
        """What was run; None where nothing was."""
        file = self.path / "predictions" / corpus / extractor / "run.json"
        return Run(**orjson.loads(file.read_bytes())) if file.exists() else None

    def extractors(self, corpus: str) -> list[str]:
        """Names of those that were run on a corpus, sorted."""
        files = (self.path / "predictions" / corpus).glob("*/run.json")
        return sorted(file.parent.name for file in files)


def read_lines(file: Path) -> Iterator[dict[str, Any]]:
    """The JSON objects of a .jsonl.zst, in order."""
    return map(orjson.loads, _raw_lines(file))


def _raw_lines(file: Path) -> Iterator[bytes]:
    with file.open("rb") as raw, zstandard.ZstdDecompressor().stream_reader(raw) as plain:
        try:
            yield from BufferedReader(cast("RawIOBase", plain))
        except zstandard.ZstdError as error:
            raise WorkspaceError(f"{file} is damaged: {error}") from error


def write_lines(file: Path, records: Iterable[object]) -> None:
    """Write dataclasses as JSON lines; the file appears once all are written."""
    with lines_to(file) as write:
        for record in records:
            write(orjson.dumps(record, default=tuple))


@contextmanager
def lines_to(file: Path) -> Iterator[Callable[[bytes], None]]:
    """Takes lines of JSON without their ends; the file appears at the end."""
    with appearing(file) as raw, zstandard.ZstdCompressor(_LEVEL).stream_writer(raw) as out:

        def write(line: bytes) -> None:
            out.write(line + b"\n")

        yield write


@contextmanager
def appearing(file: Path) -> Iterator[IO[bytes]]:
    """A file to write that gets its name at the end, where nothing was raised."""
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with new.open("wb") as out:
            yield out
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)
