"""Types of the fixtures that publish and read a test's records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from click.testing import Result

PARTITIONS = 6


class Sent(NamedTuple):
    """Record that a test publishes; if `partition` is None, the key determines the partition."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]] = ()
    partition: int | None = None


Publish = Callable[..., list[str]]
ReadAll = Callable[[str], list[Any]]
Run = Callable[..., Result]
