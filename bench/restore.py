"""Benchmark of recovery: rows per second that a worker restores on an empty disk.

The changelog of `rows` gets random rows of about 1 KB. Then a worker of `extract` starts with an
empty disk, and restores them. The time counts from the start of the recovery to its end.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import NamedTuple

from agents.commands.topics import apply
from agents.extract import Extract
from agents.kafka.client import producer
from agents.kafka.tables.table import row_key
from agents.settings.job import Settings
from bench.broker import running_broker
from bench.figure import Bar, Benchmark, Measurement
from bench.pages import Pages

FLOOR = 20_000.0  # lowest allowed number of rows per second
ROWS = 100_000
ROW_BYTES = 1_000
PARTITIONS = 6


class Restored(NamedTuple):
    """Seconds of one restore: on the clock, and of CPU time."""

    wall: float
    cpu: float


def measure(pages: Pages, number: int) -> Benchmark:  # noqa: ARG001 - the rows are random bytes
    """Restore the rows of a changelog on an empty disk, several times."""
    with running_broker() as broker:
        settings = Settings.model_validate({"brokers": broker.address, "prefix": "restore-"})
        rounds = asyncio.run(_measure(settings, number))
    best = min(rounds)
    speeds = sorted(ROWS / one.wall for one in rounds)
    spread = " / ".join(
        f"{speed:,.0f}" for speed in (speeds[0], speeds[len(speeds) // 2], speeds[-1])
    )
    method = f"{ROWS:,} rows of {ROW_BYTES:,} random bytes, {PARTITIONS} partitions"
    figures = [
        Measurement(
            "rows restored", ROWS / best.wall, "rows / s", spread, bar=Bar(FLOOR, is_floor=True)
        ),
        Measurement("CPU time of the worker", best.cpu / ROWS * 1e6, "µs / row"),
    ]
    return Benchmark("Restore of a lost disk", method, figures)


async def _measure(settings: Settings, number: int) -> list[Restored]:
    await apply(settings)
    await _write(settings)
    return [await _restore(settings) for _ in range(number)]


async def _write(settings: Settings) -> None:
    random = Random(1)
    topic = settings.topic("urltree-extract-rows-changelog")
    async with producer(settings) as client:
        for row in range(ROWS):
            key = row_key(f"site{row % 100}.example", row.to_bytes(16, "big"))
            await client.send(topic, random.randbytes(ROW_BYTES), key, row % PARTITIONS)
        await client.flush()


async def _restore(settings: Settings) -> Restored:
    with tempfile.TemporaryDirectory(prefix="urltree-bench-") as directory:
        stage = Extract(settings.model_copy(update={"data_dir": Path(directory)}), _fail)
        starting = asyncio.create_task(stage.app.start())  # ends after the recovery
        tables = stage.app.tables
        await _until(lambda: tables.recovery.in_recovery and tables.remaining > 0)
        start, cpu = perf_counter(), process_time()
        await _until(lambda: tables.actives_ready)
        restored = Restored(perf_counter() - start, process_time() - cpu)
        rows = sum(1 for partition in range(PARTITIONS) for _ in stage.table.scan(partition, b""))
        await starting
        await stage.app.stop()
    if rows != ROWS:
        raise RuntimeError(f"the restored table has {rows:,} rows, expected {ROWS:,}")
    return restored


async def _until(holds: Callable[[], bool]) -> None:
    while not holds():  # noqa: ASYNC110 - the condition has no event
        await asyncio.sleep(0.005)


def _fail(error: BaseException) -> None:
    raise AssertionError(error)
