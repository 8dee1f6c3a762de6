"""The partition of a key: murmur2, as Java clients and Faust compute it.

librdkafka's default is CRC32, which puts five of six keys in another partition, so that one domain
would get two trees. Therefore our records name their partition explicitly, and the partition of
each incoming record is checked.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from aiokafka.partitioner import murmur2


class RoutedKey(NamedTuple):
    """Record key together with its partition."""

    partition: int
    key: bytes


@lru_cache(maxsize=65_536)
def partition_of(key: bytes, partitions: int) -> int:
    """Return the partition index (0 to `partitions` - 1) of a key."""
    return int(murmur2(key) & 0x7FFFFFFF) % partitions


def route_key(text: str, partitions: int) -> RoutedKey:
    """Return the record key with this text, together with the partition of the key."""
    key = text.encode()
    return RoutedKey(partition_of(key, partitions), key)
