"""A bounded store in memory, mostly for the states of sites.

When the store is full, it drops the least recently used values. A dropped value can be rebuilt from
the rows of a table.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Memory(Generic[T]):
    """Store of values by (partition, domain), which limits the sum of their sizes.

    Args:
        bound: largest sum of sizes. The value that was used last stays, whatever its size.
        size_of: function that returns the current size of a value.

    Attributes:
        size: sum of the sizes.
    """

    def __init__(self, bound: int, size_of: Callable[[T], int]) -> None:
        self._bound = bound
        self._size_of = size_of
        self._values: OrderedDict[tuple[int, str], T] = OrderedDict()
        self._sizes: dict[tuple[int, str], int] = {}
        self.size = 0

    def __len__(self) -> int:
        return len(self._values)

    def get(self, partition: int, domain: str) -> T | None:
        """Return a value and mark it as just used; return None if it is not in memory."""
        value = self._values.get((partition, domain))
        if value is not None:
            self._values.move_to_end((partition, domain))
        return value

    def add(self, partition: int, domain: str, value: T) -> None:
        """Add a value that is not in memory."""
        self._values[partition, domain] = value
        self._sizes[partition, domain] = 0
        self.measure(partition, domain)

    def measure(self, partition: int, domain: str) -> None:
        """Measure a value that may have grown, and drop other values while the sum is too large."""
        key = (partition, domain)
        if key not in self._values:
            return  # the value was dropped in the meantime
        size = self._size_of(self._values[key])
        self.size += size - self._sizes[key]
        self._sizes[key] = size
        while self.size > self._bound and len(self._values) > 1:
            oldest, _ = self._values.popitem(last=False)
            self.size -= self._sizes.pop(oldest)

    def drop(self, partition: int, domain: str) -> None:
        """Drop the value of a domain."""
        if self._values.pop((partition, domain), None) is not None:
            self.size -= self._sizes.pop((partition, domain))

    def clear(self) -> None:
        """Drop all values."""
        self._values.clear()
        self._sizes.clear()
        self.size = 0
