"""A simple model of path statistics: plain sums, without code of the product."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from urltree.tree.path_statistics import Contribution, PathStatistics


class Sums(NamedTuple):
    r"""Values of path statistics, to compare those of the product with those of the model.

    Attributes:
        paths: number of documents, words, repeated words and linked words, keyed by path.
        mains: number of documents, keyed by the path of their main element.
        mains_by_tags: the same number, keyed by the path that consists only of tags.
    """

    paths: dict[int, tuple[int, int, int, int]]
    mains: dict[int, int]
    mains_by_tags: dict[int, int]


def sums(statistics: PathStatistics) -> Sums:
    """Return the values of the product's path statistics."""
    paths = {n: (at.documents, at.words, at.repeated, at.linked) for n, at in statistics}
    return Sums(paths, dict(statistics.mains), dict(statistics.mains_by_tags))


def recounted(contributions: Iterable[Contribution]) -> Sums:
    """Return the sums of these contributions, computed by the model."""
    found: defaultdict[int, list[tuple[int, int, int, int]]] = defaultdict(list)
    mains, by_tags = Counter[int](), Counter[int]()
    for contribution in contributions:
        for path, words, repeated, linked in contribution.paths:
            found[path].append((1, words, repeated, linked))
        if contribution.main:
            mains[contribution.main] += 1
        if contribution.main_by_tags:
            by_tags[contribution.main_by_tags] += 1
    paths = {
        path: (sum(documents), sum(words), sum(repeated), sum(linked))
        for path, (documents, words, repeated, linked) in (
            (path, zip(*here, strict=True)) for path, here in found.items()
        )
    }
    return Sums(paths, dict(mains), dict(by_tags))


def of_rows(paths: Iterable[bytes]) -> Sums:
    """Return the sums of the contributions in rows; rows without a contribution are skipped."""
    return recounted(Contribution.decode(stored) for stored in paths if stored)
