"""One run: broker, topics, workers, input, and an account of every page at the end.

    Kafka ──▶ topics ──▶ workers ready ──▶ pages published ──▶ all settled ──▶ audit
                                             └──── shown live ────┘

Everything of a run lies in one folder, which goes when the run ends well.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agents.commands import topics
from agents.commands.audit import account
from agents.commands.ledger import Accounts
from agents.settings import Settings, SettingsError, load
from demo.fetch import fetch
from demo.kafka import running
from demo.outputs import Outputs
from demo.publish import Publisher, read
from demo.sites import sample
from demo.view import View
from demo.workers import Workers
from urltree.sources import Source

STALL = 120.0  # seconds without an outcome after which a run is given up
TURN = 0.5  # seconds between two looks


@dataclass(frozen=True, slots=True)
class Summary:
    """How a run ended.

    Attributes:
        accounts: by the audit of the job, of all that lies in raw-html.
        refused: pages that were not published, with what is wrong.
        seconds: from the first page published to the last one settled.
    """

    accounts: Accounts
    refused: list[str]
    domains: int
    seconds: float


async def run(inputs: tuple[str, ...], directory: Path, view: View) -> Summary:
    """Run the job on these inputs, else on the sample.

    Raises:
        KafkaError, SettingsError, WorkerError, InputError: with a sentence for a person.
    """
    configured = load()
    with running(directory / "kafka") as brokers:
        settings = configured.model_copy(update={"brokers": tuple(brokers.split(","))})
        view.say(f"Kafka at {brokers}")
        _, refused = await topics.apply(settings)
        if refused:
            raise SettingsError("; ".join(map(str, refused)))
        with _working(Workers(settings, directory)) as workers:
            view.say(f"Starting a worker for each stage; logs in {directory} …")
            await workers.ready()
            return await _through(inputs, settings, workers, view)


@contextmanager
def _working(workers: Workers) -> Iterator[Workers]:
    try:
        workers.start()
        yield workers
    finally:
        workers.stop()


async def _through(
    inputs: tuple[str, ...], settings: Settings, workers: Workers, view: View
) -> Summary:
    """Publish the input, follow it to its end, audit."""
    outputs = Outputs(settings)
    publisher = Publisher(settings, outputs.expect)
    async with asyncio.TaskGroup() as group:
        following = group.create_task(outputs.follow())
        await outputs.started.wait()
        started = time.monotonic()
        publishing = group.create_task(publisher.publish(_pages(inputs)))
        await _watch(outputs, publisher, publishing, workers, view)
        seconds = time.monotonic() - started
        following.cancel()
    accounts = await account(settings, wait=TURN)
    return Summary(accounts, publisher.refused, len(outputs.progress.domains), seconds)


def _pages(inputs: tuple[str, ...]) -> AsyncIterator[Source]:
    return read(inputs) if inputs else fetch(sample())


async def _watch(
    outputs: Outputs,
    publisher: Publisher,
    publishing: asyncio.Task[None],
    workers: Workers,
    view: View,
) -> None:
    """Show what comes out until all is settled, or nothing more comes."""
    settled, moved = 0, time.monotonic()
    while True:
        progress = outputs.update()
        view.show(progress, publisher.published)
        if publishing.done() and progress.accounts.missing == 0:
            return
        workers.check()
        if progress.settled > settled or not publishing.done():
            settled, moved = progress.settled, time.monotonic()
        if time.monotonic() - moved > STALL:
            view.say(f"Nothing has come out for {STALL:.0f} s.")
            return
        await asyncio.sleep(TURN)
