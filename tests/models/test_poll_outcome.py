"""Tests of records of poll-outcomes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from models.crawl.poll_outcome import decode, encode
from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.poll.answer import PageReport, PollAnswer, SitemapChild
from urltree.crawl.decisions.poll.outcome import PolledItem, PollOutcome, PollResult
from urltree.crawl.decisions.response import Trouble
from urltree.page import PageError, Reason

SCHEMA = orjson.loads(
    (Path(__file__).parents[2] / "models/schemas/poll-outcomes.json").read_bytes()
)
RECORD = {
    "schema": 2,
    "kind": "answer",
    "site": "s",
    "feed": "f",
    "sequence": 1,
    "at": 2.0,
    "result": "items",
    "items": [{"link": "https://s/1"}],
    "children": [],
}
FORMER = {"schema": 1, "site": "s", "feed": "f", "sequence": 1, "at": 2.0, "result": "items"}

words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
some = st.none() | words
hashes = st.binary(min_size=16, max_size=16)
seconds = st.none() | st.floats(0, 4e9)
outcomes = st.builds(
    PollOutcome,
    site=words,
    feed=words,
    sequence=st.integers(0, 2**53),
    at=st.floats(0, 4e9),
    result=st.sampled_from(PollResult),
    status=st.none() | st.integers(200, 599),
    trouble=st.none() | st.sampled_from(Trouble),
    message=some,
    moved_to=some,
    etag=some,
    last_modified=some,
    body_hash=st.none() | hashes.map(bytes.hex),
    max_age=seconds,
    no_cache=st.booleans(),
    retry_after=seconds,
    title=some,
    ttl=seconds,
    skip_hours=st.lists(st.integers(0, 23), max_size=5).map(tuple),
    skip_days=st.lists(st.integers(0, 6), max_size=5).map(tuple),
    seconds=st.floats(0, 100),
)
items = st.builds(
    FeedItem,
    link=words,
    title=some,
    description=some,
    published=some,
    updated=some,
    guid=some,
    content=some,
    former_hash=st.none() | hashes,
)
answers = st.builds(
    PollAnswer,
    outcome=outcomes,
    items=st.lists(items, max_size=3).map(tuple),
    children=st.lists(st.builds(SitemapChild, url=words, modified=seconds), max_size=3).map(tuple),
    part=st.integers(0, 99),
    is_last=st.booleans(),
    postponed_until=seconds,
    host_ready_at=st.floats(0, 4e9),
)
reports = st.builds(
    PageReport,
    site=words,
    feed=words,
    at=st.floats(0, 4e9),
    walls=st.integers(0, 99),
    coverage=st.lists(st.floats(0, 1), max_size=5).map(tuple),
)


@settings(deadline=None)
@given(answers | reports)
def test_a_record_survives_the_wire(record: PollAnswer | PageReport) -> None:
    """Encoding and decoding gives the same answer or report, and the record fits its schema."""
    value = encode(record)
    assert decode(value) == record
    Draft202012Validator(SCHEMA).validate(orjson.loads(value))


def test_the_schema_has_every_field_result_and_trouble() -> None:
    """The schema has exactly the fields of the records, and lists all results and troubles."""
    fields = {*PollOutcome.__slots__, *PollAnswer.__slots__, *PageReport.__slots__} - {"outcome"}
    assert set(SCHEMA["properties"]) == {"schema", "kind", *fields}
    assert SCHEMA["properties"]["result"]["enum"] == list(PollResult)
    assert SCHEMA["properties"]["trouble"]["enum"] == list(Trouble)


def test_an_outcome_of_an_older_release_is_read() -> None:
    """A record with schema 1 is an outcome whose items are in fetches; it has their hashes."""
    rows = [["0" * 32, 1.5, True], ["f" * 32, None, False]]
    outcome = decode(orjson.dumps(FORMER | {"items": rows, "skip_days": [6], "etag": "a"}))
    assert isinstance(outcome, PollOutcome)
    assert outcome.items == (
        PolledItem(b"\0" * 16, 1.5, is_new=True),
        PolledItem(b"\xff" * 16, None, is_new=False),
    )
    assert (outcome.site, outcome.skip_days, outcome.etag) == ("s", (6,), "a")


@pytest.mark.parametrize(
    "fields",
    [
        {"unknown": 1},
        {"items": [["00", None, True]]},
        {"items": [["0" * 32, None, 1]]},
        {"items": [["0" * 32, None]]},
    ],
)
def test_an_outcome_of_an_older_release_is_checked(fields: dict[str, Any]) -> None:
    """A damaged record with schema 1 is refused, and not read in part."""
    with pytest.raises(PageError) as caught:
        decode(orjson.dumps(FORMER | fields))
    assert caught.value.reason is Reason.MALFORMED


@pytest.mark.parametrize(
    "fields",
    [
        {"schema": 3},
        {"kind": "guess"},
        {"result": "lucky"},
        {"trouble": "rain"},
        {"items": {}},
        {"items": [["0" * 32, None, True]]},
        {"items": [{"link": 1}]},
    ],
)
def test_values_that_the_schema_refuses_are_malformed(fields: dict[str, Any]) -> None:
    """The reader and the schema refuse the same values.

    A poll whose outcome cannot be read is repeated.
    """
    record = RECORD | fields
    assert not Draft202012Validator(SCHEMA).is_valid(record)
    with pytest.raises(PageError) as caught:
        decode(orjson.dumps(record))
    assert caught.value.reason is Reason.MALFORMED


@pytest.mark.parametrize("name", ["schema", "kind", "site", "feed", "at"])
def test_what_every_outcome_has_must_be_there(name: str) -> None:
    """An outcome without one of these fields is refused, because it cannot be applied."""
    record = {key: value for key, value in RECORD.items() if key != name}
    answer = decode(orjson.dumps(RECORD))
    assert isinstance(answer, PollAnswer)
    assert answer.items == (FeedItem("https://s/1"),)
    with pytest.raises(PageError):
        decode(orjson.dumps(record))
