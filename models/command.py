"""The command `forget`, with which an operator deletes documents of a domain.

Only the worker that owns the partition of a row can delete the row, because a copy of the row is on
this worker's disk. Therefore a command is a record of raw-html, keyed by domain like a page, with
the header `urltree-command: forget`. `normalize` carries out the command and sends it to `extract`
through the topic documents. A command applies only to pages that precede it in its partition.
"""

from __future__ import annotations

from dataclasses import dataclass

from models.headers import COMMAND, Headers, header
from models.record import SCHEMA, HexId, NonEmpty, check_fields, read_versioned, write_fields

FORGET = "forget"


@dataclass(frozen=True, slots=True)
class Forget:
    """The command to delete the rows and the clean text of documents of a domain.

    Attributes:
        domain: registrable domain.
        ids: ids of the documents, 32 hexadecimal digits each; None for all documents.
    """

    domain: NonEmpty
    ids: tuple[HexId, ...] | None = None

    def encode(self) -> bytes:
        """Write the command as the value of a record, whose key is the domain."""
        ids = None if self.ids is None else list(self.ids)
        return write_fields({"schema": SCHEMA, "domain": self.domain, "ids": ids})

    @classmethod
    def decode(cls, value: bytes | None) -> Forget:
        """Read a command from the value of a record.

        Raises:
            PageError: `malformed`: the value is not a command.
        """
        return check_fields(read_versioned(value), cls)


def is_command(headers: Headers | None) -> bool:
    """Return whether a record is a command instead of a page or document."""
    return header(headers, COMMAND) is not None
