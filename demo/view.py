"""Views of a run: a panel that is redrawn in a terminal, and plain lines elsewhere."""

from __future__ import annotations

import time
from typing import Protocol, Self

from rich.columns import Columns
from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from demo.progress import Harvest, News, RunProgress

PLAIN_SECONDS = 3.0  # time between two lines of the plain view
TEXT = 600  # largest number of characters of a clean text that are shown


class RunView(Protocol):
    """View that shows a run to the user."""

    def say(self, message: str) -> None:
        """Print a message about the present step of the run."""

    def show(self, progress: RunProgress) -> None:
        """Show the progress."""

    def __enter__(self) -> Self:
        """Open the view."""

    def __exit__(self, *error: object) -> None:
        """Restore the terminal."""


class Plain:
    """View that prints a line of counts every few seconds, and the newest clean text."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._shown = time.monotonic()
        self._news: News | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def say(self, message: str) -> None:
        """Print a message about the present step of the run."""
        self._print(message)

    def show(self, progress: RunProgress) -> None:
        """Print a line of counts, and the newest text below it."""
        if time.monotonic() - self._shown < PLAIN_SECONDS:
            return
        self._shown = time.monotonic()
        self._print(progress_line(progress))
        if progress.news and progress.news[-1] is not self._news:
            self._news = progress.news[-1]
            text = " ".join(self._news.text.split())
            self._print(f"    {self._news.domain}: {text[:160]}")

    def _print(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


class Terminal:
    """View that redraws counts, domains and the newest clean texts in a terminal."""

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, refresh_per_second=4)
        self._console = console

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def say(self, message: str) -> None:
        """Print a line above the panel."""
        self._console.print(message, style="dim", markup=False, highlight=False)

    def show(self, progress: RunProgress) -> None:
        """Redraw the panel."""
        self._live.update(progress_panel(progress))


def progress_line(progress: RunProgress) -> str:
    """Return all counts in one line."""
    accounts, harvest = progress.accounts, progress.harvest
    counts: list[str] = []
    dead_letters = sum(accounts.dead_letters.values())
    if harvest is not None:
        counts += [f"polls {harvest.polls:,}"]
        counts += [f"feeds failing {len(harvest.failing):,}"] if harvest.failing else []
        counts += [f"items {harvest.items:,}"]
        dead_letters += sum(harvest.dead_letters.values())
    counts += [
        f"published {accounts.origins:,}",
        f"clean text {accounts.clean_text:,}",
        f"duplicates {sum(accounts.duplicates.values()):,}",
        f"dead letters {dead_letters:,}",
        f"{progress.rate:,.0f} docs/s",
        f"{len(progress.domains)} domains",
    ]
    return " · ".join(counts)


def progress_panel(progress: RunProgress) -> Group:
    """Return the whole panel."""
    panels = [_counts(progress), _domains(progress)]
    if progress.harvest is not None:
        panels.insert(0, _feeds(progress.harvest))
    counts = Columns(panels, expand=True)
    return Group(counts, *(_news(news) for news in reversed(progress.news)))


def _feeds(harvest: Harvest) -> Panel:
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", style="bold")
    table.add_row(f"{harvest.feeds:,}", "feeds")
    table.add_row(f"{harvest.polls:,}", "polls")
    if harvest.failing:
        table.add_row(f"{len(harvest.failing):,}", "feeds failing", style="red")
    table.add_row(f"{harvest.items:,}", "items found", style="green")
    table.add_row(f"{harvest.pages:,}", "pages fetched")
    table.add_row(f"{sum(harvest.dead_letters.values()):,}", "dead letters")
    for reason, count in harvest.dead_letters.items():
        table.add_row(f"{count:,}", f"  {reason}", style="dim")
    table.add_row(f"{harvest.waiting:,}", "waiting", style="yellow")
    return Panel(table, title="feeds", border_style="blue")


def _counts(progress: RunProgress) -> Panel:
    accounts = progress.accounts
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", style="bold")
    table.add_row(f"{accounts.origins:,}", "published")
    table.add_row(f"{accounts.clean_text:,}", "clean text", style="green")
    table.add_row(f"{sum(accounts.duplicates.values()):,}", "duplicates")
    for step, count in accounts.duplicates.items():
        table.add_row(f"{count:,}", f"  same {step}", style="dim")
    table.add_row(f"{sum(accounts.dead_letters.values()):,}", "dead letters")
    for reason, count in accounts.dead_letters.items():
        table.add_row(f"{count:,}", f"  {reason}", style="dim")
    table.add_row(f"{accounts.missing:,}", "in work", style="yellow")
    table.add_row(f"{progress.rate:,.0f}", "docs/s", style="cyan")
    return Panel(table, title="urltree", border_style="blue")


def _domains(progress: RunProgress) -> Panel:
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", style="bold")
    largest = sorted(progress.domains.items(), key=lambda item: -item[1])
    for domain, count in largest[:10]:
        table.add_row(f"{count:,}", domain)
    if len(largest) > 10:
        table.add_row("", f"and {len(largest) - 10} more", style="dim")
    return Panel(table, title=f"{len(largest)} domains", border_style="blue")


def _news(news: News) -> Panel:
    text = Text(news.text[:TEXT] + ("…" if len(news.text) > TEXT else ""))
    text.truncate(TEXT)
    return Panel(
        Group(Text(news.title, style="bold"), text),
        title=Text(news.domain),
        subtitle=Text(news.url, style="dim", overflow="ellipsis"),
        height=9,
        border_style="green",
    )
