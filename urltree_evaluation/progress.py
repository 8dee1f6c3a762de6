"""Progress of long work on stderr: documents, rate, remaining time and the current item.

    with show_progress("extract") as progress:
        progress.expect(5_000)
        progress.now("trafilatura on streams/pypy.org")
        progress.advance()
        progress.say("predictions of trafilatura are out of date")

On a terminal, one line is updated in place. In a file, a new line is written every ten seconds.
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

_EVERY = 10.0  # seconds between two lines if stderr is not a terminal
_MOVES = 0.2  # seconds between two updates of the line on a terminal


class Progress:
    """A counter of processed documents that prints nothing; subclasses display the progress.

    The total is unknown until `expect` is called.

    Args:
        heading: name of the work, such as "extract".
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
        """Set the number of documents to process, and restart the count and the clock."""
        self.documents, self.total, self._begun = 0, documents, time.monotonic()
        self._show()

    def advance(self, documents: int = 1) -> None:
        """Add to the number of processed documents; 0 only refreshes the display."""
        self.documents += documents
        self._show()

    def now(self, what: str) -> None:
        """Set the description of the current work."""
        self._running = what

    def say(self, message: str) -> None:
        """Print a message on a line of its own."""

    def close(self) -> None:
        """Stop the display of progress, after success or failure."""

    def line(self) -> str:
        """Return heading, counts, rate, remaining time and current work as one line."""
        rate = self.documents / max(
            time.monotonic() - self._begun, 1e-6
        )  # avoids a division by 0 if the clock has a low resolution
        total = f" of {self.total:,}" if self.total else ""
        said = f"{self.heading}: {self.documents:,}{total} documents, {rate:,.1f} a second"
        if 0 < self.documents < self.total:
            said += f", {_duration((self.total - self.documents) / rate)} left"
        return f"{said}; {self._running}" if self._running else said

    def _show(self) -> None:
        """Do nothing, because this class prints nothing."""


class _Lines(Progress):
    """A progress display that prints one line every ten seconds, and a last line at the end."""

    def __init__(self, heading: str, out: IO[str]) -> None:
        super().__init__(heading)
        self._out = out
        self._shown = self._begun

    def say(self, message: str) -> None:
        """Print the message as a line."""
        print(f"{self.heading}: {message}", file=self._out, flush=True)

    def close(self) -> None:
        """Print the final counts."""
        self._running = ""
        print(self.line(), file=self._out, flush=True)

    def _show(self) -> None:
        if time.monotonic() - self._shown > _EVERY:
            self._shown = time.monotonic()
            print(self.line(), file=self._out, flush=True)


class _Live(Progress):
    """A progress display of one line that is updated in place.

    It uses no thread, because stages may fork while it is shown.
    """

    def __init__(self, heading: str, out: IO[str]) -> None:
        super().__init__(heading)
        text = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True))
        self._bar = Bar(BarColumn(20), text, console=Console(file=out), auto_refresh=False)
        self._task = self._bar.add_task(heading, total=None)
        self._shown = 0.0
        self._bar.start()

    def say(self, message: str) -> None:
        """Print the message above the updated line."""
        self._bar.console.print(f"{self.heading}: {message}", markup=False, highlight=False)

    def close(self) -> None:
        """Leave the final counts on the screen."""
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
    """Return a progress display on `out`, or on stderr if `out` is None.

    On a terminal, one line is updated in place. Otherwise new lines are printed.
    """
    out = out or sys.stderr
    return _Live(heading, out) if out.isatty() else _Lines(heading, out)


def _duration(seconds: float) -> str:
    """Return a duration in at most two units: "2 h 10 min", "3 min", "20 s"."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
