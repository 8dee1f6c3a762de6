"""Commands of an operator to the workers that own a table.

Only the worker that owns a row's partition can delete the row, because its disk holds a copy. So
a command is a record of raw-html, keyed by domain like a page, with the header
`urltree-command: forget`. `normalize` obeys it and passes it on to `extract` through documents.
It applies to the pages before it in that order, and not to the pages after it.
"""

from __future__ import annotations

from dataclasses import dataclass

from models.headers import COMMAND, Headers, header
from models.record import SCHEMA, HexId, NonEmpty, check_fields, read_versioned, write_fields

FORGET = "forget"


@dataclass(frozen=True, slots=True)
class Forget:
    """The command to forget documents of a domain: delete their rows and their clean text.

    Attributes:
        domain: registrable domain.
        ids: document ids, 32 hexadecimal digits each; None for the whole domain.
    """

    domain: NonEmpty
    ids: tuple[HexId, ...] | None = None

    def encode(self) -> bytes:
        """Write the value of the record; the key is the domain."""
        ids = None if self.ids is None else list(self.ids)
        return write_fields({"schema": SCHEMA, "domain": self.domain, "ids": ids})

    @classmethod
    def decode(cls, value: bytes | None) -> Forget:
        """Read a command.

        Raises:
            PageError: `malformed`.
        """
        return check_fields(read_versioned(value), cls)


def is_command(headers: Headers | None) -> bool:
    """Tell whether a record is a command, not a page."""
    return header(headers, COMMAND) is not None
