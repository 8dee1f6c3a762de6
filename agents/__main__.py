"""`python -m agents …`: run a worker, and what an operator needs beside it."""

from __future__ import annotations

import asyncio
import sys
from importlib import import_module

import click
from aiokafka.errors import KafkaError

from agents import logs, settings
from agents.commands.audit import audit
from agents.commands.dead_letters import dead_letters
from agents.commands.domain import domain_command
from agents.commands.feeds import feeds
from agents.commands.forget import forget_command
from agents.commands.reset import reset_command
from agents.commands.round_trip import round_trip_command
from agents.commands.state import state
from agents.commands.topics import check, topics

_STAGES = {"poll": "Poll", "fetch": "Fetch", "normalize": "Normalize", "extract": "Extract"}


@click.group()
def main() -> None:
    """The job around Kafka: workers and the commands of their operator."""


@main.command()
@click.argument("stage", type=click.Choice(list(_STAGES)))
def worker(stage: str) -> None:
    """Run a worker of one STAGE until SIGTERM; run more of them to share its partitions."""
    from agents import worker as workers  # noqa: PLC0415 - Faust takes a second to import

    configured = settings.load()
    logs.configure(configured.log_level, configured.log_format)
    for name in settings.unknown():
        logs.log.warning("no setting has this name", variable=name)
    make = getattr(import_module(f"agents.{stage}"), _STAGES[stage])
    code = asyncio.run(workers.run(make, configured, check))
    sys.exit(code)


main.add_command(topics)
main.add_command(feeds)
main.add_command(audit)
main.add_command(dead_letters)
main.add_command(domain_command)
main.add_command(forget_command)
main.add_command(reset_command)
main.add_command(round_trip_command)
main.add_command(state)


if __name__ == "__main__":
    try:
        main()
    except (settings.SettingsError, KafkaError) as error:
        click.echo(f"agents: {error}", err=True)
        sys.exit(2)
