"""poll-outcomes, an internal topic: what requests have shown about a source, for its owner.

key    registrable domain of the source
value  kind `answer`: a part of the answer to a request (`PollAnswer`)
       kind `report`: what the pages of the source have shown (`PageReport`)

Releases before 0.3 wrote outcomes whose items were already in fetches. These records have schema 1.
Newer ones have schema 2, so that a worker of an older release refuses them: it would store their
items as seen, although nobody has sent them to fetches.
"""

from __future__ import annotations

from dataclasses import fields as fields_of
from typing import Any

from models.record import (
    SCHEMA,
    check_fields,
    malformed,
    read_fields,
    write_fields,
)
from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.poll.answer import PageReport, PollAnswer, SitemapChild
from urltree.crawl.decisions.poll.outcome import PolledItem, PollOutcome

ANSWER_SCHEMA = 2
"""Version of the records of this topic; version 1 is that of releases before 0.3."""

_HASH_BYTES = 16
_OUTCOME = tuple(field.name for field in fields_of(PollOutcome) if field.name != "items")
_ITEM = tuple(field.name for field in fields_of(FeedItem) if field.name != "former_hash")
_ANSWER = ("part", "is_last", "postponed_until", "host_ready_at", "known", "is_undated")
_REPORT = tuple(field.name for field in fields_of(PageReport))


def encode(record: PollAnswer | PageReport) -> bytes:
    """Write the value of a record."""
    if isinstance(record, PageReport):
        fields = {name: getattr(record, name) for name in _REPORT}
        return write_fields({"schema": ANSWER_SCHEMA, "kind": "report", **fields})
    fields = {name: getattr(record.outcome, name) for name in _OUTCOME}
    fields |= {name: getattr(record, name) for name in _ANSWER}
    fields["items"] = [_item_fields(item) for item in record.items]
    fields["children"] = [[child.url, child.modified] for child in record.children]
    return write_fields({"schema": ANSWER_SCHEMA, "kind": "answer", **fields})


def decode(value: bytes | None) -> PollAnswer | PageReport | PollOutcome:
    """Read a record from its value.

    Returns:
        An answer or a report; or the outcome in a record of a release before 0.3, whose items are
        in fetches.

    Raises:
        PageError: `malformed`: the value is not a record of this topic.
    """
    fields = read_fields(value)
    schema = fields.pop("schema", None)
    if schema == SCHEMA:
        return _former_outcome(fields)
    if schema != ANSWER_SCHEMA:
        raise malformed(f"schema: should be {ANSWER_SCHEMA}, is {schema!r:.50}")
    kind = fields.pop("kind", None)
    if kind == "report":
        return check_fields(fields, PageReport)
    if kind != "answer":
        raise malformed(f"kind: should be answer or report, is {kind!r:.50}")
    return _answer(fields)


def _answer(fields: dict[str, Any]) -> PollAnswer:
    items, children = fields.pop("items", None), fields.pop("children", None)
    if not isinstance(items, list) or not isinstance(children, list):
        raise malformed("items and children: should be arrays")
    outcome = check_fields(fields, PollOutcome)
    try:
        found = tuple(_item(item) for item in items)
        named = tuple(
            check_fields({"url": url, "modified": at}, SitemapChild) for url, at in children
        )
    except (TypeError, ValueError, AttributeError):
        raise malformed("items and children: an entry does not follow the schema") from None
    parts = {name: fields[name] for name in _ANSWER if name in fields}
    return check_fields(
        {"outcome": outcome, "items": found, "children": named, **parts}, PollAnswer
    )


def _item_fields(item: FeedItem) -> dict[str, Any]:
    fields = {name: getattr(item, name) for name in _ITEM}
    if item.former_hash is not None:
        fields["former_hash"] = item.former_hash.hex()
    return {name: field for name, field in fields.items() if field is not None}


def _item(fields: dict[str, Any]) -> FeedItem:
    former = fields.pop("former_hash", None)
    item: dict[str, Any] = {name: fields.get(name) for name in _ITEM}
    if not all(isinstance(text, str) for name, text in item.items() if text is not None):
        raise TypeError
    return FeedItem(**item, former_hash=None if former is None else _hash(former))


def _former_outcome(fields: dict[str, Any]) -> PollOutcome:
    if unknown := fields.keys() - {*_OUTCOME, "items"}:
        raise malformed(f"unknown fields: {', '.join(sorted(unknown))[:200]}")
    try:
        fields["items"] = tuple(_polled(*row) for row in fields.get("items", ()))
    except (TypeError, ValueError):
        raise malformed(
            "items: should be arrays of 32 hexadecimal digits, a time or null, and a boolean"
        ) from None
    return check_fields(fields, PollOutcome)


def _polled(name: Any, time: Any, is_new: Any) -> PolledItem:
    if not isinstance(is_new, bool):
        raise TypeError
    return PolledItem(_hash(name), None if time is None else float(time), is_new)


def _hash(text: str) -> bytes:
    found = bytes.fromhex(text)
    if len(found) != _HASH_BYTES:
        raise ValueError
    return found
