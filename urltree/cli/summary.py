"""What the command says on stderr: progress while it runs, and a summary."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping

import click

from urltree.output.extraction import Extraction

_EVERY = 0.5  # seconds between two lines of progress


class RunSummary:
    """Counts of a run.

    Args:
        is_live: whether stderr is a terminal, where progress is shown.
    """

    def __init__(self, *, is_live: bool) -> None:
        self.ok = self.revised = 0
        self.duplicates: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self._first_pages: dict[str, bool] = {}  # domain: whether it has one page alone
        self._begin = self._shown = time.monotonic()
        self._is_live = is_live

    @property
    def pages(self) -> int:
        """All that came in."""
        return self.ok + self.duplicates.total() + self.errors.total()

    def count(self, extraction: Extraction) -> None:
        """Take note of one page, or of the revision of one."""
        if extraction.error is not None:
            self.errors[extraction.error] += 1
        elif extraction.duplicate_step is not None:
            self.duplicates[extraction.duplicate_step] += 1
        elif extraction.revision:
            self.revised += 1
        else:
            self.ok += 1
            domain = extraction.domain or ""
            is_first = domain not in self._first_pages and extraction.support == 1
            self._first_pages[domain] = is_first
        if self._is_live and time.monotonic() - self._shown > _EVERY:
            self._shown = time.monotonic()
            click.echo(
                f"\r{self.pages:,} pages, {self._speed():,.0f} a second ", err=True, nl=False
            )

    def show(self, skipped: Mapping[str, int]) -> None:
        """Print the summary."""
        if self._is_live:
            click.echo("\r\x1b[K", err=True, nl=False)
        click.echo("\n".join(self._lines(skipped)), err=True)

    def _lines(self, skipped: Mapping[str, int]) -> list[str]:
        lines = [
            f"{self.pages:,} pages of {len(self._first_pages):,} domains,"
            f" {self._speed():,.0f} a second: {self.ok:,} ok"
            + _listed("duplicates", self.duplicates)
            + _listed("errors", self.errors)
            + (f", {self.revised:,} revised" if self.revised else "")
        ]
        if skipped:
            lines.append("passed over" + _listed("", skipped).removeprefix(","))
        alone = sum(self._first_pages.values())
        if alone:
            lines.append(
                f"note: one page alone of {alone:,} domain{'s' * (alone > 1)}: there is nothing to"
                " learn from yet, so all of its text was kept"
            )
        return lines

    def _speed(self) -> float:
        return self.pages / max(time.monotonic() - self._begin, 1e-9)


def _listed(what: str, counts: Mapping[str, int]) -> str:
    if not counts:
        return ""
    parts = ", ".join(f"{name} {number:,}" for name, number in sorted(counts.items()))
    return f", {sum(counts.values()):,} {what} ({parts})" if what else f", {parts}"
