"""What long work says on stderr: documents, rate, time left and what runs now.

    with shown("extract") as progress:
        progress.expect(5_000)
        progress.now("trafilatura on streams/pypy.org")
        progress.advance()
        progress.say("predictions of trafilatura are stale: made anew")

A terminal gets one line that moves; a file gets a line every ten seconds.
"""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import IO, Self

from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar
from rich.table import Column

_EVERY = 10.0  # seconds between two lines where stderr is no terminal
_MOVES = 0.2  # seconds between two states of the line of a terminal


class Progress:
    """Counts, and shows nothing: for tests and for those who call a stage from code.

    Where nothing is expected, how much there will be is not known.

    Args:
        heading: what is done: the verb.
    """

    def __init__(self, heading: str = "") -> None:
        self.heading = heading
        self.documents = 0
        self.total = 0
        self._running = ""
        self._begun = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def expect(self, documents: int) -> None:
        """So many documents are to be done from now on; what was done before is not counted."""
        self.documents, self.total, self._begun = 0, documents, time.monotonic()
        self._show()

    def advance(self, documents: int = 1) -> None:
        """So many more are done; 0 while something takes long."""
        self.documents += documents
        self._show()

    def now(self, what: str) -> None:
        """What runs now; of several processes, what was begun last."""
        self._running = what

    def say(self, message: str) -> None:
        """Print a line that stays."""

    def close(self) -> None:
        """The work has ended, well or not."""

    def line(self) -> str:
        """All of it on one line."""
        rate = self.documents / max(time.monotonic() - self._begun, 1e-6)  # clocks may be coarse
        total = f" of {self.total:,}" if self.total else ""
        said = f"{self.heading}: {self.documents:,}{total} documents, {rate:,.1f} a second"
        if 0 < self.documents < self.total:
            said += f", {_duration((self.total - self.documents) / rate)} left"
        return f"{said}; {self._running}" if self._running else said

    def _show(self) -> None:
        """Nobody looks."""


class _Lines(Progress):
    """A line every ten seconds, and one at the end."""

    def __init__(self, heading: str, out: IO[str]) -> None:
        super().__init__(heading)
        self._out = out
        self._shown = self._begun

    def say(self, message: str) -> None:
        """As a line of its own."""
        print(f"{self.heading}: {message}", file=self._out, flush=True)

    def close(self) -> None:
        """Say how far it came."""
        self._running = ""
        print(self.line(), file=self._out, flush=True)

    def _show(self) -> None:
        if time.monotonic() - self._shown > _EVERY:
            self._shown = time.monotonic()
            print(self.line(), file=self._out, flush=True)


class _Live(Progress):
    """One line that moves; without a thread of its own, for a stage may fork."""

    def __init__(self, heading: str, out: IO[str]) -> None:
        super().__init__(heading)
        text = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True))
        self._bar = Bar(BarColumn(20), text, console=Console(file=out), auto_refresh=False)
        self._task = self._bar.add_task(heading, total=None)
        self._shown = 0.0
        self._bar.start()

    def say(self, message: str) -> None:
        """Above the line that moves."""
        self._bar.console.print(f"{self.heading}: {message}", markup=False, highlight=False)

    def close(self) -> None:
        """Leave the last line."""
        self._running, self._shown = "", 0.0
        self._show()
        self._bar.stop()

    def _show(self) -> None:
        if time.monotonic() - self._shown > _MOVES:
            self._shown = time.monotonic()
            done, total = self.documents, self.total or None
            self._bar.update(self._task, completed=done, total=total, description=self.line())
            self._bar.refresh()


def show_progress(heading: str, out: IO[str] | None = None) -> Progress:
    """Progress as the stream can show it: stderr, where none is given."""
    out = out or sys.stderr
    return _Live(heading, out) if out.isatty() else _Lines(heading, out)


def _duration(seconds: float) -> str:
    """In two units at most: "2 h 10 min", "3 min", "20 s"."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
