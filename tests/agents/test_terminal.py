"""Commands show their progress on a terminal only, and never with --json."""

from __future__ import annotations

import asyncio
import io
import sys
from collections.abc import AsyncIterator

import click
import pytest

from agents.commands.terminal import show, show_all

COUNT = 250


class Terminal(io.StringIO):
    """Standard error that is a terminal."""

    def isatty(self) -> bool:
        """Return True."""
        return True


async def numbers() -> AsyncIterator[int]:
    """Yield the first numbers."""
    for number in range(COUNT):
        yield number


async def shown() -> list[int]:
    """Return the numbers after they were shown."""
    return [number async for number in show(numbers(), "reading numbers", COUNT)]


@pytest.mark.parametrize(
    ("terminal", "params", "is_shown"),
    [
        (Terminal(), {"as_json": False}, True),
        (Terminal(), {}, True),
        (Terminal(), {"as_json": True}, False),
        (Terminal(), None, False),
        (io.StringIO(), {"as_json": False}, False),
    ],
    ids=["text", "no option", "JSON", "no command", "no terminal"],
)
def test_progress_is_shown_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch,
    terminal: io.StringIO,
    params: dict[str, bool] | None,
    is_shown: bool,
) -> None:
    """All items are yielded; their number is shown on a terminal unless the output is JSON."""
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    context = click.Context(click.Command("audit"))
    context.params = params or {}
    if params is None:
        assert list(show_all(range(COUNT), "reading numbers")) == list(range(COUNT))
        assert asyncio.run(shown()) == list(range(COUNT))
    else:
        with context:
            assert list(show_all(range(COUNT), "reading numbers")) == list(range(COUNT))
            assert asyncio.run(shown()) == list(range(COUNT))
    assert ("reading numbers" in terminal.getvalue()) is is_shown
    assert bool(terminal.getvalue()) is is_shown
