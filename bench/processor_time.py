"""CPU time by part, of this process alone: other work on the machine does not count as ours."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from time import process_time

Round = Mapping[str, float]  # seconds by part


class Laps:
    """Seconds of CPU by part, taken from one lap to the next.

    Attributes:
        seconds: by part.
    """

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._at = process_time()

    def start(self) -> None:
        """What was done since the last lap counts for nothing."""
        self._at = process_time()

    def lap(self, part: str) -> None:
        """What was done since the last lap, or the start, counts for this part."""
        now = process_time()
        self.seconds[part] += now - self._at
        self._at = process_time()


def rounds(number: int, measure: Callable[[Laps], None]) -> list[Round]:
    """Measure several times; the first round, which fills caches, does not count."""
    measured: list[Round] = []
    for _ in range(number + 1):
        laps = Laps()
        measure(laps)
        measured.append(laps.seconds)
    return measured[1:]


def sums(measured: Sequence[Round], parts: Sequence[str]) -> list[float]:
    """The seconds of several parts together, in each round."""
    return [sum(of.get(part, 0.0) for part in parts) for of in measured]
