"""Rows are stored for longer than any deploy: their bytes are pinned, damaged ones are refused."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urltree.row import ROW_VERSION, Row, RowError, Verdict

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

unsigned_32 = st.integers(0, 2**32 - 1)
unsigned_64 = st.integers(0, 2**64 - 1)
names = st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1, max_size=9)


@st.composite
def rows(draw: st.DrawFn) -> Row:
    """Any row that a worker may write."""
    boilerplate = draw(st.lists(st.booleans(), max_size=40))
    counts = draw(st.one_of(st.none(), st.just([draw(unsigned_32) for _ in boilerplate])))
    return Row(
        tokenizer=draw(st.integers(0, 2**16 - 1)),
        time=draw(st.integers(-(2**63), 2**63 - 1)),
        digest=draw(unsigned_64),
        origin=draw(names),
        branch=tuple(draw(st.lists(names, max_size=4))),
        hashes=array("Q", draw(st.lists(unsigned_64, max_size=40))),
        verdict=Verdict(
            heuristic=draw(names),
            version=draw(st.integers(0, 2**16 - 1)),
            depth=draw(st.integers(0, 2**16 - 1)),
            support=draw(unsigned_32),
            boilerplate=tuple(boilerplate),
            counts=None if counts is None else tuple(counts),
        ),
    )


def test_the_stored_bytes_of_a_row_are_pinned() -> None:
    """Whoever changes them raises ROW_VERSION, and reads the old ones."""
    assert ROW.encode() == PINNED
    assert Row.decode(PINNED) == ROW


def test_counts_follow_where_they_are_kept() -> None:
    """Four bytes a block at the end, and a flag."""
    verdict = Verdict("strict", 1, 2, 5, (True, False, True), (5, 1, 2))
    row = Row(1, ROW.time, ROW.digest, ROW.origin, ROW.branch, ROW.hashes, verdict)
    counts = bytes.fromhex("05000000 01000000 02000000")
    assert row.encode() == PINNED[:3] + b"\1" + PINNED[4:] + counts
    assert Row.decode(row.encode()) == row


@given(rows())
def test_what_is_written_is_read(row: Row) -> None:
    """Any row survives storage."""
    assert Row.decode(row.encode()) == row


@given(rows(), st.data())
def test_a_row_that_is_cut_short_is_refused(row: Row, data: st.DataObject) -> None:
    """Every prefix is an error of ours, never a smaller row."""
    stored = row.encode()
    with pytest.raises(RowError):
        Row.decode(stored[: data.draw(st.integers(0, len(stored) - 1))])


def test_no_prefix_of_a_row_is_a_row() -> None:
    """Each of them, of the pinned row."""
    for length in range(len(PINNED)):
        with pytest.raises(RowError):
            Row.decode(PINNED[:length])


@given(rows(), st.binary(min_size=1, max_size=20))
def test_a_row_with_bytes_behind_it_is_refused(row: Row, more: bytes) -> None:
    """Its length says how much it holds."""
    with pytest.raises(RowError):
        Row.decode(row.encode() + more)


@given(st.binary(max_size=200))
def test_random_bytes_are_refused(stored: bytes) -> None:
    """Even under the right version, whatever lengths they claim."""
    with pytest.raises(RowError):
        Row.decode(bytes([ROW_VERSION]) + stored)


@pytest.mark.parametrize("version", [0, ROW_VERSION + 1, 255])
def test_an_unknown_version_is_named(version: int) -> None:
    """So that whoever rolled back a deploy knows why it stopped."""
    with pytest.raises(RowError, match=f"row of version {version:02x}, expected {ROW_VERSION}"):
        Row.decode(bytes([version]) + PINNED[1:])
