"""Tests of records of feeds, and of values that are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from agents.commands.feeds.options import OPTION_FIELDS
from models.crawl.feed import Feed, decode, split_key
from urltree.crawl.decisions.poll.source_options import Content, SourceKind, SourceOptions
from urltree.page import MAX_META_BYTES, PageError, Reason

SCHEMA = orjson.loads((Path(__file__).parents[2] / "models/schemas/feeds.json").read_bytes())
KEY = b"example.org https://example.org/rss"

words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
names = words.filter(lambda word: " " not in word)
seconds = st.none() | st.floats(1, 1e6)
options = st.builds(
    SourceOptions,
    kind=st.sampled_from(SourceKind),
    content=st.sampled_from(Content),
    interval_min=seconds,
    interval_max=seconds,
    is_paused=st.booleans(),
    is_only_new=st.booleans(),
    first_poll_max=st.none() | st.integers(0, 9),
    credentials=st.none() | st.just("example.org"),
    are_credentials_for_pages=st.booleans(),
)
feeds = st.builds(
    Feed,
    site=names,
    url=names,
    title=st.none() | words,
    meta=st.dictionaries(words, words, max_size=5),
    options=options,
)


@settings(deadline=None)
@given(feeds)
def test_a_feed_survives_the_wire(feed: Feed) -> None:
    """Encoding and decoding gives the same feed, and the record fits its schema."""
    value = feed.encode()
    assert decode(feed.key, value) == feed
    Draft202012Validator(SCHEMA).validate(orjson.loads(value))


def test_the_schema_has_every_field_that_is_not_in_the_key() -> None:
    """The schema has exactly the fields of a feed that are not in the key."""
    in_key, options = {"site", "url", "options"}, set(OPTION_FIELDS)
    assert set(SCHEMA["properties"]) == {"schema", *Feed.__slots__} - in_key | options


def test_the_bytes_are_pinned() -> None:
    """The bytes must not change, because users write these records with their own programs."""
    feed = Feed(site="example.org", url="https://example.org/rss", title="News", meta={"a": "b"})
    assert feed.key == KEY
    assert feed.encode() == b'{"schema":1,"title":"News","meta":{"a":"b"}}'
    assert Feed(site="s", url="u").encode() == b'{"schema":1}'


@pytest.mark.parametrize(
    "fields",
    [{"schema": 2}, {"schema": None}, {"title": 7}, {"meta": ["a"]}, {"meta": {"a": 1}}],
)
def test_values_that_the_schema_refuses_are_malformed(fields: dict[str, Any]) -> None:
    """The reader and the schema refuse the same values."""
    record = {"schema": 1} | fields
    with pytest.raises(PageError) as caught:
        decode(KEY, orjson.dumps(record))
    assert caught.value.reason is Reason.MALFORMED
    assert not Draft202012Validator(SCHEMA).is_valid(record)


def test_too_many_bytes_of_meta_are_refused_when_the_feed_is_added() -> None:
    """A feed with too much `meta` is refused; otherwise every page of the feed would be refused."""
    fits = {"a": "b" * (MAX_META_BYTES - 1)}
    assert decode(KEY, Feed(site="", url="", meta=fits).encode()).meta == fits
    with pytest.raises(PageError):
        decode(KEY, Feed(site="", url="", meta={"aa": fits["a"]}).encode())


@pytest.mark.parametrize("key", [None, b"", b"example.org", b" a", b"a ", b"a b c", b"\xff a"])
def test_a_key_is_a_site_and_an_address(key: bytes | None) -> None:
    """A key consists of a site and a URL, and any other key is refused."""
    with pytest.raises(PageError) as caught:
        split_key(key)
    assert caught.value.reason is Reason.MALFORMED
