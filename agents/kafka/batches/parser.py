"""The records of an unpacked batch, read one by one from a stream.

    record  length, attributes, time delta, offset delta, key, value, headers
    header  name, value                               numbers are zigzag varints, as are all sizes

aiokafka's compiled parser is five times as fast, but needs the whole batch in memory, fails at a
header name that is not UTF-8, and knows no limits. It reads all batches that this one need not
read (`agents.kafka.batches.batch`).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from struct import Struct
from typing import NamedTuple

from agents.kafka.batches.limits import SKIPPED_BYTES, Limits
from agents.kafka.batches.snappy import DamagedError
from urltree.page import Reason

_HEADER = Struct(">q4x4xb4xhiqq8x2x4xi")
HEADER_BYTES = 61
_ASCII = bytes(range(128)) + b"?" * 128
_PREFIX = 40  # more bytes than the numbers before the key can have

# A generator that yields is at a pause: the caller may do other work before it continues.
Steps = Generator[None, None, bytes]


class Header(NamedTuple):
    """Header of a batch, as far as its records need it."""

    base_offset: int
    magic: int
    attributes: int
    last_delta: int
    first_timestamp: int
    max_timestamp: int
    records: int

    @classmethod
    def read(cls, data: bytes, at: int) -> Header:
        """Read the header that begins at `at`; it needs `HEADER_BYTES`."""
        base, magic, attributes, delta, first, last, records = _HEADER.unpack_from(data, at)
        return cls(base, magic, attributes, delta, first, last, records)

    @property
    def last_offset(self) -> int:
        """Offset of the last record of the batch."""
        return self.base_offset + self.last_delta


class Record(NamedTuple):
    """One record, with the attributes that aiokafka expects.

    Attributes:
        problem: Reason and explanation if the record is refused, and first offset of a range.
            None if it is an ordinary record.
    """

    offset: int
    timestamp: int
    timestamp_type: int
    key: bytes | None = None
    value: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    checksum: None = None
    problem: Problem | None = None


class Problem(NamedTuple):
    """Why a record, or a range of records, is refused.

    Attributes:
        reason: Reason of the dead letter.
        text: Explanation for a person.
        first: First offset of a range that ends with the record. None: only this record.
    """

    reason: Reason
    text: str
    first: int | None = None


def parse(header: Header, chunks: Iterator[bytes], limits: Limits) -> Iterator[Record | None]:
    """Yield the records of a batch, and None at each pause.

    If the batch cannot be read further, the last record stands for all offsets that are left.
    """
    stream = _Stream(chunks)
    offset = header.base_offset - 1
    try:
        for _ in range(header.records):
            record = yield from _record(header, stream, limits)
            _check_order(offset, record.offset, header.last_offset)
            offset = record.offset
            yield record
    except (DamagedError, IndexError, EOFError) as error:
        cause = "the records end too early" if isinstance(error, EOFError) else str(error)
        text = f"the rest of the batch cannot be read: {cause}"
        problem = Problem(Reason.UNREADABLE, text, offset + 1)
        if offset < header.last_offset:
            yield Record(header.last_offset, header.max_timestamp, 0, problem=problem)


def _check_order(before: int, offset: int, last: int) -> None:
    if not before < offset <= last:
        raise DamagedError(f"offset {offset} follows offset {before}, and the last is {last}")


def are_plain(data: bytes, at: int, end: int, header: Header, limits: Limits) -> bool:
    """Return whether all unpacked records are within the limits and fill data[at:end].

    It reads only the lengths of records, except for those that could contain too many headers.
    """
    checked = 2 * limits.headers  # a header needs two bytes
    try:
        for _ in range(header.records):
            byte = data[at]
            at += 1
            length = byte & 127
            shift = 7
            while byte & 128:
                byte = data[at]
                at += 1
                length |= (byte & 127) << shift
                shift += 7
            if length & 1 or shift > 35:
                return False  # a negative or impossible length
            length >>= 1
            if length > checked and not _is_plain(data, at, length, limits):
                return False
            at += length
    except (DamagedError, IndexError):
        return False
    return at <= end


def _is_plain(data: bytes, at: int, length: int, limits: Limits) -> bool:
    end = at + length
    for _ in range(3):
        _, at = varint(data, at)
    key, at = varint(data, at)
    value, at = varint(data, at + max(key, 0))
    at += max(value, 0)
    headers, at = varint(data, at)
    return (
        length <= limits.record
        and 0 <= headers <= limits.headers
        and max(key, 0) + end - at <= limits.labels
    )


def _record(header: Header, stream: _Stream, limits: Limits) -> Generator[None, None, Record]:
    """Read the next record. A record beyond the limits is skipped, and has no value."""
    yield from stream.need(_PREFIX)
    length = stream.varint()
    if length < 0:
        raise DamagedError(f"a record has the length {length}")
    end = stream.read + length
    _, delta, offset = stream.varint(), stream.varint(), stream.varint()
    is_append_time = header.attributes >> 3 & 1
    time = header.max_timestamp if is_append_time else header.first_timestamp + delta
    place = (header.base_offset + offset, time, is_append_time)
    is_large = length > limits.record
    if is_large:
        stream.count_skipped(length)
    key_size, key = yield from _field(stream, end, limits.labels)
    _, value = yield from _field(stream, end, 0 if is_large else length)
    yield from stream.need(_PREFIX)
    count = stream.varint()
    left = end - stream.read
    if not 0 <= 2 * count <= left:
        raise DamagedError(f"a record states {count} headers in {left} bytes")
    labels = key_size + left
    if count > limits.headers or labels > limits.labels:
        yield from stream.skip(left)
        headers = None
    else:
        headers = _headers((yield from stream.take(left)), count)
    if is_large or headers is None:
        text = _refusal(limits, length, count, labels)
        problem = Problem(Reason.TOO_LARGE, text)
        return Record(*place, key, None, headers or (), problem=problem)
    return Record(*place, key, value, headers)


def _field(
    stream: _Stream, end: int, largest: int
) -> Generator[None, None, tuple[int, bytes | None]]:
    """Read a key or a value; return its size, and its bytes unless it is null or too large."""
    yield from stream.need(_PREFIX)
    size = stream.varint()
    if size > end - stream.read:
        raise DamagedError(f"a field has {size} bytes, more than its record")
    if size < 0:
        return 0, None
    if size > largest:
        yield from stream.skip(size)
        return size, None
    return size, (yield from stream.take(size))


def _refusal(limits: Limits, length: int, count: int, labels: int) -> str:
    """Return why a record is too large, for a person."""
    if length > limits.record:
        return (
            f"the record has {length} bytes after decompression, but at most {limits.record} are "
            "read: max_record_bytes and 1 MiB"
        )
    if count > limits.headers:
        return f"the record has {count} headers, but at most {limits.headers} are read"
    return (
        f"the key and the headers of the record have {labels} bytes, but at most {limits.labels} "
        "are read"
    )


def _headers(data: bytes, count: int) -> tuple[tuple[str, bytes | None], ...]:
    headers = []
    at = 0
    for _ in range(count):
        size, at = varint(data, at)
        if size < 0:
            raise DamagedError(f"a header name has the size {size}")
        name = data[at : at + size]
        size, at = varint(data, at + size)
        headers.append((_name(name), None if size < 0 else data[at : at + size]))
        at += max(size, 0)
    if at != len(data):
        raise DamagedError(f"the headers of a record have {len(data)} bytes, but {at} are stated")
    return tuple(headers)


def _name(name: bytes) -> str:
    """Return a header name; bytes beyond ASCII become `?` if the name is not UTF-8.

    Kafka allows any bytes. No replaced name equals the name of one of our headers.
    """
    try:
        return name.decode()
    except UnicodeDecodeError:
        return name.translate(_ASCII).decode()


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at a position, and the position behind it.

    Raises:
        IndexError: The data ends within the number.
        DamagedError: The number has more than 64 bits.
    """
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return (number >> 1) ^ -(number & 1), at
        shift += 7
        if shift > 63:
            raise DamagedError("a number has more than 64 bits")


class _Stream:
    """Unpacked bytes of a batch.

    Attributes:
        read: Number of bytes that were read or skipped.
    """

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._buffer = b""
        self._at = 0
        self.read = 0
        self._skipped = 0

    def count_skipped(self, size: int) -> None:
        """Count the size of a record that is too large.

        Raises:
            DamagedError: No more bytes of this batch should be unpacked only to be skipped.
        """
        self._skipped += size
        if self._skipped > SKIPPED_BYTES:
            raise DamagedError(
                f"the records that are too large have more than {SKIPPED_BYTES} bytes together"
            )

    def varint(self) -> int:
        """Return the next number; `need` must have made it available."""
        number, at = varint(self._buffer, self._at)
        self.read += at - self._at
        self._at = at
        return number

    def need(self, size: int) -> Generator[None, None, None]:
        """Make `size` bytes available if the stream has as many."""
        while len(self._buffer) - self._at < size:
            chunk = next(self._chunks, None)
            if chunk is None:
                return
            self._buffer = self._buffer[self._at :] + chunk
            self._at = 0
            yield

    def take(self, size: int) -> Steps:
        """Return the next `size` bytes.

        Raises:
            EOFError: The stream ends before.
        """
        start, self._at = self._at, self._at + size
        self.read += size
        if self._at <= len(self._buffer):
            return self._buffer[start : self._at]
        taken = bytearray(self._buffer[start:])
        yield from self._advance(size - len(taken), taken)
        return bytes(taken)

    def skip(self, size: int) -> Generator[None, None, None]:
        """Skip the next `size` bytes.

        Raises:
            EOFError: The stream ends before.
        """
        left = len(self._buffer) - self._at
        self._at += size
        self.read += size
        if left < size:
            yield from self._advance(size - left)

    def _advance(self, size: int, taken: bytearray | None = None) -> Generator[None, None, None]:
        """Read `size` bytes from the chunks, and keep the rest of the last one."""
        self._buffer, self._at = b"", 0
        for chunk in self._chunks:
            if taken is not None:
                taken += chunk[:size]
            if len(chunk) >= size:
                self._buffer, self._at = chunk, size
                return
            size -= len(chunk)
            yield
        raise EOFError
