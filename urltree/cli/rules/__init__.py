"""`urltree rules`: commands for query rules, which decide which parameters identify a page."""

from __future__ import annotations

import click

from urltree.cli.rules.suggest import suggest


@click.group()
def rules() -> None:
    """Work with query rules, which decide which URL parameters identify a page."""


rules.add_command(suggest)
