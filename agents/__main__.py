"""`python -m agents …`: run a worker, and what an operator needs beside it."""

from __future__ import annotations

import asyncio
import sys
from importlib import import_module

import click
from aiokafka.errors import KafkaError

from agents import logs, settings
from agents.audit import audit
from agents.dead_letters import dead_letters
from agents.domain import domain_command
from agents.forget import forget_command
from agents.reset import reset_command
from agents.topics import topics


@click.group()
def main() -> None:
    """The job around Kafka: workers and the commands of their operator."""


@main.command()
@click.argument("stage", type=click.Choice(["normalize", "extract"]))
def worker(stage: str) -> None:
    """Run a worker of one STAGE until SIGTERM; run more of them to share its partitions."""
    from agents import worker as workers  # noqa: PLC0415 - Faust takes a second to import

    configured = settings.load()
    logs.configure(configured.log_level, configured.log_format)
    module = import_module(f"agents.{stage}")
    check = import_module("agents.topics").check
    code = asyncio.run(workers.run(getattr(module, stage.title()), configured, check))
    sys.exit(code)


main.add_command(topics)
main.add_command(audit)
main.add_command(dead_letters)
main.add_command(domain_command)
main.add_command(forget_command)
main.add_command(reset_command)


if __name__ == "__main__":
    try:
        main()
    except (settings.SettingsError, KafkaError) as error:
        click.echo(f"agents: {error}", err=True)
        sys.exit(2)
