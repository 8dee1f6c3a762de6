"""Path statistics: the number of words that the documents of a domain have at each element path.

    html > body > div.wrap > ul.latest > li      41 documents, 3,100 words, 2,900 of them repeated
    html > body > div.wrap > div.entry > p       57 documents, 40,000 words, 300 of them repeated

A number identifies a path (`heuristics/evidence/element_paths.py`). The contribution of a document
is computed when the document is learned, and is stored in its row. Eviction subtracts exactly this
contribution, so the sums do not depend on the order in which rows are read.
"""

from __future__ import annotations

import struct
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import NamedTuple

from urltree.tree.packing import little_endian

MOST = 65_535  # largest number of words that one document contributes at a path

_HEAD = struct.Struct("<IIH")  # `main`, `main_by_tags` and number of paths of a Contribution
_BYTES = 10  # stored bytes of a path: its number and three counts
_MEMORY = 250  # bytes of a path in memory: an object, its integers, a dictionary entry


class PathCounts(NamedTuple):
    """The words of one document at one path.

    Attributes:
        path: number that identifies the path.
        words: number of words of all blocks at the path.
        repeated: number of words of blocks that another page of the site contained before.
        linked: number of words inside links.
    """

    path: int
    words: int
    repeated: int
    linked: int


class Contribution(NamedTuple):
    """The contribution of one document to the statistics of its domain.

    Attributes:
        main: path of the document's main element, 0 if it has none.
        main_by_tags: path of the main element, made of tags without class names.
        paths: words of the document at each path; no path occurs twice.
    """

    main: int
    main_by_tags: int
    paths: tuple[PathCounts, ...]

    @classmethod
    def of(cls, main: int, main_by_tags: int, paths: Iterable[PathCounts]) -> Contribution:
        """Create a contribution; counts above MOST are reduced to MOST."""
        counted = tuple(paths)
        if any(here.words > MOST for here in counted):  # other counts are never larger than `words`
            counted = tuple(
                [PathCounts(path, *map(min, said, repeat(MOST))) for path, *said in counted]
            )
        return cls(main, main_by_tags, counted)

    def encode(self) -> bytes:
        """Return the bytes of the contribution as rows store it."""
        columns = list(zip(*self.paths, strict=True)) or [(), (), (), ()]
        arrays = [array("I", columns[0])]
        arrays += [array("H", column) for column in columns[1:]]
        head = _HEAD.pack(self.main, self.main_by_tags, len(self.paths))
        return head + b"".join([little_endian(one).tobytes() for one in arrays])

    @classmethod
    def decode(cls, stored: bytes) -> Contribution:
        """Read a contribution from the bytes that `encode` returned.

        Raises:
            ValueError: the length does not match the number of paths.
        """
        check_length(stored)
        main, by_tags, number = _HEAD.unpack_from(stored)
        at = _HEAD.size + 4 * number
        columns = [array("I", stored[_HEAD.size : at])]
        for _ in range(3):
            columns.append(array("H", stored[at : at + 2 * number]))
            at += 2 * number
        paths = zip(*map(little_endian, columns), strict=True)
        return cls(main, by_tags, tuple(map(PathCounts._make, paths)))


def check_length(stored: bytes) -> None:
    """Check that stored bytes have the length of a contribution; their values are always valid.

    Raises:
        ValueError: the length does not match the number of paths.
    """
    if len(stored) < _HEAD.size:
        raise ValueError(
            f"path statistics: a length of {len(stored)} bytes is too short for a contribution"
        )
    *_, number = _HEAD.unpack_from(stored)
    if len(stored) != _HEAD.size + _BYTES * number:
        raise ValueError(
            f"path statistics: a length of {len(stored)} bytes does not match {number} paths"
        )


class PathTotals:
    """The sums of the contributions of all documents in the window at one path.

    Attributes:
        documents: number of documents that have text at the path.
        words: number of words of these documents at the path.
        repeated: number of these words that were repeated, see `PathCounts`.
        linked: number of these words that are inside links.
    """

    __slots__ = ("documents", "linked", "repeated", "words")

    def __init__(self) -> None:
        self.documents = self.words = self.repeated = self.linked = 0

    def add(self, here: PathCounts, sign: int) -> None:
        """Add the words of a document if `sign` is 1, or subtract them if `sign` is -1."""
        self.documents += sign
        self.words += sign * here.words
        self.repeated += sign * here.repeated
        self.linked += sign * here.linked


class PathStatistics:
    """The path statistics of a domain.

    Attributes:
        mains: number of documents for each path of a main element.
        mains_by_tags: number of documents for each path of a main element, made of tags without
            class names.
    """

    __slots__ = ("_paths", "mains", "mains_by_tags")

    def __init__(self) -> None:
        self._paths: dict[int, PathTotals] = {}
        self.mains: Counter[int] = Counter()
        self.mains_by_tags: Counter[int] = Counter()

    def __iter__(self) -> Iterator[tuple[int, PathTotals]]:
        return iter(self._paths.items())

    @property
    def memory(self) -> int:
        """Estimated size in memory, in bytes."""
        return _MEMORY * len(self._paths)

    def get(self, path: int) -> PathTotals | None:
        """Return the sums at a path, or None if no document has text at this path."""
        return self._paths.get(path)

    def known(self, among: Iterable[int], documents: int) -> dict[int, PathTotals]:
        """Return the sums at each given path at which at least `documents` documents have text."""
        found = {path: past for path in among for past in [self._paths.get(path)]}
        return {path: past for path, past in found.items() if past and past.documents >= documents}

    def add(self, contribution: Contribution) -> None:
        """Add the contribution of a document to the sums."""
        paths = self._paths
        for here in contribution.paths:
            path = paths.get(here.path)
            if path is None:
                path = paths[here.path] = PathTotals()
            path.add(here, 1)
        if contribution.main:
            self.mains[contribution.main] += 1
            self.mains_by_tags[contribution.main_by_tags] += 1

    def subtract(self, contribution: Contribution) -> None:
        """Subtract the contribution of a document from the sums: the exact inverse of `add`."""
        for here in contribution.paths:
            path = self._paths[here.path]
            path.add(here, -1)
            if not path.documents:
                del self._paths[here.path]
        if contribution.main:
            _discount(self.mains, contribution.main)
            _discount(self.mains_by_tags, contribution.main_by_tags)


def _discount(counts: Counter[int], path: int) -> None:
    counts[path] -= 1
    if not counts[path]:
        del counts[path]
