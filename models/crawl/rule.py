"""rules, a compacted input topic: deny rules of the operator, and removals from the queue.

    key    ACTION SCOPE TARGET, such as `deny domain example.org`
           (`urltree.crawl.decisions.rules.rule` lists all forms)
    value  schema, set_at?, note?, and the offsets up to which a removal or a purge applies;
           a null value ends the rule

The key of a deny rule contains everything that workers need. So a deny rule is in force whatever
its value is, even if a later release has written it.
"""

from __future__ import annotations

from msgspec import Struct

from models.record import (
    SCHEMA,
    Count,
    HexId,
    check_fields,
    malformed,
    read_versioned,
    write_fields,
)
from urltree.crawl.decisions.rules.rule import Action, CrawlRule, Extent, RuleKey
from urltree.page import PageError


class RuleValue(Struct):
    """The fields in the value of a record of the topic rules."""

    set_at: float | None = None
    note: str | None = None
    fetches_topic: HexId | None = None
    fetches_before: tuple[Count, ...] | None = None
    feeds_topic: HexId | None = None
    feeds_before: Count | None = None


def encode_key(key: RuleKey) -> bytes:
    """Write the identity of a rule as the key of its record."""
    return str(key).encode()


def encode(rule: CrawlRule) -> bytes:
    """Write a rule as the value of its record."""
    fetches, feeds = rule.fetches, rule.feeds
    return write_fields(
        {
            "schema": SCHEMA,
            "set_at": rule.set_at,
            "note": rule.note,
            "fetches_topic": None if fetches is None else fetches.topic,
            "fetches_before": None if fetches is None else fetches.before,
            "feeds_topic": None if feeds is None else feeds[0],
            "feeds_before": None if feeds is None else feeds[1],
        }
    )


def decode_key(key: bytes | None) -> RuleKey:
    """Read the identity of a rule from the key of its record.

    Raises:
        PageError: `malformed`: the key is not that of a rule.
    """
    try:
        return RuleKey.parse((key or b"").decode())
    except ValueError as error:
        raise malformed(f"key: {(key or b'')[:200]!r} is not a rule: {error}") from None


def decode(key: bytes | None, value: bytes) -> CrawlRule:
    """Read a rule from the key and the value of a record that is not a tombstone.

    Raises:
        PageError: `malformed`; the message names the field. A deny rule is never refused because of
            its value.
    """
    name = decode_key(key)
    try:
        found = check_fields(read_versioned(value), RuleValue)
    except PageError:
        if name.action is Action.DENY:
            return CrawlRule(name)
        raise
    if name.action is not Action.DENY and found.fetches_before is None:
        raise malformed(f"fetches_before: missing, but `{name}` needs it")
    return CrawlRule(
        name,
        set_at=found.set_at,
        note=found.note,
        fetches=None
        if found.fetches_before is None
        else Extent(found.fetches_topic, found.fetches_before),
        feeds=None if found.feeds_before is None else (found.feeds_topic, found.feeds_before),
    )
