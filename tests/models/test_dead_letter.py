"""Tests of records of dead-letters, which restore the original, and of origins and headers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.command import Forget, is_command
from models.dead_letter import MAX_MESSAGE, DeadLetter, Record
from models.headers import names as headers
from models.headers.names import header
from models.origin import Origin
from urltree.page import PageError, Reason

SCHEMA = orjson.loads((Path(__file__).parents[2] / "models/schemas/dead-letters.json").read_bytes())

names = st.sampled_from(
    [headers.STAGE, headers.MESSAGE, headers.KEY, headers.ORIGIN, "url", "", "é"]
)
records = st.builds(
    Record,
    key=st.none() | st.binary(),
    value=st.none() | st.binary(),
    headers=st.lists(st.tuples(names, st.none() | st.binary()), max_size=6).map(tuple),
)


def letter(original: Record, message: str = "url: no host") -> DeadLetter:
    """Return a dead letter with this original record."""
    return DeadLetter("raw-html/3/1042", "normalize", "bad-url", message, "raw-html", original)


@settings(deadline=None)
@given(records)
def test_the_original_comes_back_exactly(original: Record) -> None:
    """A dead letter restores key, value and headers of its original.

    The original may have nulls and headers with our names.
    """
    written = letter(original).to_record()
    assert DeadLetter.from_record(*written) == letter(original)


def test_the_record_is_as_documented() -> None:
    """The key of a dead letter is its origin.

    The value is the original's, and our headers come first.
    """
    original = Record(b"\xff", None, (("a", b"1"),))
    assert letter(original).to_record() == Record(
        b"raw-html/3/1042",
        None,
        (
            ("urltree-stage", b"normalize"),
            ("urltree-reason", b"bad-url"),
            ("urltree-topic", b"raw-html"),
            ("urltree-key", b"\xff"),
            ("urltree-message", b"url: no host"),
            ("a", b"1"),
        ),
    )


def test_the_schema_names_our_headers_and_every_reason() -> None:
    """The schema lists our headers and every reason, so a new reason must be documented."""
    written = replace(letter(Record(b"k", b"", ())), offsets=(1042, 1050)).to_record()
    assert set(SCHEMA["properties"]) == {name for name, _ in written.headers}
    assert SCHEMA["properties"][headers.REASON]["enum"] == list(Reason)


def test_a_range_of_offsets_is_read_as_it_was_written() -> None:
    """A dead letter that stands for a range of records keeps its first and last offset."""
    of_range = replace(letter(Record(None, None, ())), offsets=(1042, 1050))
    assert DeadLetter.from_record(*of_range.to_record()) == of_range


def test_a_header_that_is_no_range_of_offsets_is_refused() -> None:
    """A header of offsets in another form is an error that quotes it."""
    key, value, written = replace(letter(Record(None, None, ())), offsets=(1, 2)).to_record()
    changed = [(name, b"1" if name == headers.OFFSETS else content) for name, content in written]
    with pytest.raises(PageError, match="FIRST-LAST"):
        DeadLetter.from_record(key, value, changed)


def test_a_long_message_is_cut_and_a_lone_surrogate_is_written() -> None:
    """A long message is cut, and lone surrogates in it become "?".

    A message quotes its page, so it may contain any text.
    """
    written = letter(Record(None, b"", ()), "\ud800" * 5_000).to_record()
    assert DeadLetter.from_record(*written).message == "?" * MAX_MESSAGE


@pytest.mark.parametrize(
    "record",
    [
        Record(b"k", b"v", ()),
        Record(b"k", b"v", (("a", b"1"),)),
        Record(b"k", b"v", ((headers.MESSAGE, b"m"),)),
        Record(b"k", b"v", ((headers.STAGE, None), (headers.MESSAGE, b"m"))),
        letter(Record(None, None, ())).to_record()._replace(key=None),
    ],
)
def test_a_record_that_is_not_a_dead_letter_is_malformed(record: Record) -> None:
    """Records of other programs in the topic are recognised as malformed."""
    with pytest.raises(PageError) as error:
        DeadLetter.from_record(*record)
    assert error.value.reason is Reason.MALFORMED


@pytest.mark.parametrize("text", ["raw-html/3/1042", "a.b_c-d/0/0"])
def test_an_origin_is_read_as_it_is_written(text: str) -> None:
    """An origin that was read is written as the same text, because it has only one form."""
    assert str(Origin.parse(text)) == text


@pytest.mark.parametrize("text", ["", "raw-html/3", "a/b/1/2", "t/-1/0", "t/01/2", "t/1/2\n"])
def test_text_that_is_not_an_origin_is_refused(text: str) -> None:
    """Text that is not an origin is refused, so that an invented header never becomes an offset."""
    with pytest.raises(ValueError, match="topic/partition/offset"):
        Origin.parse(text)


def test_the_last_header_of_a_name_counts() -> None:
    """The last header of a name counts, as in Kafka's own clients.

    Null values and bytes that are not UTF-8 cause no error.
    """
    found = [("a", b"1"), ("a", b"2\xff"), ("a", None), ("b", None)]
    assert header(found, "a") == "2\ufffd"
    assert header(found, "b") is None
    assert header(None, "a") is None


@pytest.mark.parametrize("ids", [None, (), ("0" * 32, "f" * 32)])
def test_a_command_survives_the_wire(ids: tuple[str, ...] | None) -> None:
    """A command is read as it was written.

    Ids that are None mean the whole domain; an empty list means no document.
    """
    assert Forget.decode(Forget("example.org", ids).encode()) == Forget("example.org", ids)
    assert is_command([(headers.COMMAND, b"forget")])
    assert not is_command([("url", b"u")])


@pytest.mark.parametrize(
    "value",
    [None, b"{}", b'{"schema":1}', b'{"schema":1,"domain":7}', b'{"schema":2,"domain":"a"}']
    + [b'{"schema":1,"domain":"a","ids":%s}' % ids for ids in (b'"a"', b"[1]", b'["xyz"]')],
)
def test_a_record_that_is_not_a_command_is_malformed(value: bytes | None) -> None:
    """A command that cannot be read is malformed.

    It becomes a dead letter, and no document is deleted.
    """
    with pytest.raises(PageError) as error:
        Forget.decode(value)
    assert error.value.reason is Reason.MALFORMED
