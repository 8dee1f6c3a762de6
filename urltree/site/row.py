"""A row: the stored record of one learned document. The tree of a site is built from rows alone.

    version tokenizer flags │ time │ digest │ origin │ branch │ verdict │ distinct hashes
    (│ counts) (│ kinds of boilerplate) (│ second verdict) (│ contribution to path statistics)

Rows remain stored when a new release is deployed. So each row begins with a version, and a test
pins its bytes. Integers are little-endian. A length precedes each string and array. The branch is
one string; NUL separates its names, because no normalised URL contains NUL.
"""

from __future__ import annotations

import struct
from array import array
from dataclasses import dataclass

from urltree.heuristics.page_kind import PageKind
from urltree.heuristics.protocol import NOT_JUDGED, Verdict
from urltree.tree.packing import little_endian, pack_bits, read_string, string, unpack_bits
from urltree.tree.path_statistics import check_length

ROW_VERSION = 1

_HEAD = struct.Struct("<BHBqQ")  # version, tokenizer, flags, time, digest
_VERDICT = struct.Struct("<HII")  # depth, support, number of blocks
_U16 = struct.Struct("<H")
_U32 = struct.Struct("<I")
_WITH_COUNTS, _WITH_KINDS, _WITH_PATHS, _WAITS = 1, 2, 4, 8
_PAGE_KIND = 4  # position of the two bits of `PageKind`; both are 0 if the verdict has none
_LEFT_OUT, _REVISED = 64, 128


class RowError(Exception):
    """Stored bytes that this release cannot read; never the fault of a page."""


@dataclass(frozen=True, slots=True)
class Row:
    """The verdict on one document, and everything that the site's tree needs from the document.

    Attributes:
        tokenizer: version of the tokenizer that made the hashes.
        time: document time in microseconds since 1970.
        digest: digest of the hashes of all blocks in order, see `Document.digest`.
        origin: topic/partition/offset of the page's record. A record that is sent again keeps the
            first origin.
        branch: names of the nodes below the root.
        hashes: distinct block hashes in the order of their first block.
        verdict: first verdict.
        paths: encoded `Contribution`; empty for a heuristic that learns no path statistics.
        left_out: True for a document that is not in the tree and the path statistics: a listing,
            or a document that is not judged.
        waits: True while the document is stored to be judged again (`first_pages.py`).
        revised: second verdict if it changed the text, else None.
    """

    tokenizer: int
    time: int
    digest: int
    origin: str
    branch: tuple[str, ...]
    hashes: array[int]
    verdict: Verdict
    paths: bytes = b""
    left_out: bool = False
    waits: bool = False
    revised: Verdict | None = None

    @property
    def last_verdict(self) -> Verdict:
        """The verdict that was published last; a replay publishes it again."""
        return self.revised or self.verdict

    @property
    def is_judged(self) -> bool:
        """Whether a heuristic judged the document; none judges full text from a feed."""
        return self.verdict.heuristic != NOT_JUDGED

    def encode(self) -> bytes:
        """Return the bytes to store."""
        verdict = self.verdict
        flags = (
            _flags(verdict)
            | _WITH_PATHS * bool(self.paths)
            | _WAITS * self.waits
            | _LEFT_OUT * self.left_out
            | _REVISED * (self.revised is not None)
        )
        parts = [
            _HEAD.pack(ROW_VERSION, self.tokenizer, flags, self.time, self.digest),
            *map(string, (self.origin, "\0".join(self.branch), verdict.heuristic)),
            _U16.pack(verdict.version),
            _VERDICT.pack(verdict.depth, verdict.support, len(verdict.boilerplate)),
            pack_bits(verdict.boilerplate),
            _U32.pack(len(self.hashes)),
            little_endian(self.hashes).tobytes(),
        ]
        if verdict.counts is not None:
            parts.append(little_endian(array("I", verdict.counts)).tobytes())
        revised = b"" if self.revised is None else _pack_verdict(self.revised)
        return b"".join((*parts, verdict.kinds or b"", revised, self.paths))

    @classmethod
    def decode(cls, stored: bytes) -> Row:
        """Return the row that `encode` has encoded.

        Raises:
            RowError: the bytes are damaged, or this release does not know their version.
        """
        if not stored or stored[0] != ROW_VERSION:
            raise RowError(
                f"row: its version is {stored[:1].hex() or 'missing'}, but this release reads "
                f"version {ROW_VERSION}; run the release that wrote it"
            )
        try:
            return _decode(stored)
        except (struct.error, ValueError) as error:
            raise RowError(f"row: its {len(stored)} bytes are damaged: {error}") from error


def _decode(stored: bytes) -> Row:
    _, tokenizer, flags, time, digest = _HEAD.unpack_from(stored)
    at = _HEAD.size
    origin, at = read_string(stored, at)
    branch, at = read_string(stored, at)
    name, at = read_string(stored, at)
    (version,) = _U16.unpack_from(stored, at)
    depth, support, blocks = _VERDICT.unpack_from(stored, at + _U16.size)
    bits = at + _U16.size + _VERDICT.size
    (distinct,) = _U32.unpack_from(stored, at := bits + (blocks + 7) // 8)
    start = at + _U32.size
    counted = start + 8 * distinct
    named = counted + (4 * blocks if flags & _WITH_COUNTS else 0)
    end = named + (blocks if flags & _WITH_KINDS else 0)
    kinds = stored[named:end] if flags & _WITH_KINDS else None
    revised = None
    if flags & _REVISED:
        revised, end = _read_verdict(stored, end)
    if len(stored) < end or (len(stored) > end) != bool(flags & _WITH_PATHS):
        raise ValueError("the length of the row differs from the length of its parts")
    boilerplate = unpack_bits(stored[bits:at], blocks)
    hashes = little_endian(array("Q", stored[start:counted]))
    counts = little_endian(array("I", stored[counted:named])) if flags & _WITH_COUNTS else None
    paths = stored[end:]
    if paths:
        check_length(paths)
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
            _page_kind(flags),
        ),
        paths,
        bool(flags & _LEFT_OUT),
        bool(flags & _WAITS),
        revised,
    )


def _flags(verdict: Verdict) -> int:
    return (
        _WITH_COUNTS * (verdict.counts is not None)
        | _WITH_KINDS * (verdict.kinds is not None)
        | (verdict.page_kind or 0) << _PAGE_KIND
    )


def _page_kind(flags: int) -> PageKind | None:
    return PageKind(kind) if (kind := flags >> _PAGE_KIND & 3) else None


def _pack_verdict(verdict: Verdict) -> bytes:
    """Encode a second verdict with flags of its own.

    The settings may have changed since the first verdict, so the flags of the two may differ.
    """
    counts = little_endian(array("I", verdict.counts or ())).tobytes()
    return b"".join((
        bytes((_flags(verdict), verdict.revision)),
        string(verdict.heuristic),
        _U16.pack(verdict.version),
        _VERDICT.pack(verdict.depth, verdict.support, len(verdict.boilerplate)),
        pack_bits(verdict.boilerplate),
        counts,
        verdict.kinds or b"",
    ))  # fmt: skip


def _read_verdict(stored: bytes, at: int) -> tuple[Verdict, int]:
    """Return the second verdict at an offset, and the offset of its end."""
    flags, revision = struct.unpack_from("BB", stored, at)
    name, at = read_string(stored, at + 2)
    (version,) = _U16.unpack_from(stored, at)
    depth, support, blocks = _VERDICT.unpack_from(stored, at + _U16.size)
    bits = at + _U16.size + _VERDICT.size
    counted = bits + (blocks + 7) // 8
    named = counted + (4 * blocks if flags & _WITH_COUNTS else 0)
    end = named + (blocks if flags & _WITH_KINDS else 0)
    if len(stored) < end:
        raise ValueError("the second verdict is incomplete")
    boilerplate = unpack_bits(stored[bits:counted], blocks)
    counts = little_endian(array("I", stored[counted:named])) if flags & _WITH_COUNTS else None
    kinds = stored[named:end] if flags & _WITH_KINDS else None
    said = None if counts is None else tuple(counts)
    kind = _page_kind(flags)
    return Verdict(name, version, depth, support, boilerplate, said, kinds, kind, revision), end
