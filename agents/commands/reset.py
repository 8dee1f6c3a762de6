"""`python -m agents reset STAGE`: delete everything that a stage has learned, and start again.

The command sends a tombstone for each row of the stage's tables, so that the row is deleted from
the disks of all machines. (If the changelog were created anew, old disks would look up to date.)
Then the offsets of the group are set to the oldest record of the input topic. With topics.yaml,
Kafka keeps seven days of input for `normalize` and two days for `extract`.
"""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import click
import orjson
from aiokafka import AIOKafkaConsumer, TopicPartition

from agents.commands.terminal import show
from agents.kafka.client import consumer, partitions, producer
from agents.kafka.groups import count_workers, rewind
from agents.kafka.tables.live_keys import live_keys
from agents.settings.job import Settings, SettingsError, load_settings

_TABLES = {"normalize": ("seen",), "extract": ("rows", "first")}
_INPUTS = {"normalize": "raw-html", "extract": "documents"}
_IN_FLIGHT = 1_000  # largest number of tombstones that Kafka has not confirmed yet
_CHECK_SECONDS = 1.0


class Plan(NamedTuple):
    """Steps of a reset.

    Attributes:
        stage: Name of the stage.
        group: Consumer group whose offsets are set back.
        members: Number of running workers; the reset is refused unless it is 0.
        changelogs: Changelogs of the stage's tables, whose rows are deleted.
        input: Name of the input topic, with prefix.
        offsets: Offset at which the group will begin, by partition of the input.
        disks: Directories on this machine that will be deleted.
    """

    stage: str
    group: str
    members: int
    changelogs: tuple[str, ...]
    input: str
    offsets: dict[int, int]
    disks: list[Path]


async def plan(settings: Settings, stage: str) -> Plan:
    """Return the steps of a reset, without changing anything."""
    members = await count_workers(settings, stage)
    source = settings.topic(_INPUTS[stage])
    async with consumer(settings) as reader:
        first = await reader.beginning_offsets(await partitions(reader, source))
    return Plan(
        stage,
        settings.topic(f"urltree-{stage}"),
        members,
        tuple(settings.topic(f"urltree-{stage}-{name}-changelog") for name in _TABLES[stage]),
        source,
        {at.partition: offset for at, offset in first.items()},
        sorted(
            disk for name in _TABLES[stage] for disk in settings.data_dir.glob(f"*/tables/{name}-*")
        ),
    )


async def count(settings: Settings, steps: Plan) -> int:
    """Return the number of rows that `reset` would delete."""
    rows = 0
    async with consumer(settings) as reader:
        keys = live_keys(reader, await _places(reader, steps))
        async for _ in show(keys, "counting rows"):
            rows += 1
    return rows


async def wait(settings: Settings, stage: str, seconds: float) -> None:
    """Wait until no worker of a stage runs.

    A worker with an `instance_id` remains a member of its group until its session ends.

    Raises:
        SettingsError: A worker is still running after this time.
    """
    until = monotonic() + seconds
    members = await count_workers(settings, stage)
    while members and monotonic() < until:
        await asyncio.sleep(_CHECK_SECONDS)
        members = await count_workers(settings, stage)
    if members:
        raise SettingsError(
            f"{stage} still has {members} running worker(s) after {seconds:g} s: stop all of them, "
            f"and wait for longer than their session_seconds ({settings.session_seconds:g})"
        )


async def reset(settings: Settings, steps: Plan) -> int:
    """Reset the stage. If it is interrupted, another reset completes it.

    Returns:
        The number of deleted rows.

    Raises:
        SettingsError: Workers of the stage are running.
    """
    if steps.members:
        raise SettingsError(f"{steps.stage} has {steps.members} running worker(s): stop them first")
    for disk in steps.disks:
        if disk.is_dir():
            shutil.rmtree(disk)
        else:
            disk.unlink(missing_ok=True)
    rows = await _send_tombstones(settings, steps)
    begin = {TopicPartition(steps.input, at): offset for at, offset in steps.offsets.items()}
    await rewind(settings, steps.stage, begin)
    return rows


@click.command("reset")
@click.argument("stage", type=click.Choice(list(_TABLES)))
@click.option(
    "--yes",
    is_flag=True,
    help="Carry out the reset. Without this option the command only shows the steps.",
)
@click.option(
    "--wait",
    "seconds",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="With --yes: wait up to SECONDS until no worker of the stage runs. A worker with an "
    "instance_id remains a member of the group for session_seconds after its end.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def reset_command(*, stage: str, yes: bool, seconds: float | None, as_json: bool) -> None:
    """Reset a STAGE: empty its tables and read its input again.

    Exit code 1: nothing was done.
    """
    settings = load_settings()
    if yes and seconds is not None:
        asyncio.run(wait(settings, stage, seconds))
    steps = asyncio.run(plan(settings, stage))
    rows = asyncio.run(reset(settings, steps) if yes else count(settings, steps))
    if as_json:
        click.echo(orjson.dumps(_fields(steps) | {"rows": rows, "done": yes}))
    else:
        click.echo(_sentences(steps, rows, "deleted" if yes else "to delete"))
        if not yes:
            click.echo("Nothing was done. Repeat the command with --yes to carry it out.")
    raise SystemExit(0 if yes else 1)


def _fields(steps: Plan) -> dict[str, Any]:
    return {
        "stage": steps.stage,
        "group": steps.group,
        "members": steps.members,
        "input": steps.input,
        "offsets": {str(partition): offset for partition, offset in steps.offsets.items()},
        "disks": [str(disk) for disk in steps.disks],
    }


def _sentences(steps: Plan, rows: int, deleted: str) -> str:
    disks = ", ".join(map(str, steps.disks)) or "none on this machine"
    return "\n".join(
        [
            f"workers   {steps.members} running in group {steps.group}",
            f"disks     {deleted}: {disks}",
            f"tables    {rows} rows {deleted}",
            f"offsets   of {steps.input} back to the oldest record",
        ]
    )


async def _send_tombstones(settings: Settings, steps: Plan) -> int:
    """Send a tombstone for each row, and return the number of rows."""
    rows, waiting = 0, []
    async with consumer(settings) as reader, producer(settings) as out:
        keys = live_keys(reader, await _places(reader, steps))
        async for place, key in show(keys, "deleting rows"):
            waiting.append(await out.send(place.topic, None, key, place.partition))
            rows += 1
            if len(waiting) == _IN_FLIGHT:
                await asyncio.gather(*waiting)
                waiting.clear()
        await asyncio.gather(*waiting)
    return rows


async def _places(reader: AIOKafkaConsumer, steps: Plan) -> list[TopicPartition]:
    return [place for name in steps.changelogs for place in await partitions(reader, name)]
