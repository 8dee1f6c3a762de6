"""What the documents of a domain had at each path of their markup (issue 6, "Design").

    html > body > div.wrap > ul.latest > li      41 documents, 3,100 words, 2,900 of them repeated
    html > body > div.wrap > div.entry > p       57 documents, 40,000 words, 300 of them repeated

A path is a number (`heuristics/evidence/element_paths.py`). What a document contributes is fixed
when it is learned and is stored in its row. So eviction subtracts exactly that contribution, and
the sums do not depend on the order in which rows are read.
"""

from __future__ import annotations

import struct
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import NamedTuple

from urltree.tree.packing import little_endian

MOST = 65_535  # words of a path in one document that count

_HEAD = struct.Struct("<IIH")  # path of the main element, the same by tags alone, number of paths
_BYTES = 10  # of a path: its number and three counts
_MEMORY = 250  # bytes of a path in memory: a list, its ints, an entry of a dictionary


class PathCounts(NamedTuple):
    """What one document has at one path, in words.

    Attributes:
        repeated: of blocks that some other page of the site had before.
        linked: inside links.
    """

    path: int
    words: int
    repeated: int
    linked: int


class Contribution(NamedTuple):
    """What a document contributes.

    Attributes:
        main: path of its main element, 0 where it has none; main_by_tags: the same without names.
        paths: each path once, with at most MOST words.
    """

    main: int
    main_by_tags: int
    paths: tuple[PathCounts, ...]

    @classmethod
    def of(cls, main: int, main_by_tags: int, paths: Iterable[PathCounts]) -> Contribution:
        """What counts of a document: of each path MOST words."""
        counted = tuple(paths)
        if any(here.words > MOST for here in counted):  # then only may another be more
            counted = tuple(
                [PathCounts(path, *map(min, said, repeat(MOST))) for path, *said in counted]
            )
        return cls(main, main_by_tags, counted)

    def encode(self) -> bytes:
        """The bytes that are stored, 10 a path."""
        columns = list(zip(*self.paths, strict=True)) or [(), (), (), ()]
        arrays = [array("I", columns[0])]
        arrays += [array("H", column) for column in columns[1:]]
        head = _HEAD.pack(self.main, self.main_by_tags, len(self.paths))
        return head + b"".join([little_endian(one).tobytes() for one in arrays])

    @classmethod
    def decode(cls, stored: bytes) -> Contribution:
        """Read stored bytes.

        Raises:
            ValueError: their length is not that of their parts.
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
    """Refuse bytes that are no contribution: every other sequence of that length is one.

    Raises:
        ValueError: their length is not that of their parts.
    """
    if len(stored) < _HEAD.size:
        raise ValueError("its length is less than that of its head")
    *_, number = _HEAD.unpack_from(stored)
    if len(stored) != _HEAD.size + _BYTES * number:
        raise ValueError("its length is not that of its paths")


class PathTotals:
    """Sums over the documents of a window.

    Attributes:
        documents: that have text here.
        words, repeated, linked: of all of them, as in `PathCounts`.
    """

    __slots__ = ("documents", "linked", "repeated", "words")

    def __init__(self) -> None:
        self.documents = self.words = self.repeated = self.linked = 0

    def add(self, here: PathCounts, sign: int) -> None:
        """Count what a document has here, or with -1 discount it."""
        self.documents += sign
        self.words += sign * here.words
        self.repeated += sign * here.repeated
        self.linked += sign * here.linked


class PathStatistics:
    """The paths of a domain.

    Attributes:
        mains: how many documents had their main element at a path; mains_by_tags: by tags alone.
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
        """Estimated bytes in memory."""
        return _MEMORY * len(self._paths)

    def get(self, path: int) -> PathTotals | None:
        """What is known of a path, None where no document had it."""
        return self._paths.get(path)

    def known(self, among: Iterable[int], documents: int) -> dict[int, PathTotals]:
        """What is known of those paths that so many documents had at least."""
        found = {path: past for path in among for past in [self._paths.get(path)]}
        return {path: past for path, past in found.items() if past and past.documents >= documents}

    def add(self, contribution: Contribution) -> None:
        """Count a document."""
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
        """The exact inverse of `add`."""
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
