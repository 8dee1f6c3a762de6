"""Seeded mutations: the input with one number is the same on every machine and in every run.

Half of the inputs of a JSON target change values inside the parsed object, so that the checks of
fields are reached. All other inputs change bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import orjson

_MOST_CHANGES = 6
_LARGEST = 200_000  # bytes of an input
_BYTES = (
    b"\0",
    b"\xff",
    b"\x80",
    b"\n",
    b" ",
    b"%",
    b"\\",
    b"\xed\xa0\x80",
    b"\xff\xfe",
    b"-",
    b"9",
)
_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2**31, 2**63 - 1, -(2**63), 2**64 - 1, 1e308, -0.0, 0.5),
    *("", "\0", "a", "\U0010ffff", "\ufffd", "x" * 3_000, "raw-html/0/1", "2024-02-30T25:00:00Z"),
    *("0001-01-01T00:00:00+23:59", "https://example.org/", "00" * 16),
    *([], {}, [None], [[]], {"a": 1}, [[[[[[[[]]]]]]]]),
)


class Mutator:
    """Make inputs from seeds.

    Args:
        seeds: valid inputs.
        words: bytes that are inserted, such as tags or names of fields.
        is_json: whether the seeds are JSON objects.
    """

    def __init__(self, seeds: Sequence[bytes], words: Sequence[bytes], *, is_json: bool) -> None:
        self._seeds = seeds
        self._words = (*words, *_BYTES)
        self._parsed = [orjson.loads(seed) for seed in seeds] if is_json else []

    def make(self, random: Random) -> bytes:
        """Return the next input."""
        chance = random.random
        if self._parsed and chance() < 0.5:
            changed = _choose(self._parsed, chance())
            for _ in range(1 + int(chance() * 3)):
                changed = _change_value(changed, random)
            return orjson.dumps(changed)
        data = _choose(self._seeds, chance())
        for _ in range(1 + int(chance() * _MOST_CHANGES)):
            data = self._change_bytes(data, random)
        return data

    def _change_bytes(self, data: bytes, random: Random) -> bytes:  # noqa: PLR0911
        chance = random.random
        size = len(data)
        at, kind = int(chance() * (size + 1)), int(chance() * 9)
        end = min(size, at + 1 + int(chance() ** 3 * 200))
        if kind == 0:
            return data[:at] + bytes((int(chance() * 256),)) + data[at + 1 :]
        if kind == 1:
            return data[:at] + data[end:]
        if kind == 2:
            return data[:at]
        if kind == 3:  # a part repeated: rarely so often that a slow input would be noticed
            times = 2 + int(chance() * (2_000 if chance() < 0.002 else 4))
            repeated = data[:at] + data[at:end] * times + data[end:]
            return repeated[:_LARGEST]
        if kind == 4:  # the end of another seed
            other = _choose(self._seeds, chance())
            return data[:at] + other[int(chance() * len(other)) :]
        if kind == 5 and size > at:  # one bit
            return data[:at] + bytes((data[at] ^ 1 << int(chance() * 8),)) + data[at + 1 :]
        if kind == 6:  # a part moved to another place
            moved = data[:at] + data[end:]
            to = int(chance() * (len(moved) + 1))
            return moved[:to] + data[at:end] + moved[to:]
        return data[:at] + _choose(self._words, chance()) + data[at:]


def _choose(options: Sequence[Any], chance: float) -> Any:
    return options[int(chance * len(options))]


def _change_value(value: Any, random: Random) -> Any:  # noqa: PLR0911
    """Return a copy of a JSON value in which one value was replaced, removed or added."""
    chance = random.random
    if value and isinstance(value, dict):
        name = _choose(list(value), chance())
        what = chance()
        if what < 0.1:
            return {key: kept for key, kept in value.items() if key != name}
        if what < 0.2:
            return {**value, _choose((*value, "", "version", "more"), chance()): _a_value(random)}
        return {**value, name: _change_value(value[name], random)}
    if value and isinstance(value, list):
        at, what = int(chance() * len(value)), chance()
        if what < 0.1:
            return value[:at] + value[at + 1 :]
        if what < 0.2:
            return [*value, *value[: 1 + at]]
        return [*value[:at], _change_value(value[at], random), *value[at + 1 :]]
    if isinstance(value, str) and chance() < 0.3:
        at = int(chance() * (len(value) + 1))
        return (
            value[:at] + _choose(("\0", "é", "/", "-1", " ", "\U0001f600"), chance()) + value[at:]
        )
    return _a_value(random)


def _a_value(random: Random) -> Any:
    return _choose(_VALUES, random.random())
