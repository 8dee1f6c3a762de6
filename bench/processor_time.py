"""Measure the CPU time of this process by part; other processes are not measured."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from time import process_time

Round = Mapping[str, float]  # CPU time in seconds, by part


class Laps:
    """A stopwatch of CPU time for several parts.

    Attributes:
        seconds: CPU time in seconds, by part.
    """

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._at = process_time()

    def start(self) -> None:
        """Start a lap; the time since the last lap is not counted."""
        self._at = process_time()

    def lap(self, part: str) -> None:
        """Add the CPU time since the last call of `lap` or `start` to a part."""
        now = process_time()
        self.seconds[part] += now - self._at
        self._at = process_time()


def rounds(number: int, measure: Callable[[Laps], None]) -> list[Round]:
    """Measure several rounds; a first round fills caches and is not returned."""
    measured: list[Round] = []
    for _ in range(number + 1):
        laps = Laps()
        measure(laps)
        measured.append(laps.seconds)
    return measured[1:]


def sums(measured: Sequence[Round], parts: Sequence[str]) -> list[float]:
    """Return the CPU time of several parts together in each round, in seconds."""
    return [sum(of.get(part, 0.0) for part in parts) for of in measured]
