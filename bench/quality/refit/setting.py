"""A setting of the heuristic: its numbers, and the words that are left out of its lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from typing import Any, NamedTuple

from urltree.heuristics.evidence.names import CONTENT, SOFT, STRONG, Names
from urltree.heuristics.evidence.parameters import Parameters

FACTORS = (0.5, 0.75, 1, 1.33, 2)
_BESIDE = (0.75, 1.33)
_LISTS = {"strong": STRONG, "soft": SOFT, "content": CONTENT}


class Word(NamedTuple):
    """A word of one of the three lists."""

    of: str
    word: str

    def alone(self) -> Names:
        """Names among which it is the only word."""
        lists = {name: frozenset[str]() for name in _LISTS}
        return Names(**{**lists, self.of: frozenset({self.word})})


class Setting(NamedTuple):
    """What is fitted.

    Attributes:
        numbers: in the order of `Parameters`.
        removed: words that do not count.
    """

    numbers: Parameters
    removed: frozenset[Word] = frozenset()

    def names(self) -> Names:
        """The words that count."""
        lists = {
            name: frozenset(word for word in words if Word(name, word) not in self.removed)
            for name, words in _LISTS.items()
        }
        return Names(**lists)

    def put(self, name: str, value: float) -> Setting:
        """The same with another number."""
        return self._replace(numbers=_numbers({**self.numbers._asdict(), name: value}))

    def without(self, words: Iterable[Word]) -> Setting:
        """The same with fewer words."""
        return self._replace(removed=self.removed | frozenset(words))


def all_words() -> list[Word]:
    """The words of all lists, in the order in which their removal is tried."""
    return [Word(name, word) for name, words in _LISTS.items() for word in sorted(words)]


def grid(name: str) -> list[float]:
    """The values that are tried for a number, from the smallest.

    Whole numbers and sizes are multiplied by FACTORS; of a share, which is below 1, the odds are.
    """
    default = getattr(Parameters(), name)
    values = {_times(default, factor) for factor in FACTORS}
    return sorted(values)


def start(seed: int = 6) -> Setting:
    """Where every fit begins: beside the defaults, which were chosen on all sites."""
    random = Random(seed)
    numbers = {
        name: _times(default, random.choice(_BESIDE))
        for name, default in Parameters()._asdict().items()
    }
    return Setting(_numbers(numbers))


def _numbers(values: Mapping[str, Any]) -> Parameters:
    return Parameters(**values)


def _times(default: float, factor: float) -> float:
    if isinstance(default, int):
        return max(1, round(default * factor))
    if default < 1:
        odds = factor * default / (1 - default)
        return round(odds / (1 + odds), 4)
    return default * factor
