"""Strings, bits and integers as stored bytes have them: little-endian, lengths before strings."""

from __future__ import annotations

import struct
import sys
from array import array

_U16 = struct.Struct("<H")


def string(text: str) -> bytes:
    """UTF-8 behind its length in two bytes."""
    encoded = text.encode()
    return _U16.pack(len(encoded)) + encoded


def read_string(stored: bytes, at: int) -> tuple[str, int]:
    """A string, and where it ends; beyond `stored` where that is cut short."""
    (length,) = _U16.unpack_from(stored, at)
    start = at + _U16.size
    return stored[start : start + length].decode(), start + length


def pack_bits(bits: tuple[bool, ...]) -> bytes:
    """Bit i of byte i // 8 is bit i, lowest first."""
    if not bits:
        return b""
    number = int("".join(["1" if bit else "0" for bit in reversed(bits)]), 2)
    return number.to_bytes((len(bits) + 7) // 8, "little")


def unpack_bits(packed: bytes, length: int) -> tuple[bool, ...]:
    """The inverse of `pack_bits`."""
    bits = f"{int.from_bytes(packed, 'little'):0{length}b}" if length else ""
    return tuple(map("1".__eq__, reversed(bits)))


def little_endian(values: array[int]) -> array[int]:
    """The array as stored, or one that was stored as it is here."""
    if sys.byteorder == "big":
        values = values[:]
        values.byteswap()
    return values
