"""poll-outcomes, an internal topic: results of polls, for the worker that owns the feed's state.

key    registrable domain of the feed
value  fields of `urltree.crawl.decisions.poll.outcome.PollOutcome`
"""

from __future__ import annotations

from dataclasses import fields as fields_of
from typing import Any

from models.record import SCHEMA, check_fields, malformed, read_versioned, write_fields
from urltree.crawl.decisions.poll.outcome import PolledItem, PollOutcome

_HASH_BYTES = 16
_FIELDS = tuple(field.name for field in fields_of(PollOutcome))


def encode(outcome: PollOutcome) -> bytes:
    """Write the value of a record; each item becomes an array [hash in hex, time, is_new]."""
    fields = {name: getattr(outcome, name) for name in _FIELDS}
    items = [[item.hash.hex(), item.time, item.is_new] for item in outcome.items]
    return write_fields({"schema": SCHEMA, **fields, "items": items})


def decode(value: bytes | None) -> PollOutcome:
    """Read an outcome from the value of a record.

    Raises:
        PageError: `malformed`: the value is not a record of this topic.
    """
    fields = read_versioned(value)
    del fields["schema"]
    if unknown := fields.keys() - set(_FIELDS):
        raise malformed(f"unknown fields: {', '.join(sorted(unknown))[:200]}")
    try:
        fields["items"] = tuple(_item(*row) for row in fields.get("items", ()))
    except (TypeError, ValueError):
        raise malformed(
            "items: should be arrays of 32 hexadecimal digits, a time or null, and a boolean"
        ) from None
    return check_fields(fields, PollOutcome)


def _item(name: Any, time: Any, is_new: Any) -> PolledItem:
    found = bytes.fromhex(name)
    if len(found) != _HASH_BYTES or not isinstance(is_new, bool):
        raise ValueError
    return PolledItem(found, None if time is None else float(time), is_new)
