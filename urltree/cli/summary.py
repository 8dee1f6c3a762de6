"""Print the progress of a run, and a summary at the end, to standard error."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping

import click

from urltree.output.extraction import Extraction

_EVERY = 0.5  # seconds between two updates of the progress


class RunSummary:
    """The numbers of pages of a run, by their result.

    Args:
        is_live: whether standard error is a terminal; only then is the progress printed.
    """

    def __init__(self, *, is_live: bool) -> None:
        self.ok = self.revised = 0
        self.duplicates: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self._first_pages: dict[str, bool] = {}  # domain: whether only one of its pages is known
        self._begin = self._shown = time.monotonic()
        self._is_live = is_live

    @property
    def pages(self) -> int:
        """Number of pages that were read; revised results are not pages."""
        return self.ok + self.duplicates.total() + self.errors.total()

    def count(self, extraction: Extraction) -> None:
        """Count the result of one page, or one revised result; print the progress if it is due."""
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
                f"\r{self.pages:,} pages, {self._speed():,.0f} per second ", err=True, nl=False
            )

    def show(self, skipped: Mapping[str, int]) -> None:
        """Print the summary."""
        if self._is_live:
            click.echo("\r\x1b[K", err=True, nl=False)
        click.echo("\n".join(self._lines(skipped)), err=True)

    def _lines(self, skipped: Mapping[str, int]) -> list[str]:
        lines = [
            f"{_number(self.pages, 'page')} of {_number(len(self._first_pages), 'domain')},"
            f" {self._speed():,.0f} per second: {self.ok:,} ok"
            + _list_counts("duplicate", self.duplicates)
            + _list_counts("error", self.errors)
            + (f", {self.revised:,} revised" if self.revised else "")
        ]
        if skipped:
            lines.append("skipped: " + _list_parts(skipped))
        alone = sum(self._first_pages.values())
        if alone:
            lines.append(
                f"note: {_number(alone, 'domain')} with only one page so far: text that repeats on"
                " a site cannot be recognised from one page. More pages improve the text"
            )
        return lines

    def _speed(self) -> float:
        return self.pages / max(time.monotonic() - self._begin, 1e-9)


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


def _list_counts(noun: str, counts: Mapping[str, int]) -> str:
    return f", {_number(sum(counts.values()), noun)} ({_list_parts(counts)})" if counts else ""


def _list_parts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in sorted(counts.items()))
