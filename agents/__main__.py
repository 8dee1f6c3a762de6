"""The command line `python -m agents`: run a worker, or one of the operator commands."""

from __future__ import annotations

import asyncio
import sys
from importlib import import_module

import click
from aiokafka.errors import KafkaError

from agents.settings import job as settings
from agents.telemetry import logs

_STAGES = {"poll": "Poll", "fetch": "Fetch", "normalize": "Normalize", "extract": "Extract"}
# Paths of the click commands, relative to `agents.commands`, by command name.
_COMMANDS = {
    "audit": "audit.command.audit",
    "dead-letters": "dead_letters.command.dead_letters",
    "deny": "deny.deny",
    "domain": "domain.domain_command",
    "feeds": "feeds.feeds",
    "fetches": "fetches.fetches",
    "forget": "forget.forget_command",
    "reset": "reset.reset_command",
    "round-trip": "round_trip.round_trip_command",
    "state": "state.command.state",
    "topics": "topics.topics",
}


class LazyCommands(click.Group):
    """Command group that imports a command only when it is needed.

    Without the imports of the other commands, a worker starts in three quarters of the time.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands in alphabetical order."""
        return sorted({*_COMMANDS, *super().list_commands(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command with this name, or None if there is none."""
        if cmd_name not in _COMMANDS:
            return super().get_command(ctx, cmd_name)
        module, _, name = _COMMANDS[cmd_name].rpartition(".")
        command: click.Command = getattr(import_module(f"agents.commands.{module}"), name)
        return command


@click.group(cls=LazyCommands)
def main() -> None:
    """Run a worker of the Kafka job, or one of its operator commands."""


@main.command()
@click.argument("stage", type=click.Choice(list(_STAGES)))
def worker(stage: str) -> None:
    """Run a worker of one STAGE until SIGTERM.

    If a stage has several workers, Kafka divides the partitions among them.
    """
    from agents import worker as workers  # noqa: PLC0415 - Faust takes a second to import
    from agents.access.check import check_rights  # noqa: PLC0415
    from agents.commands.topics import check_topics  # noqa: PLC0415

    async def check(configured: settings.Settings) -> list[str]:
        await check_rights(configured, stage)
        return await check_topics(configured)

    configured = settings.load_settings()
    logs.configure(configured.log_level, configured.log_format)
    for name in settings.unknown_variables():
        logs.log.warning("environment variable matches no setting, ignored", variable=name)
    make = getattr(import_module(f"agents.{stage}"), _STAGES[stage])
    code = asyncio.run(workers.run(make, configured, check))
    sys.exit(code)


def tell(error: settings.SettingsError | KafkaError) -> None:
    """Print the reason why a command ended, and all rights in Kafka that its user lacks."""
    from agents.access.check import check_rights, command_of  # noqa: PLC0415
    from agents.kafka.refusal import NoKafkaError, explain  # noqa: PLC0415

    click.echo(f"agents: {explain(error)}", err=True)
    if isinstance(error, NoKafkaError):
        return
    try:
        configured = settings.load_settings()
        command = command_of(configured, sys.argv[1:])
        if command is not None:
            asyncio.run(check_rights(configured, command))
    except settings.SettingsError as missing:  # or the same error as before
        if str(missing) != str(error):
            click.echo(f"agents: {missing}", err=True)
    except KafkaError:
        pass  # the first line is the reason


if __name__ == "__main__":
    try:
        main()
    except (settings.SettingsError, KafkaError) as error:
        tell(error)
        sys.exit(2)
