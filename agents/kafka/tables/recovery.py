"""Faust's recovery of tables with three fixes.

- Faust continues from an offset in memory. A rebalance during a recovery drops records that were
  read but not written, and an offset or highwater that is not known yet counts as 0. So the row at
  offset 0, or all rows, were missing on disk. Here the offset is always read from the disk itself.
- A disk can be ahead of its changelog if the topic was created anew. Faust then ends the worker at
  each start. Here such a disk is wiped and restored from the present topic.
- The last offset of a compacted changelog may contain no record, because Kafka has removed an old
  tombstone. Faust waits for it forever. Here recovery ends when the reader has passed that offset.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from faust.tables import manager, recovery
from faust.types import TP
from mode import Service

from agents.telemetry.logs import log

_CHECK_SECONDS = 2.0


class Recovery(recovery.Recovery):
    """Recovery of the tables of the partitions that this worker owns."""

    def __post_init__(self) -> None:
        """Initialise the offsets that the reader had passed at the last check."""
        self._passed: dict[TP, int] = {}

    @property
    def remaining(self) -> int:
        """Number of changelog offsets that are still to be read.

        The number is 0 until the ends of the changelogs are known, and again when all tables are
        restored. A partition whose start is not known yet counts in full. Compaction leaves fewer
        records than offsets, so recovery may end earlier than this number suggests.
        """
        read = self.active_offsets
        return sum(
            max(0, last - (-1 if (at := read.get(tp)) is None else at))
            for tp, last in self.active_highwaters.items()
        )

    async def _wait(self, coro: Any, timeout: Any = None) -> None:  # noqa: ARG002, ASYNC109
        """Wait without a limit: each request has its own, and asking for offsets has none.

        After 40 s, Faust would take the time limit for a stop of the worker, and never recover.
        """
        await super()._wait(coro)

    async def _build_offsets(
        self, consumer: Any, tps: set[TP], destination: Counter[TP], title: str
    ) -> None:
        for tp in tps:
            disk, highwater = self.tp_to_table[tp].data, self.active_highwaters.get(tp)
            offset = disk.persisted_offset(tp)
            if None not in (offset, highwater) and offset > highwater:
                log.warning(
                    "table on disk is ahead of its changelog; wiped it, restoring it",
                    topic=tp.topic,
                    partition=tp.partition,
                )
                disk.wipe(tp.partition)
                offset = None
            destination[tp] = offset
        await super()._build_offsets(consumer, tps, destination, title)

    @Service.timer(_CHECK_SECONDS)
    async def _pass_missing_records(self) -> None:
        """Finish a partition whose reader was past the last offset at two consecutive checks."""
        before, self._passed = self._passed, {}
        for tp in list(self.active_tps) if self.in_recovery else ():
            offset, highwater = self.active_offsets[tp], self.active_highwaters[tp]
            if offset is not None and offset < highwater:
                position = await self.app.consumer.position(tp)
                if position is not None and position > highwater:
                    self._passed[tp] = offset
        for tp, offset in self._passed.items():
            is_still = before.get(tp) == offset == self.active_offsets[tp]
            if is_still and self.tables.changelog_queue.empty():
                self.active_offsets[tp] = self.active_highwaters[tp]


class TableManager(manager.TableManager):
    """Faust's table manager that uses `Recovery`."""

    _recovery: Recovery | None = None

    async def on_start(self) -> None:
        """Start without Faust's pause of one second for the agents; they are awaited anyway."""
        await self._update_channels()
        await self.recovery.start()

    @property
    def remaining(self) -> int:
        """Number of changelog offsets that recovery still has to read; 0 before it begins."""
        return 0 if self._recovery is None else self._recovery.remaining

    @property
    def recovery(self) -> Recovery:
        """The recovery service, created on first use."""
        if self._recovery is None:
            self._recovery = Recovery(self.app, self, beacon=self.beacon, loop=self.loop)
        return self._recovery
