"""A target: a function that reads bytes of strangers, and the errors that it may raise."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from random import Random

from tests.fuzz.mutation import Mutator


@dataclass(frozen=True)
class Target:
    """A function to be fuzzed.

    Attributes:
        name: name in the output and in the names of saved inputs.
        check: function that gets the input. It raises AssertionError if a result is wrong.
        errors: errors that the function may raise for a bad input.
        seeds: valid inputs from which all others are made.
        words: bytes that mutations insert.
        is_json: whether the inputs are JSON objects.
    """

    name: str
    check: Callable[[bytes], None]
    errors: tuple[type[Exception], ...]
    seeds: tuple[bytes, ...]
    words: tuple[bytes, ...] = ()
    is_json: bool = False

    @cached_property
    def _mutator(self) -> Mutator:
        return Mutator(self.seeds, self.words, is_json=self.is_json)

    def make(self, random: Random, seed: int, index: int) -> bytes:
        """Return the input with this index; `random` is only reused to save time."""
        random.seed(seed << 64 | index)
        return self._mutator.make(random)

    def run(self, data: bytes) -> None:
        """Run the check.

        Raises:
            Exception: an error that the function may not raise: the input has found a defect.
        """
        with contextlib.suppress(self.errors):
            self.check(data)
