"""Does a parameter change the content? What the documents of a domain say (issue 6, design).

    /list?cat=1&sort=date    h1 h2 h3   menu     differ in `sort` alone: rare blocks are the same
    /list?cat=1&sort=price   h3 h1 h2   menu     differ in `cat` alone: rare blocks are others
    /list?cat=2&sort=date    h7 h8 h9   menu

Two documents whose URLs differ in one parameter alone, in its values or its presence, are a pair.
Pairs are counted by host, path (as a pattern) and parameter. Blocks that many documents contain
are left out: menus would make all documents alike, and an error page under a hundred addresses
would make its parameter look needless. Where that leaves a pair nothing, it says nothing.

Every doubt ends in `undecided`, which means keep: two names for one page cost a duplicate, two
pages under one name cost a page. The cost is bounded, whatever a site writes into its addresses:
at most MAX_PARAMETERS pairings a document, and of each parameter MAX_PAIRS pairs of neighbours by
value. Which ones is decided by a hash, so that the same documents give the same answer.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal, NamedTuple

import xxhash

from urltree.address.path_patterns import path_patterns
from urltree.address.url import NormalUrl, Parameter

SAME = 0.9  # overlap of rare blocks from which on two documents are the same: all but a remark
DIFFERENT = 0.5  # up to which they are different
FEWEST_BLOCKS = 3  # rare ones of a pair, for it to say anything
FEWEST_PAIRS = 8  # for a verdict
FEWEST_ADDRESSES = 3  # for `drop`: an answer for every value at one address may be an error page

MAX_PARAMETERS = 16  # of a URL; one with more forms no pairs
MAX_NAMES = 64  # of parameters below one pattern; more are not names, and nothing is said of them
MAX_PAIRS = 256  # of a parameter
MAX_PAIRS_OF_ADDRESS = 16

ParameterAnswer = Literal["drop", "keep", "undecided"]


class SampledDocument(NamedTuple):
    """A document: its URL key, and the distinct hashes of its blocks.

    Of a URL with more than MAX_PARAMETERS, the names alone are kept, and it forms no pairs.
    """

    url: NormalUrl
    hashes: array[int]
    forms_pairs: bool

    @classmethod
    def of(cls, url: NormalUrl, hashes: array[int]) -> SampledDocument:
        """What there is to know of a document; bounded, where its URL is a thousand parameters."""
        if len(url.query) <= MAX_PARAMETERS:
            return cls(url, hashes, forms_pairs=True)
        names = islice({name: "" for name, _ in url.query}.items(), MAX_NAMES + 1)
        return cls(replace(url, query=tuple(names)), hashes, forms_pairs=False)


@dataclass(frozen=True, slots=True)
class ParameterEvidence:
    """What is known of one parameter at one path.

    Attributes:
        name: decoded.
        documents: that carry it.
        pairs: that say something: `same`, `different`, and those between.
        addresses: that have a pair which is the same; an address is a URL without the parameter.
    """

    name: str
    documents: int
    pairs: int
    same: int
    different: int
    addresses: int

    @property
    def answer(self) -> ParameterAnswer:
        """`drop`: the content never changed; `keep`: it mostly did; `undecided` otherwise."""
        if self.same == self.pairs >= FEWEST_PAIRS and self.addresses >= FEWEST_ADDRESSES:
            return "drop"
        if self.different >= FEWEST_PAIRS and 2 * self.different > self.pairs:
            return "keep"
        return "undecided"


@dataclass(frozen=True, slots=True)
class PathEvidence:
    """What is known of the parameters below one pattern of a host.

    Attributes:
        path: pattern, see `path_patterns`.
        paths: that it stands for, with a query.
        parameters: by name; None where they are more than MAX_NAMES.
    """

    host: str
    path: str
    paths: frozenset[str]
    parameters: tuple[ParameterEvidence, ...] | None


def query_evidence(samples: Sequence[SampledDocument]) -> list[PathEvidence]:
    """What the documents of one domain say of its parameters, by host and path.

    Args:
        samples: no two with the same URL key.
    """
    rare = _Rare(sample.hashes for sample in samples)
    return [
        PathEvidence(
            host,
            path,
            frozenset([sample.url.path for sample in group if sample.url.query]),
            _parameters(group, rare),
        )
        for (host, path), group in sorted(_by_pattern(samples).items())
        if any(sample.url.query for sample in group)
    ]


class _Rare:
    """Which blocks of a domain are rare: in at most 10 documents or 2%, and never in half of them.

    Not in 1 alone: a page that has ten addresses carries each of its blocks ten times.
    """

    def __init__(self, documents: Iterable[array[int]]) -> None:
        self._counts: Counter[int] = Counter()
        number = 0
        for hashes in documents:
            self._counts.update(hashes)
            number += 1
        self._most = min(number // 2, max(10, number // 50))

    def of(self, sample: SampledDocument) -> set[int]:
        """The rare blocks of a document."""
        return {number for number in sample.hashes if self._counts[number] <= self._most}


def _by_pattern(
    samples: Sequence[SampledDocument],
) -> Mapping[tuple[str, str], list[SampledDocument]]:
    paths: dict[str, set[str]] = defaultdict(set)
    for sample in samples:
        paths[sample.url.host].add(sample.url.path)
    patterns = {host: path_patterns(below) for host, below in paths.items()}
    grouped: dict[tuple[str, str], list[SampledDocument]] = defaultdict(list)
    for sample in samples:
        grouped[sample.url.host, patterns[sample.url.host][sample.url.path]].append(sample)
    return grouped


def _parameters(
    samples: Sequence[SampledDocument], rare: _Rare
) -> tuple[ParameterEvidence, ...] | None:
    names: Counter[str] = Counter()
    for sample in samples:
        names.update({name for name, _ in sample.url.query})
        if len(names) > MAX_NAMES:
            return None
    paired = [sample for sample in samples if sample.forms_pairs]
    whole = {_address(sample.url, sample.url.query): sample for sample in paired}
    alike = _alike(paired)
    return tuple(
        _counted(name, names[name], _pairs(name, alike[name], whole), rare)
        for name in sorted(names)
    )


def _alike(
    samples: Sequence[SampledDocument],
) -> Mapping[str, Mapping[bytes, list[SampledDocument]]]:
    """By parameter: the documents that carry it, by the address that is left without it."""
    alike: dict[str, dict[bytes, list[SampledDocument]]] = defaultdict(lambda: defaultdict(list))
    for sample in samples:
        for name in {name for name, _ in sample.url.query}:
            others = [pair for pair in sample.url.query if pair[0] != name]
            alike[name][_address(sample.url, others)].append(sample)
    return alike


def _pairs(
    name: str, alike: Mapping[bytes, list[SampledDocument]], whole: Mapping[bytes, SampledDocument]
) -> Iterator[tuple[bytes, SampledDocument, SampledDocument]]:
    """Neighbours by value at each address, the one without the parameter first."""

    def values(sample: SampledDocument) -> list[str]:
        return [value for other, value in sample.url.query if other == name]

    for address in sorted(alike):
        row = sorted(alike[address], key=values)
        if address in whole:
            row.insert(0, whole[address])
        every = -(-(len(row) - 1) // MAX_PAIRS_OF_ADDRESS) or 1
        for at in range(0, len(row) - 1, every):
            yield address, row[at], row[at + 1]


def _counted(
    name: str,
    documents: int,
    pairs: Iterator[tuple[bytes, SampledDocument, SampledDocument]],
    rare: _Rare,
) -> ParameterEvidence:
    overlaps = [
        (address, overlap)
        for address, one, other in islice(pairs, MAX_PAIRS)
        if (overlap := _overlap(rare.of(one), rare.of(other))) is not None
    ]
    same = [address for address, overlap in overlaps if overlap >= SAME]
    different = sum(overlap <= DIFFERENT for _, overlap in overlaps)
    return ParameterEvidence(name, documents, len(overlaps), len(same), different, len(set(same)))


def _overlap(one: set[int], other: set[int]) -> float | None:
    """Jaccard's index; None for too few blocks."""
    either = len(one | other)
    return len(one & other) / either if either >= FEWEST_BLOCKS else None


def _address(url: NormalUrl, query: Iterable[Parameter]) -> bytes:
    """XXH3-128 of a URL with this query instead of its own."""
    parts = (url.netloc, url.path, *query, url.fragment)
    return xxhash.xxh3_128_digest(repr(parts).encode())
