"""Rows: their bytes are pinned, because they outlive every deploy, and damaged rows are refused."""

from __future__ import annotations

from array import array
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urltree.heuristics.boilerplate import Kind
from urltree.heuristics.page_kind import PageKind
from urltree.site.row import ROW_VERSION, Row, RowError, Verdict
from urltree.tree.path_statistics import Contribution, PathCounts

ROW = Row(
    tokenizer=1,
    time=1_319_414_400_000_000,
    digest=0x1122334455667788,
    origin="raw-html/3/1042",
    branch=("news", "é", "?id=1"),
    hashes=array("Q", [1, 2**64 - 1]),
    verdict=Verdict("strict", 1, 2, 5, (True, False, True), None),
)

PINNED = bytes.fromhex(
    "01 0100 00"  # version of the row, of the tokenizer, flags
    " 00a09f1a00b00400 8877665544332211"  # time, digest
    " 0f00 7261772d68746d6c2f332f31303432"  # raw-html/3/1042
    " 0d00 6e657773 00 c3a9 00 3f69643d31"  # news, é, ?id=1
    " 0600 737472696374 0100"  # strict, version 1
    " 0200 05000000 03000000 05"  # depth, support, blocks, bits 101
    " 02000000 0100000000000000 ffffffffffffffff"  # distinct hashes
)

EVIDENCE = replace(
    ROW,
    verdict=Verdict(
        *("evidence", 1, 0, 9, (True, False, True), None),
        kinds=bytes((Kind.SITE_WIDE, Kind.CONTENT, Kind.LINK_LIST)),
        page_kind=PageKind.ARTICLE,
    ),
    paths=Contribution(7, 9, (PathCounts(7, 300, 0, 1),)).encode(),
)
PINNED_HEAD = (
    " 00a09f1a00b00400 8877665544332211"  # time, digest
    " 0f00 7261772d68746d6c2f332f31303432"  # raw-html/3/1042
    " 0d00 6e657773 00 c3a9 00 3f69643d31"  # news, é, ?id=1
    " 0800 65766964656e6365 0100"  # evidence, version 1
    " 0000 09000000 03000000 05"  # depth, support, blocks, bits 101
    " 02000000 0100000000000000 ffffffffffffffff"  # distinct hashes
    " 01 00 04"  # kinds
)
# Path of the main element, the same by tags, number of paths; path, words, repeated, linked.
PINNED_PATHS = " 07000000 09000000 0100 07000000 2c01 0000 0100"

unsigned_32 = st.integers(0, 2**32 - 1)
unsigned_64 = st.integers(0, 2**64 - 1)
names = st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1, max_size=9)


words = st.integers(0, 2**16 - 1)
contributions = st.builds(
    Contribution,
    unsigned_32,
    unsigned_32,
    st.lists(st.builds(PathCounts, unsigned_32, words, words, words), max_size=4).map(tuple),
).map(Contribution.encode)


@st.composite
def verdicts(draw: st.DrawFn) -> Verdict:
    """Generate a verdict that a worker may store; its revision is 0."""
    boilerplate = draw(st.lists(st.booleans(), max_size=40))
    size = len(boilerplate)
    counts = draw(st.none() | st.lists(unsigned_32, min_size=size, max_size=size).map(tuple))
    return Verdict(
        heuristic=draw(names),
        version=draw(st.integers(0, 2**16 - 1)),
        depth=draw(st.integers(0, 2**16 - 1)),
        support=draw(unsigned_32),
        boilerplate=tuple(boilerplate),
        counts=counts,
        kinds=draw(st.none() | st.binary(min_size=size, max_size=size)),
        page_kind=draw(st.none() | st.sampled_from(PageKind)),
    )


@st.composite
def rows(draw: st.DrawFn) -> Row:
    """Generate a row that a worker may write."""
    return Row(
        tokenizer=draw(st.integers(0, 2**16 - 1)),
        time=draw(st.integers(-(2**63), 2**63 - 1)),
        digest=draw(unsigned_64),
        origin=draw(names),
        branch=tuple(draw(st.lists(names, max_size=4))),
        hashes=array("Q", draw(st.lists(unsigned_64, max_size=40))),
        verdict=draw(verdicts()),
        paths=draw(st.just(b"") | contributions),
        left_out=draw(st.booleans()),
        waits=draw(st.booleans()),
        revised=draw(st.none() | verdicts().map(lambda said: replace(said, revision=1))),
    )


def test_the_stored_bytes_of_a_row_are_pinned() -> None:
    """The bytes of a row are pinned; a new ROW_VERSION must still read the old ones."""
    assert ROW.encode() == PINNED
    assert Row.decode(PINNED) == ROW


def test_counts_follow_where_they_are_kept() -> None:
    """Counts take four bytes per block at the end of a row, and a flag shows that they exist."""
    verdict = Verdict("strict", 1, 2, 5, (True, False, True), (5, 1, 2))
    row = Row(1, ROW.time, ROW.digest, ROW.origin, ROW.branch, ROW.hashes, verdict)
    counts = bytes.fromhex("05000000 01000000 02000000")
    assert row.encode() == PINNED[:3] + b"\1" + PINNED[4:] + counts
    assert Row.decode(row.encode()) == row


def test_a_row_of_evidence_holds_kinds_and_paths_behind() -> None:
    """A row of `evidence` ends with the kinds, one byte per block, and the path statistics.

    Flags show that both parts are there.
    """
    pinned = bytes.fromhex(f"01 0100 26 {PINNED_HEAD} {PINNED_PATHS}")
    assert EVIDENCE.encode() == pinned
    assert Row.decode(pinned) == EVIDENCE


def test_a_second_verdict_stands_between_kinds_and_paths() -> None:
    """A second verdict is stored between kinds and paths, with its own flags, name and revision.

    A replay returns the second verdict.
    """
    revised = Verdict("e", 2, 0, 20, (True, True, True), None, bytes((1, 3, 4)), revision=1)
    row = replace(EVIDENCE, revised=revised)
    second = " 02 01 0100 65 0200 0000 14000000 03000000 07 01 03 04"
    pinned = bytes.fromhex(f"01 0100 a6 {PINNED_HEAD} {second} {PINNED_PATHS}")
    assert row.encode() == pinned
    assert Row.decode(pinned) == row
    assert row.last_verdict == revised


@pytest.mark.parametrize(
    ("fields", "flag"), [({"left_out": True}, 64), ({"waits": True}, 8), ({}, 0)], ids=str
)
def test_what_a_row_stands_for_is_a_bit(fields: dict[str, bool], flag: int) -> None:
    """One flag marks a page that is left out of the tree, another a page that waits for revision.

    No other byte of the row changes.
    """
    row = replace(ROW, **fields)  # type: ignore[arg-type]
    assert row.encode() == PINNED[:3] + bytes((flag,)) + PINNED[4:]
    assert Row.decode(row.encode()) == row


def test_the_kind_of_its_page_is_in_two_bits() -> None:
    """Two bits store the kind of page; a third bit marks a page that is left out of the tree.

    No other byte of the row changes.
    """
    verdict = replace(ROW.verdict, page_kind=PageKind.LISTING)
    row = replace(ROW, verdict=verdict, left_out=True)
    assert row.encode() == PINNED[:3] + bytes([0b0111_0000]) + PINNED[4:]
    assert Row.decode(row.encode()) == row


@given(rows())
def test_what_is_written_is_read(row: Row) -> None:
    """A row does not change if it is encoded and decoded."""
    assert Row.decode(row.encode()) == row


@given(rows(), st.data())
def test_a_row_that_is_cut_short_is_refused(row: Row, data: st.DataObject) -> None:
    """A row that is cut short raises RowError; it is never read as a smaller row."""
    stored = row.encode()
    with pytest.raises(RowError):
        Row.decode(stored[: data.draw(st.integers(0, len(stored) - 1))])


@pytest.mark.parametrize("row", [ROW, EVIDENCE, replace(EVIDENCE, revised=EVIDENCE.verdict)])
def test_no_prefix_of_a_row_is_a_row(row: Row) -> None:
    """Each prefix of the pinned rows raises RowError."""
    stored = row.encode()
    for length in range(len(stored)):
        with pytest.raises(RowError):
            Row.decode(stored[:length])


@given(rows(), st.binary(min_size=1, max_size=20))
def test_a_row_with_bytes_behind_it_is_refused(row: Row, more: bytes) -> None:
    """Additional bytes after a row raise RowError, because the row determines its own length."""
    with pytest.raises(RowError):
        Row.decode(row.encode() + more)


@given(st.binary(max_size=200))
def test_random_bytes_are_refused(stored: bytes) -> None:
    """Random bytes after a known version raise RowError, whatever lengths they contain."""
    with pytest.raises(RowError):
        Row.decode(bytes([ROW_VERSION]) + stored)


@pytest.mark.parametrize("version", [0, ROW_VERSION + 1, 255])
def test_an_unknown_version_is_named(version: int) -> None:
    """The error names the unknown version, so that operators see why a rollback stops."""
    with pytest.raises(
        RowError, match=f"row: its version is {version:02x}, .* version {ROW_VERSION};"
    ):
        Row.decode(bytes([version]) + PINNED[1:])
