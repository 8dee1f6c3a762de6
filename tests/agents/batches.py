"""Batches of records in Kafka's format, compressed as different producers do it."""

from __future__ import annotations

import gzip
import struct
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BytesIO
from typing import Any, NamedTuple

import cramjam
import lz4.frame
import zstandard
from aiokafka.record.util import calc_crc32c, encode_varint

from agents.kafka.batches.batch import Batches
from agents.kafka.batches.limits import MIB, Limits
from agents.kafka.batches.parser import Record

GZIP, SNAPPY, LZ4, ZSTD = 1, 2, 3, 4
TIME = int(time.time() * 1000)  # milliseconds; Kafka deletes records of more than 7 days ago
Compress = Callable[[bytes], bytes]


class Written(NamedTuple):
    """A record that a test writes. A value that is a number stands for as many zeros."""

    value: bytes | int | None
    key: bytes | None = b"example.org"
    headers: Sequence[tuple[bytes, bytes | None]] = ()


def varint(number: int) -> bytes:
    """Return a number as Kafka's records contain it."""
    out = bytearray()
    encode_varint(number, out.append)
    return bytes(out)


def nullable(content: bytes | None) -> bytes:
    """Return the size of a content, and the content."""
    return varint(-1) if content is None else varint(len(content)) + content


def parts_of(delta: int, record: Written) -> Iterator[bytes]:
    """Yield the bytes of a record in parts, so that its zeros are never in memory at once."""
    value = record.value
    zeros = value if isinstance(value, int) else 0
    head = b"\0" + varint(delta) + varint(delta) + nullable(record.key)
    head += varint(zeros) if isinstance(value, int) else nullable(value)
    tail = varint(len(record.headers))
    tail += b"".join(varint(len(name)) + name + nullable(to) for name, to in record.headers)
    yield varint(len(head) + zeros + len(tail)) + head
    while zeros:
        yield bytes(min(zeros, MIB))
        zeros -= min(zeros, MIB)
    yield tail


def packed(codec: int, payload: bytes, records: int, *, base: int = 0, last: int = -1) -> bytes:
    """Return a batch of records that are compressed already."""
    last = records - 1 if last < 0 else last
    body = struct.pack(">hiqqqhii", codec, last, TIME, TIME + last, -1, -1, -1, records) + payload
    return struct.pack(">qiibI", base, 9 + len(body), -1, 2, calc_crc32c(body)) + body


def batch(
    records: Sequence[Written], codec: int = 0, compress: Compress = bytes, *, base: int = 0
) -> bytes:
    """Return a batch of these records."""
    parts = (part for delta, record in enumerate(records) for part in parts_of(delta, record))
    return packed(codec, compress(b"".join(parts)), len(records), base=base)


def bomb(records: Sequence[Written], codec: int, level: int = 9, *, base: int = 0) -> bytes:
    """Return a compressed batch whose records may be larger than the memory."""
    parts = (part for delta, record in enumerate(records) for part in parts_of(delta, record))
    return packed(codec, b"".join(_STREAMED[codec](parts, level)), len(records), base=base)


def _gzip_parts(parts: Iterable[bytes], level: int) -> Iterator[bytes]:
    packer = zlib.compressobj(level, wbits=31)
    yield from map(packer.compress, parts)
    yield packer.flush()


def _snappy_parts(parts: Iterable[bytes], _level: int) -> Iterator[bytes]:
    yield XERIAL
    for part in parts:
        for at in range(0, len(part), 32 * 1024):
            yield _xerial_block(part[at : at + 32 * 1024])


def _lz4_parts(parts: Iterable[bytes], _level: int) -> Iterator[bytes]:
    packer = lz4.frame.LZ4FrameCompressor(block_linked=False)
    yield packer.begin()
    yield from map(packer.compress, parts)
    yield packer.flush()


def _zstd_parts(parts: Iterable[bytes], level: int) -> Iterator[bytes]:
    packer = zstandard.ZstdCompressor(level).compressobj()
    yield from map(packer.compress, parts)
    yield packer.flush()


_STREAMED: dict[int, Callable[[Iterable[bytes], int], Iterator[bytes]]] = {
    GZIP: _gzip_parts,
    SNAPPY: _snappy_parts,
    LZ4: _lz4_parts,
    ZSTD: _zstd_parts,
}

XERIAL = b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)


def _xerial_block(block: bytes) -> bytes:
    packed_block = bytes(cramjam.snappy.compress_raw(block))
    return struct.pack(">i", len(packed_block)) + packed_block


def as_java(data: bytes) -> bytes:
    """Compress with snappy as Java clients do: in blocks of 32 KiB, after a header."""
    return b"".join(_snappy_parts([data], 0))


def as_librdkafka(data: bytes) -> bytes:
    """Compress with snappy as librdkafka does: one block."""
    return bytes(cramjam.snappy.compress_raw(data))


def in_members(data: bytes) -> bytes:
    """Compress with gzip in two members."""
    half = len(data) // 2
    return gzip.compress(data[:half]) + gzip.compress(data[half:])


def lz4_with(**options: Any) -> Compress:
    """Return a function that compresses one frame of lz4 with these options."""
    return lambda data: bytes(lz4.frame.compress(data, **options))


def zstd_with(**options: Any) -> Compress:
    """Return a function that compresses one frame of zstd with these options."""
    return lambda data: zstandard.ZstdCompressor(**options).compress(data)


def zstd_stream(data: bytes) -> bytes:
    """Compress with zstd as Java clients do: without the size of the content."""
    out = BytesIO()
    with zstandard.ZstdCompressor().stream_writer(out, closefd=False) as writer:
        writer.write(data)
    return out.getvalue()


def zstd_window(data: bytes) -> bytes:
    """Compress with zstd and the window of level 22, which is the largest that Kafka reads."""
    options = zstandard.ZstdCompressionParameters(window_log=27)
    packer = zstandard.ZstdCompressor(compression_params=options).compressobj()
    return packer.compress(data) + packer.flush()


def zstd_frames(data: bytes) -> bytes:
    """Compress with zstd in two frames."""
    half = len(data) // 2
    return zstd_stream(data[:half]) + zstd_stream(data[half:])


def read(data: bytes, record_bytes: int = 21 * MIB, position: int = 0) -> list[Any]:
    """Return the records of all batches of a fetch response, as our reader returns them."""
    batches = Batches(data, Limits(record_bytes), position)
    found: list[Any] = []
    while batches.has_next():
        found += batches.next_batch()
    return found


def contents(records: Iterable[Any]) -> list[tuple[bytes | None, bytes | None]]:
    """Return key and value of each record."""
    return [(record.key, record.value) for record in records]


def refused(records: Iterable[Any]) -> list[tuple[int, str, int | None]]:
    """Return offset, reason, and first offset of a range, of each record that is refused."""
    return [
        (record.offset, record.problem.reason.value, record.problem.first)
        for record in records
        if isinstance(record, Record) and record.problem is not None
    ]
