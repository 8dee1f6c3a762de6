"""The views of a run show all figures, and show markup of a page as plain text."""

from __future__ import annotations

import io
from collections import deque
from dataclasses import replace

from rich.console import Console

from agents.commands.audit.fetches import FetchAccounts
from agents.commands.audit.ledger import Accounts
from demo.__main__ import describe, unaccounted
from demo.progress import DemoSummary, Harvest, News, RunProgress
from demo.view import progress_line, progress_panel

ACCOUNTS = Accounts(
    origins=12,
    clean_text=8,
    duplicates={"rule": 2},
    dead_letters={"empty": 1},
    missing=1,
    first_missing=("raw-html/3/1042",),
)
FETCHES = FetchAccounts(
    origins=19, pages=12, waiting=4, dead_letters={"http-status": 2, "robots": 1}
)
HARVEST = Harvest(
    feeds=3,
    polls=41,
    items=19,
    pages=12,
    waiting=4,
    dead_letters={"http-status": 2, "robots": 1},
    failing={"https://a.example/feed": "dns: no such [name]"},
)


def _printed(progress: RunProgress) -> str:
    console = Console(file=io.StringIO(), width=130)
    console.print(progress_panel(progress))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_panel_shows_counts_domains_and_the_newest_text() -> None:
    """The panel shows duplicates by step, dead letters by reason, rate, domains and newest text."""
    news = deque([News("a.example", "A title", "Its text.", "https://a.example/1")])
    shown = _printed(RunProgress(ACCOUNTS, 3.6, {"a.example": 8}, news))
    for said in ("12  published", "8  clean text", "2    same rule", "1    empty", "1  in work"):
        assert said in shown
    for said in ("4  docs/s", "1 domains", "A title", "Its text.", "https://a.example/1"):
        assert said in shown


def test_markup_in_a_text_is_shown_as_it_is() -> None:
    """Square brackets in a text are shown, and are not read as markup of rich."""
    news = deque([News("a.example", "[red]", "[/bold] [blink]x", "https://a.example/[1]")])
    shown = _printed(RunProgress(ACCOUNTS, 0, {}, news))
    assert "[red]" in shown
    assert "[/bold] [blink]x" in shown


def test_many_domains_do_not_fill_the_screen() -> None:
    """The ten largest domains are named, and the others are counted."""
    shown = _printed(RunProgress(ACCOUNTS, 0, {f"d{n}.example": n for n in range(30)}))
    assert "d29.example" in shown
    assert "d5.example" not in shown
    assert "and 20 more" in shown


def test_the_panel_shows_what_feeds_bring() -> None:
    """The panel counts feeds, polls, items, pages, dead letters, waiting pages, failing feeds."""
    shown = _printed(RunProgress(ACCOUNTS, harvest=HARVEST))
    for said in ("3  feeds", "41  polls", "19  items found", "12  pages fetched", "4  waiting"):
        assert said in shown
    for said in ("2    http-status", "1    robots", "1  feeds failing"):
        assert said in shown


def test_a_line_counts_the_dead_letters_of_all_stages() -> None:
    """The progress line shows the sum of the dead letters of fetch and of the later stages."""
    said = progress_line(RunProgress(ACCOUNTS, harvest=HARVEST))
    assert said.startswith(
        "polls 41 · feeds failing 1 · items 19 · published 12 · clean text 8 · duplicates 2"
    )
    assert "dead letters 4" in said
    assert progress_line(RunProgress(ACCOUNTS)).startswith("published 12")


def test_the_summary_accounts_for_every_page() -> None:
    """The summary names missing pages, and lines of the input that were not published."""
    refused = ("line 3 of x.jsonl: is not JSON",)
    said = describe(DemoSummary(accounts=ACCOUNTS, domains=1, seconds=2.0, refused=refused))
    assert "       12 origins" in said
    assert "raw-html/3/1042" in said
    assert "1 not published" in said
    assert "line 3 of x.jsonl" in said
    assert "6 pages/s" in said
    assert "feeds" not in said


def test_the_summary_accounts_for_every_item() -> None:
    """The summary has the counts of the feeds, the failing feeds and the lost items."""
    lost = ("https://a.example/7: not found in its feed",)
    summary = DemoSummary(
        fetches=FETCHES, accounts=ACCOUNTS, domains=1, seconds=2.0, harvest=HARVEST, lost=lost
    )
    said = describe(summary)
    assert "        3 feeds, polled 41 times" in said
    assert "https://a.example/feed: dns: no such [name]" in said
    assert "       12 pages in raw-html" in said
    assert "        3 dead letters: http-status 2, robots 1" in said
    assert "        4 waiting" in said
    assert "https://a.example/7: not found in its feed" in said


def test_a_missing_outcome_is_an_error() -> None:
    """A run has an error if a page or a request is missing or an item is lost.

    A request that waits is no error.
    """
    good = DemoSummary(fetches=FETCHES, accounts=replace(ACCOUNTS, missing=0), domains=1, seconds=1)
    assert not unaccounted(good)
    assert unaccounted(replace(good, accounts=ACCOUNTS))
    assert unaccounted(replace(good, fetches=replace(FETCHES, missing=1)))
    assert unaccounted(replace(good, lost=("https://a.example/7",)))
