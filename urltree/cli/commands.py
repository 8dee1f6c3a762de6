"""Subcommands of `urltree` from other packages, found by the entry point group `urltree.commands`.

The package `urltree_evaluation` provides the subcommand `evaluate` in this way, so that the library
never imports the evaluation.
"""

from __future__ import annotations

from importlib.metadata import entry_points

import click

GROUP = "urltree.commands"


class PluginGroup(click.Group):
    """A command group that includes the commands of other packages.

    A command of another package is imported when it is first used.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, sorted."""
        return sorted({*super().list_commands(ctx), *entry_points(group=GROUP).names})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command with this name, or None if there is none."""
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        for entry_point in entry_points(group=GROUP, name=cmd_name):
            command: click.Command = entry_point.load()
            return command
        return None
