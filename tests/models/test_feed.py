"""feeds: what follows a feed, and what is refused as no such record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from models.feed import Feed, decode, split_key
from urltree.page import MAX_META_BYTES, PageError, Reason

SCHEMA = orjson.loads((Path(__file__).parents[2] / "models/schemas/feeds.json").read_bytes())
KEY = b"example.org https://example.org/rss"

words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
names = words.filter(lambda word: " " not in word)
feeds = st.builds(
    Feed,
    site=names,
    url=names,
    title=st.none() | words,
    meta=st.dictionaries(words, words, max_size=5),
)


@settings(deadline=None)
@given(feeds)
def test_a_feed_survives_the_wire(feed: Feed) -> None:
    """What was encoded is decoded to the same feed, and validates."""
    value = feed.encode()
    assert decode(feed.key, value) == feed
    Draft202012Validator(SCHEMA).validate(orjson.loads(value))


def test_the_schema_has_every_field_that_is_not_in_the_key() -> None:
    """No more, no less."""
    assert set(SCHEMA["properties"]) == {"schema", *Feed.__slots__} - {"site", "url"}


def test_the_bytes_are_pinned() -> None:
    """Users write these records with programs of their own."""
    feed = Feed(site="example.org", url="https://example.org/rss", title="News", meta={"a": "b"})
    assert feed.key == KEY
    assert feed.encode() == b'{"schema":1,"title":"News","meta":{"a":"b"}}'
    assert Feed(site="s", url="u").encode() == b'{"schema":1}'


@pytest.mark.parametrize(
    "fields",
    [{"schema": 2}, {"schema": None}, {"title": 7}, {"meta": ["a"]}, {"meta": {"a": 1}}],
)
def test_what_the_schema_refuses_is_malformed(fields: dict[str, Any]) -> None:
    """Both say so."""
    record = {"schema": 1} | fields
    with pytest.raises(PageError) as caught:
        decode(KEY, orjson.dumps(record))
    assert caught.value.reason is Reason.MALFORMED
    assert not Draft202012Validator(SCHEMA).is_valid(record)


def test_too_much_of_the_users_own_is_refused_when_the_feed_is_added() -> None:
    """Else every page of it would be."""
    fits = {"a": "b" * (MAX_META_BYTES - 1)}
    assert decode(KEY, Feed(site="", url="", meta=fits).encode()).meta == fits
    with pytest.raises(PageError):
        decode(KEY, Feed(site="", url="", meta={"aa": fits["a"]}).encode())


@pytest.mark.parametrize("key", [None, b"", b"example.org", b" a", b"a ", b"a b c", b"\xff a"])
def test_a_key_is_a_site_and_an_address(key: bytes | None) -> None:
    """Anything else names no feed."""
    with pytest.raises(PageError) as caught:
        split_key(key)
    assert caught.value.reason is Reason.MALFORMED
