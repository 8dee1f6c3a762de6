"""Output for a terminal: progress, and text that other people wrote, such as error messages."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

T = TypeVar("T")

_EVERY = 100  # number of items between two updates of the progress; an update takes about 10 µs


def escape_control(text: str) -> str:
    """Replace control characters: on a terminal they could move the cursor or hide text."""
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)


async def show(items: AsyncIterable[T], what: str, total: int | None = None) -> AsyncIterator[T]:
    """Yield the items, and show their number on standard error.

    Nothing is shown if standard error is not a terminal, or if the command has the option --json.

    Args:
        items: the items.
        what: what the command does with them.
        total: number of the items, if it is known; compaction may have removed some of them.
    """
    with _progress(what, total) as advance:
        async for item in items:
            yield item
            advance()


def show_all(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """Do the same as `show`, for items that need not be awaited."""
    with _progress(what, total) as advance:
        for item in items:
            yield item
            advance()


@contextmanager
def _progress(what: str, total: int | None) -> Iterator[Callable[[], None]]:
    """Show a progress bar; the block calls the function after each item."""
    context = click.get_current_context(silent=True)
    is_shown = sys.stderr.isatty() and context is not None and not context.params.get("as_json")
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not is_shown) as bar:
        task, count = bar.add_task(what, total=total), 0

        def advance() -> None:
            nonlocal count
            count += 1
            if count % _EVERY == 0:
                bar.update(task, completed=count)

        yield advance
