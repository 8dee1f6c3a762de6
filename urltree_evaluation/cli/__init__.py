"""`urltree evaluate`: one module a verb, imported when it is called."""

from __future__ import annotations

from importlib import import_module

import click

_VERBS = ("all", "convert", "extractors", "extract", "score", "cost", "report", "gate")


class _Verbs(click.Group):
    """Knows its verbs by name alone: plain `urltree extract` needs none of their packages."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            return None
        try:
            module = import_module(f"urltree_evaluation.cli.{cmd_name}")
        except ModuleNotFoundError as error:
            package = str(error.name).partition(".")[0]
            ctx.fail(f"{package} is missing: pip install 'urltree[evaluation]'")
        command: click.Command = module.command
        return command


@click.group(cls=_Verbs)
def evaluate() -> None:
    """Measure extractors on pages with gold: all does convert, extract, score, cost and report."""
