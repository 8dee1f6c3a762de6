"""poll-outcomes: what a poll has found, on its way to the agent that owns the feed's state.

key    site
value  the fields of `urltree.crawl.decisions.poll.outcome.PollOutcome`
"""

from __future__ import annotations

from dataclasses import fields as fields_of
from typing import Any

from models.record import SCHEMA, malformed, read, write
from urltree.crawl.decisions.poll.outcome import PolledItem, PollOutcome, PollResult
from urltree.crawl.decisions.response import Trouble

_HASH_BYTES = 16
_FIELDS = tuple(field.name for field in fields_of(PollOutcome))


def encode(outcome: PollOutcome) -> bytes:
    """The record's value; an item is a row [hash in hex, time, is_new]."""
    fields = {name: getattr(outcome, name) for name in _FIELDS}
    items = [[item.hash.hex(), item.time, item.is_new] for item in outcome.items]
    return write({"schema": SCHEMA, **fields, "items": items})


def decode(value: bytes | None) -> PollOutcome:
    """Read a record.

    Raises:
        PageError: `malformed`: it is no record of this topic.
    """
    fields = read(value)
    try:
        if fields.pop("schema") != SCHEMA:
            raise malformed(f"schema: should be {SCHEMA}")
        trouble = fields.get("trouble")
        fields |= {
            "result": PollResult(fields["result"]),
            "trouble": None if trouble is None else Trouble(trouble),
            "skip_hours": tuple(fields.get("skip_hours", ())),
            "skip_days": tuple(fields.get("skip_days", ())),
            "items": tuple(_item(*row) for row in fields.get("items", ())),
        }
        return PollOutcome(**fields)
    except (KeyError, TypeError, ValueError) as error:
        raise malformed(f"no record of poll-outcomes: {error!r}") from None


def _item(name: Any, time: Any, is_new: Any) -> PolledItem:
    found = bytes.fromhex(name)
    if len(found) != _HASH_BYTES or not isinstance(is_new, bool):
        raise ValueError("items: should be rows of 32 hexadecimal digits, time, is_new")
    return PolledItem(found, None if time is None else float(time), is_new)
