"""Which partition a key belongs to: murmur2, as Java clients and Faust choose.

librdkafka's default is CRC32, which sends five of six keys elsewhere (issue 3): a domain would
have two trees. So every record of ours names its partition, and what comes in is checked.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from aiokafka.partitioner import murmur2


class RoutedKey(NamedTuple):
    """Where a record goes to."""

    partition: int
    key: bytes


@lru_cache(maxsize=65_536)
def partition_of(key: bytes, partitions: int) -> int:
    """The partition of a key, of so many."""
    return int(murmur2(key) & 0x7FFFFFFF) % partitions


def route_key(text: str, partitions: int) -> RoutedKey:
    """A key with its partition."""
    key = text.encode()
    return RoutedKey(partition_of(key, partitions), key)
