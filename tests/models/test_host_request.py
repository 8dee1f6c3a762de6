"""Tests of records of requests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from models.crawl.host_request import HostRequest, Purpose, decode, encode
from urltree.crawl.decisions.poll.source_options import SourceKind
from urltree.page import PageError, Reason

SCHEMA = orjson.loads((Path(__file__).parents[2] / "models/schemas/requests.json").read_bytes())
RECORD = {"schema": 1, "purpose": "source", "url": "https://a.example/rss"}

words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
some = st.none() | words
requests = st.builds(
    HostRequest,
    purpose=st.sampled_from(Purpose),
    url=words,
    redirects=st.lists(words, max_size=3).map(tuple),
    asked_at=st.floats(0, 4e9),
    expires=st.floats(0, 4e9),
    site=some,
    feed=some,
    sequence=st.integers(0, 2**53),
    feed_offset=st.none() | st.integers(0, 2**53),
    kind=st.sampled_from(SourceKind),
    etag=some,
    last_modified=some,
    body_hash=some,
    is_read_again=st.booleans(),
    with_content=st.booleans(),
    with_former=st.booleans(),
    taken_after=st.none() | st.floats(0, 4e9),
    permanent_to=some,
    seconds=st.floats(0, 100),
    status=st.none() | st.integers(200, 599),
    body=st.none() | words,
    message=some,
)


@settings(deadline=None)
@given(requests)
def test_a_request_survives_the_wire(request: HostRequest) -> None:
    """Encoding and decoding gives the same request; the last redirect is requested next."""
    assert decode(encode(request)) == request
    assert request.target == (request.redirects or (request.url,))[-1]


def test_the_schema_has_every_field_and_purpose() -> None:
    """The schema has exactly the fields of a request, and lists all purposes."""
    assert set(SCHEMA["properties"]) == {"schema", *HostRequest.__slots__}
    assert SCHEMA["properties"]["purpose"]["enum"] == list(Purpose)
    Draft202012Validator(SCHEMA).validate(RECORD)
    assert decode(orjson.dumps(RECORD)).kind is SourceKind.FEED


@pytest.mark.parametrize(
    "fields",
    [{"schema": 9}, {"purpose": "fun"}, {"url": ""}, {"url": None}, {"sequence": -1}],
)
def test_values_that_the_schema_refuses_are_malformed(fields: dict[str, Any]) -> None:
    """The reader and the schema refuse the same values; the sender then asks again."""
    record = RECORD | fields
    assert not Draft202012Validator(SCHEMA).is_valid(record)
    with pytest.raises(PageError) as caught:
        decode(orjson.dumps(record))
    assert caught.value.reason is Reason.MALFORMED
