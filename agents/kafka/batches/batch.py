"""The batches of one fetch response, read lazily and in bounded memory.

    uncompressed, or unpacked at most 1 MiB, and all records within the limits  ──▶ aiokafka
    all others                                     ──▶ `parse`, record by record from a stream
    wrong checksum                                 ──▶ one record for all offsets of the batch

`Batches` replaces aiokafka's MemoryRecords. `is_ready` unpacks some bytes ahead, so that the
consumer can answer heartbeats while it skips a record of 1 GB.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, islice
from struct import unpack_from
from typing import Any

from aiokafka.errors import CorruptRecordException
from aiokafka.record.default_records import DefaultRecordBatch
from aiokafka.record.legacy_records import LegacyRecordBatch

from agents.kafka.batches.codecs import unpack
from agents.kafka.batches.limits import UNPACK_AT_ONCE, Limits
from agents.kafka.batches.parser import HEADER_BYTES, Header, Problem, Record, are_plain, parse
from agents.kafka.batches.snappy import DamagedError
from urltree.page import Reason

_OVERHEAD = 12  # bytes of base offset and length, which the length does not count
_MAGIC = 16  # position of the version of the format
_ATTRIBUTES = 21  # position of the attributes, a number of 2 bytes
_CODEC = 0x07
_PAUSES = 16  # pauses of the parser in one step; it unpacks 256 KiB between two


class Batch:
    """One batch; what is not defined here is that of aiokafka's batch.

    Args:
        data: Fetch response.
        start, end: Place of the batch in it.
        limits: Limits of a record.
    """

    def __init__(self, data: bytes, start: int, end: int, limits: Limits) -> None:
        self._data, self._start, self._end = data, start, end
        self._limits = limits
        self._header = Header.read(data, start)
        self._batch = DefaultRecordBatch(memoryview(data)[start:end])
        self._records = self._read()
        self._next: Record | None = None
        self._is_done = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._batch, name)

    def is_sound(self) -> bool:
        """Return whether the checksum is right."""
        return bool(self._batch.validate_crc())

    def validate_crc(self) -> bool:
        """Return True, because `Batches` has checked it."""
        return True

    def __iter__(self) -> Batch:
        return self

    def __next__(self) -> Any:
        record, self._next = self._next, None
        while record is None:
            record = next(self._records)
        return record

    @property
    def is_done(self) -> bool:
        """Whether all records were returned, as far as `is_ready` knows."""
        return self._is_done and self._next is None

    def is_ready(self) -> bool:
        """Do a bounded part of the work; return whether the next record is known, or the end."""
        pauses = 0
        while self._next is None and not self._is_done and pauses < _PAUSES:
            try:
                self._next = next(self._records)
            except StopIteration:
                self._is_done = True
            pauses += 1
        return self._next is not None or self._is_done

    def _read(self) -> Iterator[Any]:
        """Yield the records; None is a pause."""
        codec = self._header.attributes & _CODEC
        if not codec:
            yield from self._plain(self._data, self._start, self._end, self._batch)
            return
        chunks = unpack(codec, self._data[self._start + HEADER_BYTES : self._end])
        unpacked: list[bytes] = []
        size = 0
        try:
            for chunk in chunks:
                unpacked.append(chunk)
                size += len(chunk)
                if size > UNPACK_AT_ONCE:
                    break
                yield None
        except DamagedError as error:
            chunks = _Damage(error)
        else:
            if size <= UNPACK_AT_ONCE:
                header = bytearray(self._data[self._start : self._start + HEADER_BYTES])
                header[_ATTRIBUTES + 1] &= ~_CODEC
                data = bytes(header) + b"".join(unpacked)
                yield from self._plain(data, 0, len(data), DefaultRecordBatch(data))
                return
        yield from parse(self._header, chain(_drained(unpacked), chunks), self._limits)

    def _plain(self, data: bytes, start: int, end: int, batch: Any) -> Iterator[Any]:
        """Yield the records of an uncompressed batch, with aiokafka's parser if it can."""
        read = 0
        if are_plain(data, start + HEADER_BYTES, end, self._header, self._limits):
            # an error is a damaged record, or a header name that is not UTF-8
            with suppress(CorruptRecordException, ValueError):
                for record in batch:
                    yield record
                    read += 1
        if read < self._header.records:
            chunks = iter([data[start + HEADER_BYTES : end]])
            parsed = filter(None, parse(self._header, chunks, self._limits))
            yield from islice(parsed, read, None)


class DamagedBatch:
    """A batch with a wrong checksum: one record that stands for all its offsets.

    Nothing in its header is certain, so it is neither part of a transaction nor a control batch.
    """

    producer_id = None
    is_control_batch = False
    is_transactional = False
    is_done = False

    def __init__(self, first: int, last: int) -> None:
        self.base_offset = first
        self.next_offset = last + 1
        text = "the batch cannot be read: its checksum is wrong"
        self._records = [Record(last, 0, 0, problem=Problem(Reason.UNREADABLE, text, first))]

    def validate_crc(self) -> bool:
        """Return True, because the batch becomes a dead letter."""
        return True

    def is_ready(self) -> bool:
        """Return True: there is nothing to unpack."""
        return True

    def __iter__(self) -> Iterator[Record]:
        return _drained(self._records)


class Batches:
    """Batches of one fetch response; replaces aiokafka's MemoryRecords.

    Attributes:
        limits: Limits of a record.
        position: Offset at which the consumer reads.
    """

    def __init__(self, data: bytes, limits: Limits, position: int = 0) -> None:
        self._data = bytes(data)
        self._at = 0
        self._current: Any = None
        self._following: Any = None
        self.limits = limits
        self.position = position

    def size_in_bytes(self) -> int:
        """Return the size of the response in bytes."""
        return len(self._data)

    def has_next(self) -> bool:
        """Return whether another whole batch follows."""
        return self._following is not None or self._end() is not None

    def next_batch(self) -> Any:
        """Return the next batch, or None after the last.

        Raises:
            CorruptRecordException: A batch is shorter than its header.
        """
        self._current = self._following or self._open()
        self._following = None
        return self._current

    def is_ready(self) -> bool:
        """Unpack some bytes ahead; return whether the next record is known, or the end."""
        if isinstance(self._current, Batch) and not self._current.is_done:
            if not self._current.is_ready():
                return False
            if not self._current.is_done:
                return True
        if self._following is None:
            self._following = self._open()
        return not isinstance(self._following, Batch) or self._following.is_ready()

    def _end(self) -> int | None:
        """Return the position behind the next batch, or None if no whole batch is left."""
        if len(self._data) - self._at < _OVERHEAD:
            return None
        end = self._at + _OVERHEAD + int(unpack_from(">i", self._data, self._at + 8)[0])
        return end if end <= len(self._data) else None

    def _open(self) -> Any:
        start, end = self._at, self._end()
        if end is None:
            return None
        if end - start <= _MAGIC:
            raise CorruptRecordException(f"a batch has only {end - start} bytes")
        self._at = end
        magic = self._data[start + _MAGIC]
        if magic < 2:  # Kafka 4 no longer stores it
            return LegacyRecordBatch(memoryview(self._data)[start:end], magic)
        if end - start < HEADER_BYTES:
            raise CorruptRecordException(f"a batch has only {end - start} bytes")
        batch = Batch(self._data, start, end, self.limits)
        return batch if batch.is_sound() else self._damaged(Header.read(self._data, start))

    def _damaged(self, header: Header) -> DamagedBatch:
        """Return a batch for the offsets that are lost.

        The offset of the next batch shows the last one. Without a next batch, the last offset is
        taken from the header if the number of records confirms it; else one offset is given up,
        and Kafka is asked for the next one.
        """
        first = max(header.base_offset, self.position)
        last = first
        if self._end() is not None:
            last = max(first, int(unpack_from(">q", self._data, self._at)[0]) - 1)
        elif header.records == header.last_delta + 1:
            last = max(first, header.last_offset)
        return DamagedBatch(first, last)


def _drained(items: list[Any]) -> Iterator[Any]:
    """Yield the items, and keep none of them in memory."""
    items.reverse()
    while items:
        yield items.pop()


class _Damage:
    """Chunks that end with an error."""

    def __init__(self, error: DamagedError) -> None:
        self._error = error

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        raise self._error
