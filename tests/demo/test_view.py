"""What one sees of a run is readable, complete, and no markup of a page reaches the terminal."""

from __future__ import annotations

import io
from collections import deque

from rich.console import Console

from agents.commands.ledger import Accounts
from demo.__main__ import described
from demo.outputs import News, Progress
from demo.run import Summary
from demo.view import panel

ACCOUNTS = Accounts(
    origins=12,
    clean_text=8,
    duplicates={"rule": 2},
    dead_letters={"empty": 1},
    missing=1,
    first_missing=("raw-html/3/1042",),
)


def _printed(progress: Progress) -> str:
    console = Console(file=io.StringIO(), width=110)
    console.print(panel(progress, 12))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_panel_shows_counts_domains_and_the_newest_text() -> None:
    """Published, clean text, duplicates by step, dead letters by reason, in work, rate, text."""
    news = deque([News("a.example", "A title", "Its text.", "https://a.example/1")])
    shown = _printed(Progress(ACCOUNTS, 3.6, {"a.example": 8}, news))
    for said in ("12  published", "8  clean text", "2    same rule", "1    empty", "1  in work"):
        assert said in shown
    for said in ("4  docs/s", "1 domains", "A title", "Its text.", "https://a.example/1"):
        assert said in shown


def test_markup_in_a_text_is_shown_as_it_is() -> None:
    """Square brackets in a page are no commands to the terminal."""
    news = deque([News("a.example", "[red]", "[/bold] [blink]x", "https://a.example/[1]")])
    shown = _printed(Progress(ACCOUNTS, 0, {}, news))
    assert "[red]" in shown
    assert "[/bold] [blink]x" in shown


def test_many_domains_do_not_fill_the_screen() -> None:
    """The ten largest are named, the rest is counted."""
    shown = _printed(Progress(ACCOUNTS, 0, {f"d{n}.example": n for n in range(30)}))
    assert "d29.example" in shown
    assert "d5.example" not in shown
    assert "and 20 more" in shown


def test_the_summary_accounts_for_every_page() -> None:
    """It names what is missing, and what was never published."""
    said = described(Summary(ACCOUNTS, ["line 3 of x.jsonl: is not JSON"], 1, 2.0))
    assert "       12 origins" in said
    assert "raw-html/3/1042" in said
    assert "1 not published" in said
    assert "line 3 of x.jsonl" in said
    assert "6 pages/s" in said
