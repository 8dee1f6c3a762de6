"""Support for records with header names that are not UTF-8.

Kafka allows any bytes in a header name, but aiokafka raises UnicodeDecodeError inside the fetch.
The worker then ends, and ends again after each restart, because the rest of the record's batch
cannot be read. Here such a batch is read again with aiokafka's parser in Python, after every
non-ASCII byte of its header names was replaced by `?`. So no record is skipped, and no replaced
name equals the name of one of our headers.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from aiokafka.consumer import fetcher
from aiokafka.record.default_records import _DefaultRecordBatchPy
from aiokafka.record.memory_records import MemoryRecords, _MemoryRecordsPy
from aiokafka.record.util import decode_varint_py

_ASCII = bytes(range(128)) + b"?" * 128


def tolerate_any_header_name() -> None:
    """Make all consumers of this process read any header name. A second call changes nothing."""
    fetcher.MemoryRecords = TolerantRecords


class TolerantRecords:
    """Batches of one fetch response; replaces aiokafka's MemoryRecords."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._records: Any = MemoryRecords(data)
        self._read = 0

    def size_in_bytes(self) -> int:
        """Return the size of the response in bytes."""
        return len(self._data)

    def has_next(self) -> bool:
        """Return whether another batch follows."""
        return bool(self._records.has_next())

    def next_batch(self) -> _Batch | None:
        """Return the next batch, or None after the last."""
        batch = self._records.next_batch()
        self._read += 1
        return None if batch is None else _Batch(batch, self._data, self._read - 1)


class _Batch:
    """Batch that falls back to `_convert_names` when a header name cannot be decoded."""

    def __init__(self, batch: Any, data: bytes, index: int) -> None:
        self._batch = batch
        self._data = data
        self._index = index

    def __getattr__(self, name: str) -> Any:
        return getattr(self._batch, name)

    def __next__(self) -> Any:
        return next(self._batch)

    def __iter__(self) -> Iterator[Any]:
        read = 0
        try:
            for record in self._batch:
                yield record
                read += 1
        except UnicodeDecodeError:
            yield from islice(_convert_names(self._data, self._index), read, None)


def _convert_names(data: bytes, index: int) -> Iterator[Any]:
    """Return the records of a batch, with all header names converted to ASCII."""
    batches = _MemoryRecordsPy(data)
    for _ in range(index):
        batches.next_batch()
    batch: Any = _DefaultRecordBatchPy(batches._next_slice)  # noqa: SLF001
    iter(batch)  # decompresses the batch
    position = batch._pos  # noqa: SLF001
    for _ in range(batch._num_records):  # noqa: SLF001
        position = _convert_record(batch._buffer, position)  # noqa: SLF001
    return iter(batch)


def _convert_record(buffer: bytearray, position: int) -> int:
    """Convert the header names of the record at `position`; return the position of the next record.

    A record of Kafka's format v2 consists of: length, attributes, two deltas, key, value, headers.
    """
    length, position = decode_varint_py(buffer, position)
    end = position + length
    for _ in range(3):
        _, position = decode_varint_py(buffer, position)
    for _ in range(2):
        size, position = decode_varint_py(buffer, position)
        position += max(size, 0)
    headers, position = decode_varint_py(buffer, position)
    for _ in range(headers):
        size, position = decode_varint_py(buffer, position)
        name = buffer[position : position + size]
        buffer[position : position + size] = name.translate(_ASCII)
        size, position = decode_varint_py(buffer, position + size)
        position += max(size, 0)
    return int(end)
