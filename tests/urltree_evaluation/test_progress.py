"""Tests of the line that shows the progress, and of messages."""

from __future__ import annotations

import os
import pty
from contextlib import suppress
from io import StringIO

from urltree_evaluation.progress import Progress, show_progress


def test_a_line_says_how_far_it_is_and_what_runs() -> None:
    """The line shows how many documents are done, and the current item.

    It shows the remaining time once a rate is known and while documents remain.
    """
    progress = Progress("extract")
    progress.expect(2_000)
    assert progress.line() == "extract: 0 of 2,000 documents, 0.0 a second"
    progress.now("x on streams/a.example")
    progress.advance(1_500)
    line = progress.line()
    assert line.startswith("extract: 1,500 of 2,000 documents, ")
    assert line.endswith(" left; x on streams/a.example")
    progress.advance(500)
    assert " left" not in progress.line()


def test_a_file_gets_lines_that_stay() -> None:
    """If the output is a file, a line is written every ten seconds, not for each document.

    The last line has the final counts, also after Ctrl-C.
    """
    out = StringIO()
    with suppress(KeyboardInterrupt), show_progress("score", out) as progress:
        progress.expect(50)
        progress.say("stale: x [made anew]")
        for _ in range(40):
            progress.advance()
        raise KeyboardInterrupt
    first, *others, last = out.getvalue().splitlines()
    assert first == "score: stale: x [made anew]"
    assert last.startswith("score: 40 of 50 documents, ")
    assert len(others) < 10  # one line every ten seconds, so usually none


def test_a_terminal_gets_one_line_that_moves() -> None:
    """On a terminal, one line is updated, and messages are printed above it, unchanged."""
    reading, writing = pty.openpty()
    with os.fdopen(writing, "w") as out, show_progress("cost", out) as progress:
        progress.expect(3)
        progress.say("left out: x [time]")
        progress.advance(3)
    said = b""
    with suppress(OSError):  # reading a closed terminal fails after the last byte
        while chunk := os.read(reading, 1 << 16):
            said += chunk
    os.close(reading)
    lines = said.decode()
    assert "cost: left out: x [time]\r\n" in lines
    assert "cost: 3 of 3 documents" in lines
