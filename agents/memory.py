"""What is kept in memory of domains: the least recently used go when a bound is reached.

Everything in here can be made again from a table's rows, by one prefix scan.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Memory(Generic[T]):
    """Values by (partition, domain), bounded by the sum of their sizes.

    Args:
        bound: of the sum; the value used last stays, whatever its size.
        size_of: of a value now; it may grow with use, see `measure`.

    Attributes:
        size: the sum.
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
        """A value, which is now the one used last; None where it is not in memory."""
        value = self._values.get((partition, domain))
        if value is not None:
            self._values.move_to_end((partition, domain))
        return value

    def add(self, partition: int, domain: str, value: T) -> None:
        """Keep a value that was not in memory."""
        self._values[partition, domain] = value
        self._sizes[partition, domain] = 0
        self.measure(partition, domain)

    def measure(self, partition: int, domain: str) -> None:
        """A value has changed its size; others may have to go."""
        key = (partition, domain)
        if key not in self._values:
            return  # dropped meanwhile
        size = self._size_of(self._values[key])
        self.size += size - self._sizes[key]
        self._sizes[key] = size
        while self.size > self._bound and len(self._values) > 1:
            oldest, _ = self._values.popitem(last=False)
            self.size -= self._sizes.pop(oldest)

    def drop(self, partition: int, domain: str) -> None:
        """Keep nothing of a domain."""
        if self._values.pop((partition, domain), None) is not None:
            self.size -= self._sizes.pop((partition, domain))

    def clear(self) -> None:
        """Keep nothing."""
        self._values.clear()
        self._sizes.clear()
        self.size = 0
