"""Handle Ctrl-C between two pages, so that the text of each learned page is also written.

Otherwise the state could contain a page whose text was not written. The next run would report this
page as a duplicate, and its text would be lost.
"""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def between(pages: Iterable[T]) -> Iterator[Iterator[T]]:
    """Delay Ctrl-C until the next page is read; a second Ctrl-C is not delayed.

    The returned iterator yields the pages and raises KeyboardInterrupt. Only the main thread may
    call this function, because only the main thread receives signals.
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
