"""The command `urltree evaluate`. Each subcommand has a module that is imported when it runs."""

from __future__ import annotations

from importlib import import_module

import click

_VERBS = ("all", "convert", "extractors", "extract", "score", "cost", "report", "gate")


class _Verbs(click.Group):
    """A command group that imports a subcommand only when it is needed.

    The plain command `urltree extract` therefore works without the packages of the evaluation.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            return None
        try:
            module = import_module(f"urltree_evaluation.cli.{cmd_name}")
        except ModuleNotFoundError as error:
            package = str(error.name).partition(".")[0]
            ctx.fail(f"{package} is not installed. Run: pip install 'urltree[evaluation]'")
        command: click.Command = module.command
        return command


@click.group(cls=_Verbs)
def evaluate() -> None:
    """Measure text extractors on web pages whose correct text is known.

    `all` runs convert, extract, score, cost and report in this order.
    """
