"""Records are confirmed in offset order, each after Kafka has confirmed all its outputs."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.errors import KafkaTimeoutError, MessageSizeTooLargeError
from faust.types import TP

from agents.kafka.delivery import Delivery, Work
from tests.agents.workers import run

TOPIC = "raw-html"


class Commits:
    """Fake of the consumer that notes the confirmed and the released records."""

    def __init__(self) -> None:
        self.confirmed: list[tuple[int, int]] = []
        self.released: list[int] = []

    def confirm(self, message: Any) -> None:
        """Note the partition and the offset of a confirmed record."""
        self.confirmed.append((message.tp.partition, message.offset))

    def release(self, message: Any) -> None:
        """Note the offset of a released record."""
        self.released.append(message.offset)


class Bench:
    """A `Delivery` under test, with a fake consumer and a list of the failures that it reports."""

    def __init__(self, max_records: int = 100, max_bytes: int = 1_000) -> None:
        self.commits = Commits()
        self.failures: list[BaseException] = []
        self.delivery = Delivery(
            self.commits, self.failures.append, max_records=max_records, max_bytes=max_bytes
        )

    async def begin(self, offset: int, partition: int = 0, generation: int = 1) -> Work:
        """Begin the work on a record of ten bytes."""
        message: Any = SimpleNamespace(
            tp=TP(TOPIC, partition),
            offset=offset,
            generation_id=generation,
            value=b"0123456789",
            headers=(),
        )
        return await self.delivery.begin(message)


def sent(work: Work) -> asyncio.Future[None]:
    """Let the `Work` of a record wait for a send; close the `Work`; return the send's future."""
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    work.wait_for(future)
    work.close()
    return future


async def settle() -> None:
    """Let the callbacks of the event loop run."""
    for _ in range(5):
        await asyncio.sleep(0)


def test_a_record_is_done_when_all_that_was_sent_for_it_is_confirmed() -> None:
    """A record is confirmed when its `Work` is closed and Kafka has confirmed all its sends."""

    async def scenario() -> None:
        bench = Bench()
        work = await bench.begin(0)
        first, second = (asyncio.get_running_loop().create_future() for _ in range(2))
        work.wait_for(first)
        first.set_result(None)
        await settle()
        assert not bench.commits.confirmed
        work.wait_for(second)
        work.close()
        await settle()
        assert not bench.commits.confirmed
        second.set_result(None)
        await settle()
        assert bench.commits.confirmed == [(0, 0)]

    run(scenario())


def test_only_what_is_done_without_a_gap_is_confirmed() -> None:
    """Records of a partition are confirmed in offset order, however Kafka confirms the sends."""

    async def scenario() -> None:
        bench = Bench()
        futures = [sent(await bench.begin(offset)) for offset in range(4)]
        other = sent(await bench.begin(7, partition=1))
        for future in (futures[3], futures[1], other):
            future.set_result(None)
        await settle()
        assert bench.commits.confirmed == [(1, 7)]
        futures[0].set_result(None)
        await settle()
        assert bench.commits.confirmed == [(1, 7), (0, 0), (0, 1)]
        futures[2].set_result(None)
        await settle()
        assert bench.commits.confirmed[3:] == [(0, 2), (0, 3)]

    run(scenario())


def test_a_failed_delivery_fails_the_worker_and_confirms_nothing() -> None:
    """After a failed send, the worker fails and confirms neither this record nor a later one."""

    async def scenario() -> None:
        bench = Bench()
        first, second = sent(await bench.begin(0)), sent(await bench.begin(1))
        first.set_exception(KafkaTimeoutError())
        second.set_result(None)
        await settle()
        assert [type(error) for error in bench.failures] == [KafkaTimeoutError]
        assert not bench.commits.confirmed

    run(scenario())


def test_what_kafka_finds_too_large_is_refused_and_work_goes_on() -> None:
    """If an output is too large for Kafka, its record is confirmed after a dead letter was sent."""

    async def scenario() -> None:
        bench = Bench()
        work = await bench.begin(0)
        letter: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        async def refuse(_: BaseException) -> None:
            await letter

        work.refuse = refuse
        sent(work).set_exception(MessageSizeTooLargeError())
        await settle()
        assert not bench.commits.confirmed
        letter.set_result(None)
        await settle()
        assert bench.commits.confirmed == [(0, 0)]
        assert not bench.failures

    run(scenario())


@pytest.mark.parametrize(("max_records", "max_bytes"), [(2, 1_000), (100, 20)])
def test_work_in_flight_is_bounded_in_records_and_in_bytes(
    max_records: int, max_bytes: int
) -> None:
    """A new record must wait while the records in work are at the limit of number or of bytes."""

    async def scenario() -> None:
        bench = Bench(max_records, max_bytes)
        first, _ = sent(await bench.begin(0)), sent(await bench.begin(1))
        third = asyncio.create_task(bench.begin(2))
        await settle()
        assert not third.done()
        first.set_result(None)
        assert (await third).message.offset == 2

    run(scenario())


def test_revoked_partitions_are_forgotten_and_late_confirmations_say_nothing() -> None:
    """After a partition was revoked, the confirmation of a send no longer confirms its record.

    The next owner of the partition begins at the last commit.
    """

    async def scenario() -> None:
        bench = Bench()
        late = sent(await bench.begin(0))
        bench.delivery.clear()
        again = sent(await bench.begin(0, generation=2))
        late.set_result(None)
        await settle()
        assert bench.commits.released == [0]
        assert not bench.commits.confirmed
        again.set_result(None)
        await settle()
        assert bench.commits.confirmed == [(0, 0)]
        assert (bench.delivery.records, bench.delivery.bytes) == (0, 0)

    run(scenario())


def test_a_stall_is_told_only_while_records_are_in_work() -> None:
    """A delivery can stall only while records are in work, so an idle worker never stalls."""

    async def scenario() -> None:
        bench = Bench()
        bench.delivery.moved_at -= 1_000
        assert bench.delivery.stalled_for() == 0
        await bench.begin(0)
        assert bench.delivery.stalled_for() < 1_000
        bench.delivery.moved_at -= 1_000
        assert bench.delivery.stalled_for() >= 1_000

    run(scenario())


def test_what_happens_for_a_record_in_work_is_no_stall() -> None:
    """Progress on any record prevents a stall, even while another page waits for its host."""

    async def scenario() -> None:
        bench = Bench()
        await bench.begin(0)
        bench.delivery.moved_at -= 100.0
        assert bench.delivery.stalled_for() >= 100.0
        bench.delivery.moved()
        assert bench.delivery.stalled_for() < 100.0

    run(scenario())


def test_a_delivery_is_full_by_records_or_by_bytes() -> None:
    """A delivery is full at its limit of records or bytes, until a record is done."""

    async def scenario() -> None:
        by_records, by_bytes = Bench(max_records=1), Bench(max_bytes=10)
        for bench in (by_records, by_bytes):
            assert not bench.delivery.is_full
            work = await bench.begin(0)
            assert bench.delivery.is_full
            work.close()
            assert not bench.delivery.is_full

    run(scenario())
