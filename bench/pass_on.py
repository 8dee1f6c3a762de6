"""A worker that only passes records on, to measure the cost of Faust and Kafka.

`python -m bench.pass_on extract` reads the topic documents and sends each record to clean-text.
With URLTREE_BENCH_ROW=N, the worker also writes a row of N bytes to the table for each record.
"""

from __future__ import annotations

import asyncio
import os
import sys

from faust.types.tuples import Message

from agents import worker
from agents.app import make_table
from agents.commands.topics import check_topics
from agents.kafka.delivery import OnFailure, Work
from agents.kafka.partitions import RoutedKey
from agents.settings.job import Settings, load_settings
from agents.stage import Stage
from agents.telemetry import logs

ROW = "URLTREE_BENCH_ROW"


class PassOn(Stage):
    """A stage that sends documents to clean-text unchanged."""

    name = "extract"
    reads = ("documents",)

    def __init__(self, settings: Settings, on_failure: OnFailure) -> None:
        super().__init__(settings, on_failure)
        self.table = make_table(self.app, "rows")
        self._row = os.urandom(int(os.environ.get(ROW, "0")))

    async def process(self, message: Message, origin: str, work: Work) -> None:
        """Send the record to clean-text, after writing a row if one is configured."""
        key = message.key or b""
        if self._row:
            stored = await self.table.put(message.partition, origin.encode(), self._row)
            work.wait_for(stored, len(self._row))
        await self.send(work, "clean-text", RoutedKey(message.partition, key), message.value)

    def drop(self, partition: int, domain: str) -> None:
        """Do nothing, because the stage keeps nothing in memory."""

    def clear(self) -> None:
        """Do nothing, because the stage keeps nothing in memory."""


if __name__ == "__main__":
    settings = load_settings()
    logs.configure(settings.log_level, settings.log_format)
    sys.exit(asyncio.run(worker.run(PassOn, settings, check_topics)))
