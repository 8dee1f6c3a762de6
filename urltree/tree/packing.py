"""Encode strings, bits and integers as stored bytes. All integers are little-endian."""

from __future__ import annotations

import struct
import sys
from array import array

_U16 = struct.Struct("<H")


def string(text: str) -> bytes:
    """Return two bytes with the length of a string in UTF-8, followed by the string."""
    encoded = text.encode()
    return _U16.pack(len(encoded)) + encoded


def read_string(stored: bytes, at: int) -> tuple[str, int]:
    """Return the string at an offset of the stored bytes, and the offset after the string.

    If the string is cut short, the returned offset is beyond the end of the stored bytes.
    """
    (length,) = _U16.unpack_from(stored, at)
    start = at + _U16.size
    return stored[start : start + length].decode(), start + length


def pack_bits(bits: tuple[bool, ...]) -> bytes:
    """Pack bits into bytes: bit i is in byte i // 8, the lowest bit first."""
    if not bits:
        return b""
    number = int("".join(["1" if bit else "0" for bit in reversed(bits)]), 2)
    return number.to_bytes((len(bits) + 7) // 8, "little")


def unpack_bits(packed: bytes, length: int) -> tuple[bool, ...]:
    """Return the bits that `pack_bits` packed; `length` is the number of bits."""
    bits = f"{int.from_bytes(packed, 'little'):0{length}b}" if length else ""
    return tuple(map("1".__eq__, reversed(bits)))


def little_endian(values: array[int]) -> array[int]:
    """Convert an array between this machine's byte order and that of stored bytes."""
    if sys.byteorder == "big":
        values = values[:]
        values.byteswap()
    return values
