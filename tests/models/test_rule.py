"""Records of the topic rules: their pinned bytes, and what is refused."""

from __future__ import annotations

import pytest

from models.crawl import rule as records
from urltree.crawl.decisions.rules.rule import CrawlRule, Extent, RuleKey
from urltree.page import PageError

DENY = CrawlRule(RuleKey.parse("deny domain example.org"), set_at=1.5, note="mail of 3 May")
PURGE = CrawlRule(RuleKey.parse("purge all -"), set_at=2.0, fetches=Extent("f" * 32, (1, 0)))
REMOVE = CrawlRule(
    RuleKey.parse("remove feed example.org https://example.org/feed"),
    set_at=3.0,
    fetches=Extent(None, (1,)),
    feeds=("e" * 32, 7),
)


@pytest.mark.parametrize(
    ("rule", "key", "value"),
    [
        (
            DENY,
            b"deny domain example.org",
            b'{"schema":1,"set_at":1.5,"note":"mail of 3 May"}',
        ),
        (
            PURGE,
            b"purge all -",
            b'{"schema":1,"set_at":2.0,"fetches_topic":"'
            + b"f" * 32
            + b'","fetches_before":[1,0]}',
        ),
        (
            REMOVE,
            b"remove feed example.org https://example.org/feed",
            b'{"schema":1,"set_at":3.0,"fetches_before":[1],"feeds_topic":"'
            + b"e" * 32
            + b'","feeds_before":7}',
        ),
    ],
)
def test_a_rule_is_stored_in_these_bytes(rule: CrawlRule, key: bytes, value: bytes) -> None:
    """The bytes of each kind of rule are pinned, and are read again as the same rule."""
    assert (records.encode_key(rule.key), records.encode(rule)) == (key, value)
    assert records.decode(key, value) == rule


@pytest.mark.parametrize("value", [b"", b"{", b"[]", b'{"schema":2,"until":5}', b'{"set_at":"x"}'])
def test_a_deny_rule_is_in_force_whatever_its_value_is(value: bytes) -> None:
    """The key alone denies: a value that cannot be read must not silently allow requests."""
    assert records.decode(b"deny host example.org", value) == CrawlRule(
        RuleKey.parse("deny host example.org")
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, b'{"schema":1}'),
        (b"\xff", b'{"schema":1}'),
        (b"deny everything", b'{"schema":1}'),
        (b"purge all -", b'{"schema":1}'),
        (b"purge all -", b'{"schema":2,"fetches_before":[1]}'),
        (b"purge all -", b'{"schema":1,"fetches_before":[-1]}'),
    ],
)
def test_a_record_that_is_no_rule_is_refused(key: bytes | None, value: bytes) -> None:
    """A key that is not that of a rule, or a purge without its offsets, is malformed."""
    with pytest.raises(PageError):
        records.decode(key, value)
