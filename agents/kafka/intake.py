"""What comes in from Kafka: each record of a partition once, from the committed offset on.

    stop_flow        seek to committed      fetch, fetch, …       stop_flow
    ───┼──────────────────────┼────────────────────────────────────────┼───▶
       │ what is fetched here │ these records count, in their order    │ dropped, read again
       │ counts for nothing   │                                        │ after the next seek

Faust resumes its flow before it seeks, cuts a batch short when the flow stops, and goes on with
the rest of it where the flow resumes at once. A partition's record 250 came before its record
200, was confirmed and committed; when the worker then stopped, 50 records were lost. A fetch that
was under way at the seek moved the position on after it (`tests/job`: up to 203 of 5,000 lost). So
seeks and fetches take turns, and each fetch knows between which seeks and stops it lies.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

from faust.transport.drivers import aiokafka as driver
from faust.types import TP
from faust.types.tuples import Message


class Intake(driver.Consumer):
    """A consumer that drops what was fetched before a seek, or before its flow stopped."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._position = asyncio.Lock()  # who holds it may move the positions of partitions
        self._moves = 0  # seeks and stops so far
        self._is_at_committed = False  # whether streams were sought since the last stop
        self._fetched_after = (0, False)  # both of these when the newest batch was asked for

    def stop_flow(self) -> None:
        """From now on nothing counts that was fetched, or is being fetched."""
        self._moves += 1
        self._is_at_committed = False
        super().stop_flow()

    async def seek_to_committed(self) -> Mapping[TP, int]:
        """Go back to what was committed, once no fetch can step over it.

        Where nothing, or offset 0, was committed, aiokafka stays where it is: what was fetched too
        early from a new group's topics never came again (`reset`, 3 of 8 runs).
        """
        async with self._position:
            offsets: Mapping[TP, int] = await super().seek_to_committed()
            is_source = self.app.topics.acks_enabled_for
            first = {tp: 0 for tp, at in offsets.items() if not at and is_source(tp.topic)}
            if first:
                await super().seek_wait(first)
            self._moves += 1
            self._is_at_committed = True
            return offsets

    async def seek_wait(self, partitions: Mapping[TP, int]) -> None:
        """Go to these offsets, once no fetch can step over them."""
        async with self._position:
            await super().seek_wait(partitions)
            self._moves += 1

    async def getmany(self, timeout: float) -> AsyncIterator[tuple[TP, Message]]:  # noqa: ASYNC109
        """Records of one fetch, up to the moment at which they no longer count.

        Records of streams before the seek to what was committed are dropped: it comes, and
        brings them again.
        """
        records, active = await self._wait_next_records(timeout)
        moves, is_at_committed = self._fetched_after
        if not records or active is None or self.should_stop:
            return
        for tp, record in self.scheduler.iterate(records):
            if self._moves != moves or not self.flow_active:
                return
            if tp not in active and tp not in self._buffered_partitions:
                continue
            if is_at_committed or not self.app.topics.acks_enabled_for(tp.topic):
                yield tp, self._to_message(tp, record)

    async def _getmany(self, **wanted: Any) -> Any:
        async with self._position:
            if not self.flow_active:
                return {}
            self._fetched_after = (self._moves, self._is_at_committed)
            return await super()._getmany(**wanted)
