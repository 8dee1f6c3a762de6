"""Open transactions: records after the first record of an open transaction cannot be read.

    offset          40   41   42   43   44
                    ■    t    ■    t    ■          t record of the open transaction
    last stable offset   ▲ 41              ▲ 45 high watermark

Workers and commands read committed records only. So Kafka sends them no record from the last
stable offset on, also none of other producers. Most transactions end after seconds, and Kafka
aborts a transaction when the producer's `transaction.timeout.ms` is over (60 s by default). A
transaction that stays open for longer blocks its partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.consumer.fetcher import READ_UNCOMMITTED
from faust.types import TP

from agents.telemetry.logs import log

OPEN_SECONDS = 120.0
"""Age in seconds from which a transaction counts as open for too long."""


class OpenTransactions:
    """For each partition, since when its last stable offset stands still below its end."""

    def __init__(self) -> None:
        self._since: dict[TP, tuple[int, float]] = {}
        self._named: set[TP] = set()

    def observe(self, ends: Mapping[TP, tuple[int, int]], now: float) -> None:
        """Compare the last stable offset of partitions with their high watermark.

        Args:
            ends: Last stable offset and high watermark of all partitions that are read.
            now: Monotonic time in seconds.
        """
        for tp in self._since.keys() | ends.keys():
            stable, end = ends.get(tp, (0, 0))
            before, since = self._since.get(tp, (stable, now))
            if stable >= end or stable != before:
                self._forget(tp, now - since)
            if stable < end:
                self._since.setdefault(tp, (stable, now))
                self._name(tp, stable, now)

    def age(self, tp: TP, now: float) -> float:
        """Return the seconds for which a transaction has blocked a partition, or 0."""
        return now - self._since[tp][1] if tp in self._since else 0.0

    def _name(self, tp: TP, stable: int, now: float) -> None:
        if tp not in self._named and self.age(tp, now) > OPEN_SECONDS:
            self._named.add(tp)
            log.warning(
                "an open transaction blocks a partition",
                topic=tp.topic,
                partition=tp.partition,
                offset=stable,
                seconds=round(self.age(tp, now)),
            )

    def _forget(self, tp: TP, age: float) -> None:
        self._since.pop(tp, None)
        if tp in self._named:
            self._named.discard(tp)
            log.info(
                "the open transaction has ended",
                topic=tp.topic,
                partition=tp.partition,
                seconds=round(age),
            )


async def high_watermarks(
    client: AIOKafkaConsumer, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, int]:
    """Return the offset after the last record of each partition, open transactions included.

    `end_offsets` of a consumer that reads committed records returns the last stable offsets.
    """
    fetcher: Any = copy(client._fetcher)  # noqa: SLF001 - the level of requests has no argument
    fetcher._isolation_level = READ_UNCOMMITTED  # noqa: SLF001
    found: dict[TopicPartition, int] = await fetcher.end_offsets(
        list(partitions),
        client._request_timeout_ms,  # noqa: SLF001
    )
    return found
