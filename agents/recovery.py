"""Faust's recovery of tables, with two of its dead ends opened (issue 3, "Open trouble").

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

from agents.logs import log

_LOOK_SECONDS = 2.0


class Recovery(recovery.Recovery):
    """Restores the tables of the partitions that this worker got."""

    def __post_init__(self) -> None:
        """Offsets as they were at the last look."""
        self._seen: dict[TP, int] = {}

    async def _build_offsets(
        self, consumer: Any, tps: set[TP], destination: Counter[TP], title: str
    ) -> None:
        for tp in tps:
            offset, highwater = destination[tp], self.active_highwaters[tp]
            if offset is not None and offset > highwater:
                log.warning("disk is ahead of its changelog, it is restored", topic=tp.topic)
                self.tp_to_table[tp].data.wipe(tp.partition)
                destination[tp] = None  # type: ignore[assignment]
        await super()._build_offsets(consumer, tps, destination, title)

    @Service.timer(_LOOK_SECONDS)
    async def _pass_missing_records(self) -> None:
        """Where the reader is past the last offset and nothing came for a while, all was read."""
        before, self._seen = self._seen, dict(self.active_offsets)
        if not self.in_recovery or not self.tables.changelog_queue.empty():
            return
        for tp in list(self.active_tps):
            offset, highwater = self.active_offsets[tp], self.active_highwaters[tp]
            if offset is None or offset >= highwater or before.get(tp) != offset:
                continue
            position = await self.app.consumer.position(tp)
            if position is not None and position > highwater and self.active_offsets[tp] == offset:
                self.active_offsets[tp] = highwater


class TableManager(manager.TableManager):
    """Faust's manager of tables, with the recovery above."""

    _recovery: Recovery | None = None

    async def on_start(self) -> None:
        """Start without the second that Faust waits here: agents are waited for elsewhere."""
        await self._update_channels()
        await self.recovery.start()

    @property
    def recovery(self) -> Recovery:
        """Made when it is first asked for."""
        if self._recovery is None:
            self._recovery = Recovery(self.app, self, beacon=self.beacon, loop=self.loop)
        return self._recovery
