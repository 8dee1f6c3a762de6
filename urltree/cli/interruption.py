"""Ctrl-C between pages: what was learned is said, or the next run would call it a duplicate."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def between(pages: Iterable[T]) -> Iterator[Iterator[T]]:
    """These pages, and Ctrl-C held back until the next one is read; a second one is not.

    For the main thread, which alone hears of signals. KeyboardInterrupt comes out of the pages.
    """
    interruption = _Interruption()
    former = signal.signal(signal.SIGINT, interruption.hear)
    try:
        yield interruption.between(pages)
    finally:
        signal.signal(signal.SIGINT, former)


class _Interruption:
    def __init__(self) -> None:
        self._is_reading = False
        self._is_pending = False

    def hear(self, _: int, __: FrameType | None) -> None:
        if self._is_reading or self._is_pending:
            raise KeyboardInterrupt
        self._is_pending = True

    def between(self, pages: Iterable[T]) -> Iterator[T]:
        reading = iter(pages)
        while True:
            self._is_reading = True
            if self._is_pending:
                raise KeyboardInterrupt
            page = next(reading, None)
            self._is_reading = False
            if page is None:
                return
            yield page
