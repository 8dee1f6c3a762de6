"""The addresses of a source that counted as seen, as digests of five bytes each.

A digest has 40 bits, so of a million new pages of a site with 50,000 known addresses, one is
mistaken for a known page about every twenty times. A row of table `seen_items` takes ten times as
much space, and is written again twice in its life.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from functools import cached_property

import xxhash

SIZE = 5  # bytes of a digest


def address_digest(key: str) -> bytes:
    """Return the digest of an address or of its URL key."""
    return xxhash.xxh3_64_digest(key.encode(errors="replace"))[:SIZE]


class KnownAddresses:
    """A set of addresses.

    Attributes:
        packed: digests in ascending order, without duplicates; this is what is stored.
    """

    def __init__(self, packed: bytes = b"") -> None:
        self.packed = packed[: len(packed) // SIZE * SIZE]

    @classmethod
    def of(cls, keys: Iterable[str]) -> KnownAddresses:
        """Return the set of these addresses."""
        return cls.of_digests(map(address_digest, keys))

    @classmethod
    def of_digests(cls, digests: Iterable[bytes]) -> KnownAddresses:
        """Return the set of the addresses with these digests (`address_digest`)."""
        return cls(b"".join(sorted(set(digests))))

    def __or__(self, other: KnownAddresses) -> KnownAddresses:
        """Return the addresses that are in either set."""
        if not self.packed or not other.packed:
            return self if self.packed else other
        return self.of_digests([*self._digests, *other._digests])

    def __eq__(self, other: object) -> bool:
        """Return whether two sets have the same addresses."""
        return isinstance(other, KnownAddresses) and self.packed == other.packed

    def __hash__(self) -> int:
        return hash(self.packed)

    @cached_property
    def _digests(self) -> list[bytes]:
        return [self.packed[at : at + SIZE] for at in range(0, len(self.packed), SIZE)]

    def __len__(self) -> int:
        return len(self.packed) // SIZE

    def __contains__(self, key: str) -> bool:
        """Return whether an address is in the set."""
        digest = address_digest(key)
        at = bisect_left(self._digests, digest)
        return at < len(self._digests) and self._digests[at] == digest
