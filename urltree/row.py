"""A row: what is stored of one document, the only truth from which a domain's tree is made.

    version tokenizer flags │ time │ digest │ origin │ branch │ verdict │ distinct hashes
    (│ counts) (│ kinds of boilerplate) (│ what it contributes to path statistics)

Stored bytes outlive every deploy: they begin with a version, and a test pins them literally.
Integers are little-endian. Strings and arrays are preceded by their length; a branch is one string,
its names parted by NUL, which no normalised URL contains.
"""

from __future__ import annotations

import struct
import sys
from array import array
from dataclasses import dataclass

from urltree.path_statistics import Contribution

ROW_VERSION = 1

_HEAD = struct.Struct("<BHBqQ")  # version, tokenizer, flags, time, digest
_VERDICT = struct.Struct("<HII")  # depth, support, number of blocks
_U16 = struct.Struct("<H")
_U32 = struct.Struct("<I")
_WITH_COUNTS, _WITH_KINDS, _WITH_PATHS = 1, 2, 4


class RowError(Exception):
    """Stored bytes that this release cannot read: ours to mend, never the page's fault."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was said first of a document, so that a replay says it again.

    Attributes:
        heuristic: its name; version: its version.
        depth, support: of the node that judged.
        boilerplate: one verdict for each block.
        counts: of each block at that node; None where the job does not publish counts.
        kinds: of boilerplate, a byte a block (`urltree.boilerplate`); None of a heuristic that
            knows no kinds.
    """

    heuristic: str
    version: int
    depth: int
    support: int
    boilerplate: tuple[bool, ...]
    counts: tuple[int, ...] | None
    kinds: bytes | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One document's evidence and verdict.

    Attributes:
        tokenizer: version of the tokenizer that made the hashes.
        time: document time, microseconds since 1970.
        digest: of the hashes of all blocks in order, see `Document.digest`.
        origin: topic/partition/offset of the page's first copy.
        branch: names of the nodes below the root.
        hashes: the distinct block hashes in order.
        paths: encoded `Contribution`; empty of a heuristic that learns none.
    """

    tokenizer: int
    time: int
    digest: int
    origin: str
    branch: tuple[str, ...]
    hashes: array[int]
    verdict: Verdict
    paths: bytes = b""

    def encode(self) -> bytes:
        """The bytes that are stored."""
        verdict = self.verdict
        flags = (
            _WITH_COUNTS * (verdict.counts is not None)
            | _WITH_KINDS * (verdict.kinds is not None)
            | _WITH_PATHS * bool(self.paths)
        )
        parts = [
            _HEAD.pack(ROW_VERSION, self.tokenizer, flags, self.time, self.digest),
            *map(_string, (self.origin, "\0".join(self.branch), verdict.heuristic)),
            _U16.pack(verdict.version),
            _VERDICT.pack(verdict.depth, verdict.support, len(verdict.boilerplate)),
            _pack_bits(verdict.boilerplate),
            _U32.pack(len(self.hashes)),
            _little_endian(self.hashes).tobytes(),
        ]
        if verdict.counts is not None:
            parts.append(_little_endian(array("I", verdict.counts)).tobytes())
        return b"".join((*parts, verdict.kinds or b"", self.paths))

    @classmethod
    def decode(cls, stored: bytes) -> Row:
        """Read stored bytes.

        Raises:
            RowError: they are no row, or of a version that this release does not know.
        """
        if not stored or stored[0] != ROW_VERSION:
            raise RowError(f"row of version {stored[:1].hex() or 'none'}, expected {ROW_VERSION}")
        try:
            return _decode(stored)
        except (struct.error, ValueError) as error:
            raise RowError(f"damaged row of {len(stored)} bytes: {error}") from error


def _decode(stored: bytes) -> Row:
    _, tokenizer, flags, time, digest = _HEAD.unpack_from(stored)
    at = _HEAD.size
    origin, at = _read_string(stored, at)
    branch, at = _read_string(stored, at)
    name, at = _read_string(stored, at)
    (version,) = _U16.unpack_from(stored, at)
    depth, support, blocks = _VERDICT.unpack_from(stored, at + _U16.size)
    bits = at + _U16.size + _VERDICT.size
    (distinct,) = _U32.unpack_from(stored, at := bits + (blocks + 7) // 8)
    start = at + _U32.size
    counted = start + 8 * distinct
    named = counted + (4 * blocks if flags & _WITH_COUNTS else 0)
    end = named + (blocks if flags & _WITH_KINDS else 0)
    if len(stored) < end or (len(stored) > end) != bool(flags & _WITH_PATHS):
        raise ValueError("its length is not that of its parts")
    boilerplate = _unpack_bits(stored[bits:at], blocks)
    hashes = _little_endian(array("Q", stored[start:counted]))
    counts = _little_endian(array("I", stored[counted:named])) if flags & _WITH_COUNTS else None
    kinds = stored[named:end] if flags & _WITH_KINDS else None
    paths = stored[end:]
    if paths:
        Contribution.decode(paths)
    return Row(
        tokenizer,
        time,
        digest,
        origin,
        tuple(branch.split("\0")) if branch else (),
        hashes,
        Verdict(
            name,
            version,
            depth,
            support,
            boilerplate,
            None if counts is None else tuple(counts),
            kinds,
        ),
        paths,
    )


def _string(text: str) -> bytes:
    encoded = text.encode()
    return _U16.pack(len(encoded)) + encoded


def _read_string(stored: bytes, at: int) -> tuple[str, int]:
    (length,) = _U16.unpack_from(stored, at)
    start = at + _U16.size
    return stored[start : start + length].decode(), start + length


def _pack_bits(bits: tuple[bool, ...]) -> bytes:
    """Bit i of byte i // 8 is bit i, lowest first."""
    if not bits:
        return b""
    number = int("".join(["1" if bit else "0" for bit in reversed(bits)]), 2)
    return number.to_bytes((len(bits) + 7) // 8, "little")


def _unpack_bits(packed: bytes, length: int) -> tuple[bool, ...]:
    bits = f"{int.from_bytes(packed, 'little'):0{length}b}" if length else ""
    return tuple(map("1".__eq__, reversed(bits)))


def _little_endian(values: array[int]) -> array[int]:
    if sys.byteorder == "big":
        values = values[:]
        values.byteswap()
    return values
