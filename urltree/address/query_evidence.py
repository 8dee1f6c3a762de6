"""Find out from the documents of a domain which query parameters change the content of a page.

    1  /list?cat=1&sort=date    h1 h2 h3  menu    1 and 2 differ only in `sort`: same rare blocks
    2  /list?cat=1&sort=price   h3 h1 h2  menu    1 and 3 differ only in `cat`: other rare blocks
    3  /list?cat=2&sort=date    h7 h8 h9  menu

Two documents form a pair if their URLs differ in one parameter only: it has other values, or one
URL lacks it. Pairs are counted for each host, path pattern and parameter. Only rare blocks are
compared. Otherwise menus would make all documents alike, and an error page at a hundred addresses
would make its parameter look irrelevant. A pair with too few rare blocks is not counted.

In doubt the answer is `undecided`, and the parameter is kept. If one page gets two keys, it is
published twice; if two pages get one key, one of them is lost. The work is bounded, whatever the
addresses of a site are: each document forms pairs for at most MAX_PARAMETERS parameters, and each
parameter has at most MAX_PAIRS pairs. Hashes choose the pairs, so that the same documents always
lead to the same answer.
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

SAME = 0.9  # smallest overlap of the rare blocks of two documents that count as the same
DIFFERENT = 0.5  # largest overlap of the rare blocks of two documents that count as different
FEWEST_BLOCKS = 3  # smallest number of rare blocks with which a pair is counted
FEWEST_PAIRS = 8  # smallest number of pairs for an answer other than `undecided`
FEWEST_ADDRESSES = 3  # smallest number of addresses for `drop`; one may have only an error page

MAX_PARAMETERS = 16  # parameters of a URL; a URL with more parameters forms no pairs
MAX_NAMES = 64  # parameter names at one path pattern; if there are more, they are probably data
MAX_PAIRS = 256  # pairs that are compared for one parameter
MAX_PAIRS_OF_ADDRESS = 16  # pairs that are compared for one parameter at one address

ParameterAnswer = Literal["drop", "keep", "undecided"]


class SampledDocument(NamedTuple):
    """A document of a domain: its URL key, and the distinct hashes of its blocks.

    Attributes:
        url: URL key of the document; without values if it has more than MAX_PARAMETERS parameters.
        hashes: distinct block hashes of the document.
        forms_pairs: whether the document is compared with others.
    """

    url: NormalUrl
    hashes: array[int]
    forms_pairs: bool

    @classmethod
    def of(cls, url: NormalUrl, hashes: array[int]) -> SampledDocument:
        """Create a sample; bound its memory if the URL has more than MAX_PARAMETERS parameters."""
        if len(url.query) <= MAX_PARAMETERS:
            return cls(url, hashes, forms_pairs=True)
        names = islice({name: "" for name, _ in url.query}.items(), MAX_NAMES + 1)
        return cls(replace(url, query=tuple(names)), hashes, forms_pairs=False)


@dataclass(frozen=True, slots=True)
class ParameterEvidence:
    """The evidence about one parameter at one path.

    Attributes:
        name: decoded name of the parameter.
        documents: number of documents whose URL has the parameter.
        pairs: number of pairs with enough rare blocks. It can exceed the sum of `same` and
            `different`, because some pairs are neither.
        same: number of pairs whose documents have nearly the same rare blocks.
        different: number of pairs whose documents have different rare blocks.
        addresses: number of addresses that have a pair counted in `same`. An address is a URL
            without the parameter.
    """

    name: str
    documents: int
    pairs: int
    same: int
    different: int
    addresses: int

    @property
    def answer(self) -> ParameterAnswer:
        """Return `drop` if all pairs are `same`, `keep` if most are `different`, else `undecided`.

        `drop` and `keep` also need FEWEST_PAIRS pairs, and `drop` needs FEWEST_ADDRESSES addresses.
        """
        if self.same == self.pairs >= FEWEST_PAIRS and self.addresses >= FEWEST_ADDRESSES:
            return "drop"
        if self.different >= FEWEST_PAIRS and 2 * self.different > self.pairs:
            return "keep"
        return "undecided"


@dataclass(frozen=True, slots=True)
class PathEvidence:
    """The evidence about the parameters at one path pattern of a host.

    Attributes:
        host: host of the documents.
        path: path pattern, see `path_patterns`.
        paths: paths that have this pattern, of the documents whose URL has a query.
        parameters: evidence about each parameter, sorted by name; None if there are more than
            MAX_NAMES parameters.
    """

    host: str
    path: str
    paths: frozenset[str]
    parameters: tuple[ParameterEvidence, ...] | None


def query_evidence(samples: Sequence[SampledDocument]) -> list[PathEvidence]:
    """Return the evidence about the query parameters of one domain, sorted by host and path.

    Args:
        samples: documents of the domain. Their URL keys differ from each other.
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
    """A test for rare blocks: blocks in at most 10 documents of a domain, or in at most 2% of them.

    A block in more than half of the documents is never rare. A limit of one document would not
    work: a page that has ten addresses is ten documents with the same blocks.
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
    """Return the documents with each parameter, grouped by their address.

    The keys are the name of the parameter, and then the hash of the URL without this parameter.
    """
    alike: dict[str, dict[bytes, list[SampledDocument]]] = defaultdict(lambda: defaultdict(list))
    for sample in samples:
        for name in {name for name, _ in sample.url.query}:
            others = [pair for pair in sample.url.query if pair[0] != name]
            alike[name][_address(sample.url, others)].append(sample)
    return alike


def _pairs(
    name: str, alike: Mapping[bytes, list[SampledDocument]], whole: Mapping[bytes, SampledDocument]
) -> Iterator[tuple[bytes, SampledDocument, SampledDocument]]:
    """Yield pairs of documents that differ in a parameter: the hash of their address, and both.

    At each address the documents are sorted by the value of the parameter; a document without the
    parameter comes first. Two neighbours in this order are a pair.
    """

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
    """Return the Jaccard index of two sets of blocks, or None if they have too few blocks."""
    either = len(one | other)
    return len(one & other) / either if either >= FEWEST_BLOCKS else None


def _address(url: NormalUrl, query: Iterable[Parameter]) -> bytes:
    """Return the XXH3-128 hash of a URL whose query is replaced by `query`."""
    parts = (url.netloc, url.path, *query, url.fragment)
    return xxhash.xxh3_128_digest(repr(parts).encode())
