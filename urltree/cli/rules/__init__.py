"""`urltree rules`: which query parameters name a page."""

from __future__ import annotations

import click

from urltree.cli.rules.suggest import suggest


@click.group()
def rules() -> None:
    """Query rules: which parameters of a URL name the page."""


rules.add_command(suggest)
