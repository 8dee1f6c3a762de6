"""`python -m agents reset STAGE`: forget all that a stage has learned, and begin anew.

Every row of its tables gets a tombstone, so that each disk hears of it, also on other machines;
a changelog made anew would leave old disks that look up to date. Then its group goes back to the
oldest record of its input: seven days for `normalize`, two for `extract`, by topics.yaml.
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

from agents.kafka.client import consumer, partitions, producer
from agents.kafka.groups import rewind, workers
from agents.kafka.tables.live_keys import live_keys
from agents.settings.job import Settings, SettingsError, load_settings

_TABLES = {"normalize": ("seen",), "extract": ("rows", "first")}
_INPUTS = {"normalize": "raw-html", "extract": "documents"}
_IN_FLIGHT = 1_000  # tombstones
_POLL_SECONDS = 1.0


class Plan(NamedTuple):
    """What a reset will do.

    Attributes:
        group: whose offsets go back.
        members: workers of it that run now; with any, nothing is done.
        changelogs: of its tables; each of their rows gets a tombstone.
        offsets: of the input, where the group will begin.
        disks: directories of this machine that will be deleted.
    """

    stage: str
    group: str
    members: int
    changelogs: tuple[str, ...]
    input: str
    offsets: dict[int, int]
    disks: list[Path]


async def plan(settings: Settings, stage: str) -> Plan:
    """Look at what is there."""
    members = await workers(settings, stage)
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
    """Rows that its tables have: their changelogs are read through, as `reset` will do it."""
    rows = 0
    async with consumer(settings) as reader:
        async for _ in live_keys(reader, await _places(reader, steps)):
            rows += 1
    return rows


async def wait(settings: Settings, stage: str, seconds: float) -> None:
    """Until no worker of a stage runs; one with an `instance_id` stays until its session ends.

    Raises:
        SettingsError: one runs still after so many seconds.
    """
    until = monotonic() + seconds
    members = await workers(settings, stage)
    while members and monotonic() < until:
        await asyncio.sleep(_POLL_SECONDS)
        members = await workers(settings, stage)
    if members:
        raise SettingsError(
            f"{stage} has {members} running worker(s) after {seconds:g} s: stop all of them, and "
            f"wait for longer than their session_seconds ({settings.session_seconds:g})"
        )


async def reset(settings: Settings, steps: Plan) -> int:
    """Do it; what a crash leaves half done, another reset ends.

    Returns:
        Rows that were deleted.

    Raises:
        SettingsError: workers of the stage are running.
    """
    if steps.members:
        raise SettingsError(f"{steps.stage} has {steps.members} running worker(s): stop them first")
    for disk in steps.disks:
        if disk.is_dir():
            shutil.rmtree(disk)
        else:
            disk.unlink(missing_ok=True)
    rows = await _bury(settings, steps)
    begin = {TopicPartition(steps.input, at): offset for at, offset in steps.offsets.items()}
    await rewind(settings, steps.stage, begin)
    return rows


@click.command("reset")
@click.argument("stage", type=click.Choice(list(_TABLES)))
@click.option("--yes", is_flag=True, help="Do it; without it, only say what would be done.")
@click.option(
    "--wait",
    "seconds",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="With --yes: wait so long for its workers to end; one with an instance_id stays a member "
    "for its session_seconds.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def reset_command(*, stage: str, yes: bool, seconds: float | None, as_json: bool) -> None:
    """Reset a STAGE: empty its tables, read its input again. Exit 1: not done."""
    settings = load_settings()
    if yes and seconds is not None:
        asyncio.run(wait(settings, stage, seconds))
    steps = asyncio.run(plan(settings, stage))
    rows = asyncio.run(reset(settings, steps) if yes else count(settings, steps))
    if as_json:
        click.echo(orjson.dumps(_fields(steps) | {"rows": rows, "done": yes}))
    else:
        click.echo(_sentences(steps, rows))
        if not yes:
            click.echo("nothing was done: repeat with --yes")
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


def _sentences(steps: Plan, rows: int) -> str:
    disks = ", ".join(map(str, steps.disks)) or "none here"
    return "\n".join(
        [
            f"workers   {steps.members} of group {steps.group} running",
            f"disks     deleted: {disks}",
            f"tables    {rows} rows deleted by their changelogs",
            f"offsets   of {steps.input} back to the oldest record",
        ]
    )


async def _bury(settings: Settings, steps: Plan) -> int:
    """A tombstone for each row."""
    rows, waiting = 0, []
    async with consumer(settings) as reader, producer(settings) as out:
        async for place, key in live_keys(reader, await _places(reader, steps)):
            waiting.append(await out.send(place.topic, None, key, place.partition))
            rows += 1
            if len(waiting) == _IN_FLIGHT:
                await asyncio.gather(*waiting)
                waiting.clear()
        await asyncio.gather(*waiting)
    return rows


async def _places(reader: AIOKafkaConsumer, steps: Plan) -> list[TopicPartition]:
    return [place for name in steps.changelogs for place in await partitions(reader, name)]
