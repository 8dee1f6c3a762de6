"""Faust's recovery of tables, mended in three places (issue 3, "Open trouble", and `tests/job`).

- Faust goes on from an offset in memory. A rebalance in the middle of a recovery drops what was
  read and not written, and an offset or a highwater that is not there yet counts as 0: the row at
  offset 0, or all rows, were missing on the disk. Here only the disk says what it holds.
- A disk can be ahead of its changelog: the topic was made anew. Faust ends the worker, at each
  start. Here such a disk is wiped and restored from what the topic has now.
- The last offset of a compacted changelog may hold no record any more: a tombstone that Kafka
  dropped in time. Faust waits for it for ever. Here recovery ends where the reader has passed it.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from faust.tables import manager, recovery
from faust.types import TP
from mode import Service

from agents.telemetry.logs import log

_LOOK_SECONDS = 2.0


class Recovery(recovery.Recovery):
    """Restores the tables of the partitions that this worker got."""

    def __post_init__(self) -> None:
        """Nothing was passed yet."""
        self._passed: dict[TP, int] = {}

    @property
    def remaining(self) -> int:
        """Offsets of changelogs that are still to be read; 0 when all is restored.

        From the moment at which the ends of the changelogs are known; before that it is 0. A
        partition of which it is not known yet where to begin counts whole. Where compaction has
        left fewer records than offsets, it ends earlier.
        """
        read = self.active_offsets
        return sum(
            max(0, last - (-1 if (at := read.get(tp)) is None else at))
            for tp, last in self.active_highwaters.items()
        )

    async def _build_offsets(
        self, consumer: Any, tps: set[TP], destination: Counter[TP], title: str
    ) -> None:
        for tp in tps:
            disk, highwater = self.tp_to_table[tp].data, self.active_highwaters.get(tp)
            offset = disk.persisted_offset(tp)
            if None not in (offset, highwater) and offset > highwater:
                log.warning("disk is ahead of its changelog, it is restored", topic=tp.topic)
                disk.wipe(tp.partition)
                offset = None
            destination[tp] = offset
        await super()._build_offsets(consumer, tps, destination, title)

    @Service.timer(_LOOK_SECONDS)
    async def _pass_missing_records(self) -> None:
        """Where the reader was past the last offset at two looks on end, all was read."""
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
    """Faust's manager of tables, with the recovery above."""

    _recovery: Recovery | None = None

    async def on_start(self) -> None:
        """Start without the second that Faust waits here: agents are waited for elsewhere."""
        await self._update_channels()
        await self.recovery.start()

    @property
    def remaining(self) -> int:
        """Offsets of changelogs that recovery still has to read; 0 before the first."""
        return 0 if self._recovery is None else self._recovery.remaining

    @property
    def recovery(self) -> Recovery:
        """Made when it is first asked for."""
        if self._recovery is None:
            self._recovery = Recovery(self.app, self, beacon=self.beacon, loop=self.loop)
        return self._recovery
