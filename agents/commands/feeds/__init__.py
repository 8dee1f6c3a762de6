"""`python -m agents feeds …`: add, remove and list the followed feeds.

    add, import ──▶ topic feeds ──▶ poll ──▶ changelog of feed_state ──▶ list
    remove      ──▶ (tombstone)

The commands only use these topics, so no worker needs to run.
"""

from __future__ import annotations

import click

from agents.commands.feeds.add import add_command
from agents.commands.feeds.exchange import export_command, import_command
from agents.commands.feeds.list import list_feeds_command
from agents.commands.feeds.remove import remove_command


@click.group("feeds")
def feeds() -> None:
    """Add, remove, list, import and export followed feeds."""


for command in (add_command, remove_command, list_feeds_command, import_command, export_command):
    feeds.add_command(command)
