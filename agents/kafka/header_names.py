"""Records whose headers have names that are no UTF-8.

Kafka allows any bytes there; aiokafka raises UnicodeDecodeError inside the fetch. The worker
ends, and again at each restart, and with the record its whole batch is lost to the caller
(measured in issue 3). Here such a batch is read again by aiokafka's parser in Python, with the bad
bytes of the name as `?`: nothing is skipped, and a header of such a name is none of ours.
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
    """Let every consumer of this process read such records; doing it twice changes nothing."""
    fetcher.MemoryRecords = TolerantRecords


class TolerantRecords:
    """The batches of one fetch response, in the place of aiokafka's MemoryRecords."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._records: Any = MemoryRecords(data)
        self._read = 0

    def size_in_bytes(self) -> int:
        """Bytes of the response."""
        return len(self._data)

    def has_next(self) -> bool:
        """Whether a batch is left."""
        return bool(self._records.has_next())

    def next_batch(self) -> _Batch | None:
        """The next batch; None after the last."""
        batch = self._records.next_batch()
        self._read += 1
        return None if batch is None else _Batch(batch, self._data, self._read - 1)


class _Batch:
    """A batch that is read as aiokafka reads it, until a name fails."""

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
            yield from islice(_mended(self._data, self._index), read, None)


def _mended(data: bytes, index: int) -> Iterator[Any]:
    """The records of a batch, every header's name in ASCII."""
    batches = _MemoryRecordsPy(data)
    for _ in range(index):
        batches.next_batch()
    batch: Any = _DefaultRecordBatchPy(batches._next_slice)  # noqa: SLF001
    iter(batch)  # decompresses
    position = batch._pos  # noqa: SLF001
    for _ in range(batch._num_records):  # noqa: SLF001
        position = _mend_names(batch._buffer, position)  # noqa: SLF001
    return iter(batch)


def _mend_names(buffer: bytearray, position: int) -> int:
    """Mend the names of the record at `position`; returns where the next one begins.

    A record of Kafka's format v2: length, attributes, two deltas, key, value, headers.
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
