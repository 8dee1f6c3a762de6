"""A setting of the heuristic: its numbers, and the words that are removed from its word lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from typing import Any, NamedTuple

from urltree.heuristics.evidence.names import CONTENT, SOFT, STRONG, Names
from urltree.heuristics.evidence.parameters import Parameters

FACTORS = (0.5, 0.75, 1, 1.33, 2)
_BESIDE = (0.75, 1.33)
_LISTS = {"strong": STRONG, "soft": SOFT, "content": CONTENT}


class ListedWord(NamedTuple):
    """A word with the name of the word list that contains it."""

    of: str
    word: str

    def alone(self) -> Names:
        """Return word lists in which this word is the only one."""
        lists = {name: frozenset[str]() for name in _LISTS}
        return Names(**{**lists, self.of: frozenset({self.word})})


class Setting(NamedTuple):
    """The numbers and words that are fitted.

    Attributes:
        numbers: values of all numbers of the heuristic.
        removed: words that are removed from the lists.
    """

    numbers: Parameters
    removed: frozenset[ListedWord] = frozenset()

    def names(self) -> Names:
        """Return the word lists without the removed words."""
        lists = {
            name: frozenset(word for word in words if ListedWord(name, word) not in self.removed)
            for name, words in _LISTS.items()
        }
        return Names(**lists)

    def put(self, name: str, value: float) -> Setting:
        """Return the setting with another value for one number."""
        return self._replace(numbers=_numbers({**self.numbers._asdict(), name: value}))

    def without(self, words: Iterable[ListedWord]) -> Setting:
        """Return the setting with these words removed, too."""
        return self._replace(removed=self.removed | frozenset(words))


def all_words() -> list[ListedWord]:
    """Return the words of all lists, in the order in which their removal is tried."""
    return [ListedWord(name, word) for name, words in _LISTS.items() for word in sorted(words)]


def values_to_try(name: str) -> list[float]:
    """Return the values that are tried for a number, the smallest first.

    The default is multiplied by each of FACTORS. If the default is a share, that is, below 1, its
    odds are multiplied instead.
    """
    default = getattr(Parameters(), name)
    values = {_times(default, factor) for factor in FACTORS}
    return sorted(values)


def start(seed: int = 6) -> Setting:
    """Return the start of every fit, whose values differ from the defaults.

    The defaults were chosen on all sites, so a fit must not begin with them.
    """
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
