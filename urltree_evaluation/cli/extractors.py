"""The command `urltree evaluate extractors`: list the available extractors."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from urltree_evaluation.cli import options
from urltree_evaluation.extractors import catalogue
from urltree_evaluation.extractors.registry import RegisteredExtractor

_WIDTH = 180  # columns of the table if the output is not a terminal


@click.command()
@options.plugins_option
def command(plugins: tuple[Path, ...]) -> None:
    """List all extractors with their kinds, versions and options.

    For an extractor that is not available, the list has the reason.
    """
    with options.errors_as_messages():
        found, absent = catalogue.load_extractors(plugins)
    console = Console(width=None if sys.stdout.isatty() else _WIDTH, highlight=False)
    console.print(_table(found, absent))


def _table(found: dict[str, RegisteredExtractor], absent: dict[str, str]) -> Table:
    table = Table("name", "kind", "version", "options", box=SIMPLE_HEAD)
    for name, each in sorted(found.items()):
        kind = "stream" if each.is_stream else "single page"
        table.add_row(name, kind, catalogue.extractor_version(each), escape(each.options))
    for name, reason in sorted(absent.items()):
        table.add_row(name, "absent", "", escape(reason), style="dim")
    return table
