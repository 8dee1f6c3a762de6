"""Tests of records of poll-outcomes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from models.poll_outcome import decode, encode
from urltree.crawl.decisions.poll.outcome import PolledItem, PollOutcome, PollResult
from urltree.crawl.decisions.response import Trouble
from urltree.page import PageError, Reason

SCHEMA = orjson.loads(
    (Path(__file__).parents[2] / "models/schemas/poll-outcomes.json").read_bytes()
)
RECORD = {"schema": 1, "site": "s", "feed": "f", "sequence": 1, "at": 2.0, "result": "items"}

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
    items=st.lists(st.builds(PolledItem, hashes, seconds, st.booleans()), max_size=5).map(tuple),
    seconds=st.floats(0, 100),
)


@settings(deadline=None)
@given(outcomes)
def test_an_outcome_survives_the_wire(outcome: PollOutcome) -> None:
    """Encoding and decoding gives the same outcome, and the record fits its schema."""
    value = encode(outcome)
    assert decode(value) == outcome
    Draft202012Validator(SCHEMA).validate(orjson.loads(value))


def test_the_schema_has_every_field_result_and_trouble() -> None:
    """The schema has exactly the fields of an outcome, and lists all results and troubles."""
    assert set(SCHEMA["properties"]) == {"schema", *PollOutcome.__slots__}
    assert SCHEMA["properties"]["result"]["enum"] == list(PollResult)
    assert SCHEMA["properties"]["trouble"]["enum"] == list(Trouble)


@pytest.mark.parametrize(
    "fields",
    [
        {"schema": 2},
        {"result": "lucky"},
        {"trouble": "rain"},
        {"unknown": 1},
        {"items": [["00", None, True]]},
        {"items": [["0" * 32, None, 1]]},
        {"items": [["0" * 32, None]]},
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


@pytest.mark.parametrize("name", ["schema", "site", "feed", "sequence", "at", "result"])
def test_what_every_outcome_has_must_be_there(name: str) -> None:
    """An outcome without one of these fields is refused, because it cannot be applied."""
    record = {key: value for key, value in RECORD.items() if key != name}
    assert decode(orjson.dumps(RECORD)).site == "s"
    with pytest.raises(PageError):
        decode(orjson.dumps(record))
