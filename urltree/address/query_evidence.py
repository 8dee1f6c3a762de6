"""Evidence of whether a query parameter changes the content, from the documents of a domain.

    /list?cat=1&sort=date    h1 h2 h3   menu     differ in `sort` only: the same rare blocks
    /list?cat=1&sort=price   h3 h1 h2   menu     differ in `cat` only: different rare blocks
    /list?cat=2&sort=date    h7 h8 h9   menu

Two documents form a pair if their URLs differ in one parameter only, in its values or its presence.
Pairs are counted by host, path (as a pattern) and parameter. Blocks that many documents contain
are ignored: menus would make all documents alike, and an error page at a hundred addresses would
make its parameter look irrelevant. A pair with too few blocks left is not counted.

Every doubt leads to `undecided`, and the parameter is kept: if one page gets two keys, the cost is
a duplicate; if two pages get one key, the cost is a page. The work is bounded for any addresses of
a site: each document takes part for at most MAX_PARAMETERS parameters, and each parameter has at
most MAX_PAIRS pairs of neighbouring values. Hashes choose the pairs, so that the same documents
always lead to the same answer.
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

SAME = 0.9  # least overlap of rare blocks of two documents that are the same
DIFFERENT = 0.5  # largest overlap of two documents that are different
FEWEST_BLOCKS = 3  # rare blocks that a pair needs to be counted
FEWEST_PAIRS = 8  # pairs that an answer other than `undecided` needs
FEWEST_ADDRESSES = 3  # addresses that `drop` needs: a single one may have only an error page

MAX_PARAMETERS = 16  # a URL with more parameters forms no pairs
MAX_NAMES = 64  # parameters below one pattern; more are probably data, and are not examined
MAX_PAIRS = 256  # pairs of a parameter
MAX_PAIRS_OF_ADDRESS = 16  # pairs of a parameter at one address

ParameterAnswer = Literal["drop", "keep", "undecided"]


class SampledDocument(NamedTuple):
    """A document: its URL key, and the distinct hashes of its blocks.

    A URL with more than MAX_PARAMETERS keeps only the names, and forms no pairs.
    """

    url: NormalUrl
    hashes: array[int]
    forms_pairs: bool

    @classmethod
    def of(cls, url: NormalUrl, hashes: array[int]) -> SampledDocument:
        """Create one; the query of a URL with very many parameters is cut to bound memory."""
        if len(url.query) <= MAX_PARAMETERS:
            return cls(url, hashes, forms_pairs=True)
        names = islice({name: "" for name, _ in url.query}.items(), MAX_NAMES + 1)
        return cls(replace(url, query=tuple(names)), hashes, forms_pairs=False)


@dataclass(frozen=True, slots=True)
class ParameterEvidence:
    """The evidence about one parameter at one path.

    Attributes:
        name: decoded.
        documents: number of documents whose URL has the parameter.
        pairs: number of pairs with enough rare blocks: `same`, `different`, and those between.
        same: number of pairs whose documents have the same rare blocks.
        different: number of pairs whose documents have different rare blocks.
        addresses: number of addresses with a pair that is the same. An address is a URL without
            the parameter.
    """

    name: str
    documents: int
    pairs: int
    same: int
    different: int
    addresses: int

    @property
    def answer(self) -> ParameterAnswer:
        """Return `drop` if no pair differs, `keep` if most pairs differ, else `undecided`."""
        if self.same == self.pairs >= FEWEST_PAIRS and self.addresses >= FEWEST_ADDRESSES:
            return "drop"
        if self.different >= FEWEST_PAIRS and 2 * self.different > self.pairs:
            return "keep"
        return "undecided"


@dataclass(frozen=True, slots=True)
class PathEvidence:
    """The evidence about the parameters below one path pattern of a host.

    Attributes:
        host: the host.
        path: pattern, see `path_patterns`.
        paths: the paths with a query that match it.
        parameters: sorted by name; None if there are more than MAX_NAMES.
    """

    host: str
    path: str
    paths: frozenset[str]
    parameters: tuple[ParameterEvidence, ...] | None


def query_evidence(samples: Sequence[SampledDocument]) -> list[PathEvidence]:
    """Return the evidence about the parameters of one domain, by host and path.

    Args:
        samples: documents of the domain, no two with the same URL key.
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
    """The rare blocks of a domain: in at most 10 documents or 2% of them, never in more than half.

    A limit of 1 document would not work: a page with ten addresses has each block ten times.
    """

    def __init__(self, documents: Iterable[array[int]]) -> None:
        self._counts: Counter[int] = Counter()
        number = 0
        for hashes in documents:
            self._counts.update(hashes)
            number += 1
        self._most = min(number // 2, max(10, number // 50))

    def of(self, sample: SampledDocument) -> set[int]:
        """Return the rare blocks of a document."""
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
    """Return, for each parameter, the documents that have it, by their address without it."""
    alike: dict[str, dict[bytes, list[SampledDocument]]] = defaultdict(lambda: defaultdict(list))
    for sample in samples:
        for name in {name for name, _ in sample.url.query}:
            others = [pair for pair in sample.url.query if pair[0] != name]
            alike[name][_address(sample.url, others)].append(sample)
    return alike


def _pairs(
    name: str, alike: Mapping[bytes, list[SampledDocument]], whole: Mapping[bytes, SampledDocument]
) -> Iterator[tuple[bytes, SampledDocument, SampledDocument]]:
    """Yield neighbours by value at each address; a document without the parameter comes first."""

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
    """Return the Jaccard index, None for too few blocks."""
    either = len(one | other)
    return len(one & other) / either if either >= FEWEST_BLOCKS else None


def _address(url: NormalUrl, query: Iterable[Parameter]) -> bytes:
    """Return the XXH3-128 hash of a URL with `query` in the place of its own query."""
    parts = (url.netloc, url.path, *query, url.fragment)
    return xxhash.xxh3_128_digest(repr(parts).encode())
