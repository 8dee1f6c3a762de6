"""`python -m agents feeds …`: which feeds are followed, and how they fare.

    add, import ──▶ topic feeds ──▶ poll ──▶ changelog of feed_state ──▶ list
    remove      ──▶ (tombstone)

Workers follow the topic: none is asked here, and none need run.
"""

from __future__ import annotations

import click

from agents.commands.feeds.add import add_command
from agents.commands.feeds.exchange import export_command, import_command
from agents.commands.feeds.list import list_feeds_command
from agents.commands.feeds.remove import remove_command


@click.group("feeds")
def feeds() -> None:
    """The feeds that are followed."""


for command in (add_command, remove_command, list_feeds_command, import_command, export_command):
    feeds.add_command(command)
