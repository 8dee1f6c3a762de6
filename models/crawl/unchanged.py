"""unchanged, an output topic: pages that were asked for again and have not changed (status 304).

key    origin of the record of fetches, as topic/partition/offset
value  fields of `Unchanged`
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import fields as fields_of

from models.record import SCHEMA, NonEmpty, check_fields, read_versioned, write_fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchanged:
    """A page that was asked for again and has not changed.

    Attributes:
        url: address of the page in its feed.
        origin: origin of the record of fetches that asked for the page.
        at: time of the answer, in the form of RFC 3339.
    """

    url: NonEmpty
    origin: NonEmpty
    at: str


_FIELDS = tuple(field.name for field in fields_of(Unchanged))


def encode(unchanged: Unchanged) -> bytes:
    """Write the value of a record."""
    return write_fields({"schema": SCHEMA, **{name: getattr(unchanged, name) for name in _FIELDS}})


def decode(value: bytes | None) -> Unchanged:
    """Read a record from its value.

    Raises:
        PageError: `malformed`; the message names the field.
    """
    return check_fields(read_versioned(value), Unchanged)
