"""`python -m agents …`: run a worker, and what an operator needs beside it."""

from __future__ import annotations

import asyncio
import sys
from importlib import import_module

import click
from aiokafka.errors import KafkaError

from agents.settings import job as settings
from agents.telemetry import logs

_STAGES = {"poll": "Poll", "fetch": "Fetch", "normalize": "Normalize", "extract": "Extract"}
# below `agents.commands`, module and command
_COMMANDS = {
    "audit": "audit.command.audit",
    "dead-letters": "dead_letters.command.dead_letters",
    "domain": "domain.domain_command",
    "feeds": "feeds.feeds",
    "forget": "forget.forget_command",
    "reset": "reset.reset_command",
    "round-trip": "round_trip.round_trip_command",
    "state": "state.command.state",
    "topics": "topics.topics",
}


class LazyCommands(click.Group):
    """Imports a command when it is asked for: a worker starts a quarter sooner without them all."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in order."""
        return sorted({*_COMMANDS, *super().list_commands(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, if there is one."""
        if cmd_name not in _COMMANDS:
            return super().get_command(ctx, cmd_name)
        module, _, name = _COMMANDS[cmd_name].rpartition(".")
        command: click.Command = getattr(import_module(f"agents.commands.{module}"), name)
        return command


@click.group(cls=LazyCommands)
def main() -> None:
    """The job around Kafka: workers and the commands of their operator."""


@main.command()
@click.argument("stage", type=click.Choice(list(_STAGES)))
def worker(stage: str) -> None:
    """Run a worker of one STAGE until SIGTERM; run more of them to share its partitions."""
    from agents import worker as workers  # noqa: PLC0415 - Faust takes a second to import
    from agents.commands.topics import check_topics  # noqa: PLC0415

    configured = settings.load_settings()
    logs.configure(configured.log_level, configured.log_format)
    for name in settings.unknown():
        logs.log.warning("no setting has this name", variable=name)
    make = getattr(import_module(f"agents.{stage}"), _STAGES[stage])
    code = asyncio.run(workers.run(make, configured, check_topics))
    sys.exit(code)


if __name__ == "__main__":
    try:
        main()
    except (settings.SettingsError, KafkaError) as error:
        click.echo(f"agents: {error}", err=True)
        sys.exit(2)
