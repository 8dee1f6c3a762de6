"""Sort the pages of a corpus by part and time on disk, without keeping them in memory.

pages ──▶ temporary file, one line each ──▶ part by part, in order
          (memory: offset, length, part and time of each line)
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import NamedTuple, Self

import orjson

from urltree.page import microseconds
from urltree_evaluation.corpus import CorpusKind, CorpusPage

_UNSAFE = re.compile(r"[^\w.-]+")
_LONG_AGO = -(1 << 63)


class _Line(NamedTuple):
    time: int  # microseconds
    offset: int
    length: int


class PageSorter:
    """A sorter for the pages of one corpus while it is converted.

    In a stream, a page without a date stays directly after the page before it, and pages with the
    same time keep their order. Single pages form one part in their original order. A single page
    with an unknown domain gets its id as its domain, so that each such page counts as its own site.
    """

    def __init__(self, kind: CorpusKind, folder: Path) -> None:
        self._kind = kind
        self._file = TemporaryFile(dir=folder)  # noqa: SIM115 - closed by __exit__
        self._lines: defaultdict[str, list[_Line]] = defaultdict(list)
        self._ids: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def add(self, page: CorpusPage) -> bool:
        """Store a page and return True; return False if a stored page already has this id."""
        if page.id in self._ids:
            return False
        self._ids.add(page.id)
        if self._kind == "pages" and not page.domain:
            page = replace(page, domain=page.id)
        lines = self._lines[self._part(page)]
        before = lines[-1].time if lines else _LONG_AGO
        line = orjson.dumps(page, option=orjson.OPT_APPEND_NEWLINE)
        lines.append(_Line(_time(page.published, before), self._file.tell(), len(line)))
        self._file.write(line)
        return True

    def parts(self) -> dict[str, int]:
        """Return the number of pages of each part, sorted by the part's name."""
        return {part: len(lines) for part, lines in sorted(self._lines.items())}

    def read(self, part: str) -> Iterator[bytes]:
        """Yield the pages of a part in order, each as a line of JSON with a newline."""
        lines = self._lines[part]
        for line in sorted(lines, key=lambda line: line.time) if self._kind == "stream" else lines:
            self._file.seek(line.offset)
            yield self._file.read(line.length)

    def _part(self, page: CorpusPage) -> str:
        if self._kind == "pages":
            return "pages"
        return _UNSAFE.sub("_", page.domain).lstrip(".") or "unknown"


def _time(published: str | None, before: int) -> int:
    """Return a time in microseconds; a date or a time without an offset is taken as UTC.

    Args:
        published: time in ISO 8601; None if unknown.
        before: the result if the time is unknown or invalid.
    """
    for rest in ("", "Z", "T00:00Z") if published else ():
        try:
            return microseconds(f"{published}{rest}")
        except ValueError:
            continue
    return before
