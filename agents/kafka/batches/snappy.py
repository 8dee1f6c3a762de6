r"""Unpacking of snappy, in the two forms that Kafka knows.

    Java        "\x82SNAPPY\0", two versions, then blocks of 32 KiB: size (4 bytes), block
    librdkafka  one block with all records of the batch

No library unpacks a part of a block. A large block is unpacked here in Python, which is slower
(28 MB/s for text, measured), but producers rarely make one: by default, a batch of librdkafka has
at most 1 MB before its compression.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

MAGIC = b"\x82SNAPPY\x00"
_HEADER = len(MAGIC) + 8  # two versions of 4 bytes follow

_AT_ONCE = 4 * 1024 * 1024  # bytes up to which a block is unpacked as a whole
_CHUNK = 256 * 1024

# Bytes to which a copy may refer. Known compressors refer to the last 64 KiB only.
_WINDOW = 1024 * 1024


class DamagedError(Exception):
    """Compressed data is damaged."""


def unpack_snappy(data: bytes) -> Iterator[bytes]:
    """Yield the unpacked bytes in chunks.

    Raises:
        DamagedError: The data is damaged.
    """
    if not data.startswith(MAGIC):
        yield from _block(data)
        return
    at = _HEADER
    while at < len(data):
        if at + 4 > len(data):
            raise DamagedError("the compressed data ends within the size of a block")
        size = struct.unpack_from(">i", data, at)[0]
        at += 4
        if not 0 <= size <= len(data) - at:
            raise DamagedError(f"a block of snappy has the impossible size {size}")
        yield from _block(data[at : at + size])
        at += size


def _block(block: bytes) -> Iterator[bytes]:
    import cramjam  # noqa: PLC0415 - `check_libraries` reports a missing library

    try:
        size, at = _size(block)
        if size <= _AT_ONCE:
            yield bytes(cramjam.snappy.decompress_raw(block))
        else:
            yield from _elements(block, at, size)
    except (IndexError, cramjam.DecompressionError) as error:
        raise DamagedError(f"the compressed data is damaged: {error}") from error


def _size(block: bytes) -> tuple[int, int]:
    """Return the unpacked size that a block states, and the position behind it."""
    size = at = shift = 0
    while True:
        byte = block[at]
        at += 1
        size |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return size, at
        if shift > 28:
            raise DamagedError("a block of snappy states no valid size")


def _elements(block: bytes, at: int, size: int) -> Iterator[bytes]:
    """Unpack a block element by element: literals, and copies of earlier bytes.

    The format is described in format_description.txt of google/snappy.
    """
    window = bytearray()
    sent = 0  # bytes of the window that were yielded
    total = 0
    while at < len(block):
        tag = block[at]
        at += 1
        if tag & 3 == 0:
            length = tag >> 2
            if length >= 60:
                width = length - 59
                length = int.from_bytes(block[at : at + width], "little")
                at += width
            length += 1
            if at + length > len(block):
                raise DamagedError("the compressed data ends within a literal")
            window += block[at : at + length]
            at += length
        else:
            if tag & 3 == 1:
                length = 4 + (tag >> 2 & 7)
                distance = (tag >> 5) << 8 | block[at]
                at += 1
            else:
                width = 2 if tag & 3 == 2 else 4
                length = 1 + (tag >> 2)
                distance = int.from_bytes(block[at : at + width], "little")
                at += width
            if not 0 < distance <= len(window):
                raise DamagedError(f"a copy of snappy refers to {distance} bytes before it")
            start = len(window) - distance
            if distance >= length:
                window += window[start : start + length]
            else:
                window += (window[start:] * (length // distance + 1))[:length]
        if len(window) - sent >= _CHUNK:
            total += len(window) - sent
            yield bytes(window[sent:])
            del window[:-_WINDOW]
            sent = len(window)
    total += len(window) - sent
    if total != size:
        raise DamagedError(f"a block of snappy has {total} bytes instead of {size}")
    yield bytes(window[sent:])
