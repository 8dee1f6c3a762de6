"""Measure this process's CPU time by part; other processes on the machine do not count."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from time import process_time

Round = Mapping[str, float]  # seconds by part


class Laps:
    """A stopwatch of CPU time for several parts.

    Attributes:
        seconds: seconds of CPU by part.
    """

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._at = process_time()

    def start(self) -> None:
        """Start a lap without counting the time since the last one."""
        self._at = process_time()

    def lap(self, part: str) -> None:
        """Add the CPU time since the last lap or start to this part."""
        now = process_time()
        self.seconds[part] += now - self._at
        self._at = process_time()


def rounds(number: int, measure: Callable[[Laps], None]) -> list[Round]:
    """Measure several rounds, after a first one that fills caches and is dropped."""
    measured: list[Round] = []
    for _ in range(number + 1):
        laps = Laps()
        measure(laps)
        measured.append(laps.seconds)
    return measured[1:]


def sums(measured: Sequence[Round], parts: Sequence[str]) -> list[float]:
    """Return the seconds of several parts together, in each round."""
    return [sum(of.get(part, 0.0) for part in parts) for of in measured]
