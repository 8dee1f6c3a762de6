"""Header names that are not UTF-8 make aiokafka fail, but do not affect the job."""

from __future__ import annotations

import asyncio
import struct
from pathlib import Path
from typing import Any

import pytest
from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.memory_records import MemoryRecords
from aiokafka.record.util import calc_crc32c

from agents.kafka.batches.batch import Batches
from agents.kafka.batches.limits import MIB, Limits
from agents.kafka.client import producer
from agents.kafka.partitions import partition_of
from agents.settings.job import Settings
from models import clean_text
from tests.agents.records import PARTITIONS, ReadAll
from tests.agents.test_pipeline import page
from tests.agents.workers import work

GOOD, BAD = b"aname", b"\xff\xc3(\x00\x80"


def batch(values: list[bytes]) -> bytes:
    """Return a batch in Kafka's format whose second record has a header with an invalid name."""
    builder = DefaultRecordBatchBuilder(2, 0, 0, -1, -1, -1, 1 << 20)
    for offset, value in enumerate(values):
        builder.append(offset, 0, b"example.org", value, [(GOOD.decode(), b"x")] * (offset == 1))
    return spoiled(bytes(builder.build()))


def spoiled(data: bytes) -> bytes:
    """Replace the valid header name in a batch by an invalid one, and correct the checksum."""
    data = data.replace(GOOD, BAD)
    return data[:17] + struct.pack(">I", calc_crc32c(data[21:])) + data[21:]


def values_of(records: Any) -> list[bytes]:
    """Return the values of all records of all batches."""
    found = []
    while records.has_next():
        found += [record.value for record in records.next_batch()]
    return found


def test_aiokafka_cannot_read_such_a_batch_and_we_can() -> None:
    """Our reader returns all records of such a batch in order, where aiokafka's reader fails."""
    data = batch([b"zero", b"one", b"two"]) + batch([b"three", b"four " + BAD])
    with pytest.raises(UnicodeDecodeError):
        values_of(MemoryRecords(data))
    found = values_of(Batches(data, Limits(MIB)))
    assert found == [b"zero", b"one", b"two", b"three", b"four " + BAD]


@pytest.mark.kafka
def test_a_page_with_such_a_header_is_processed_like_any_other(
    job: Settings, read_all: ReadAll, tmp_path: Path
) -> None:
    """A page whose header name is not UTF-8 is processed, like the pages before and after it."""
    asyncio.run(_publish(job, [page("a"), page("b"), page("c")]))
    work(job.model_copy(update={"data_dir": tmp_path}))
    texts = [clean_text.decode(record.value)["url"] for record in read_all("clean-text")]
    assert texts == [f"https://example.org/{name}" for name in "abc"]


async def _publish(job: Settings, values: list[bytes]) -> None:
    async with producer(job) as client:
        batch = client.create_batch()
        for number, value in enumerate(values):
            headers = [(GOOD.decode(), b"x")] * (number == 1)
            batch.append(key=b"example.org", value=value, timestamp=None, headers=headers)
        build = batch._build
        batch._build = lambda: spoiled(bytes(build()))
        partition = partition_of(b"example.org", PARTITIONS)
        await (await client.send_batch(batch, job.topic("raw-html"), partition=partition))
