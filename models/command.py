"""An operator's command to the workers that own a table: it travels with the pages, in their order.

A row can only be deleted by the worker that owns its partition, or its disk would not know. So a
command is a record of raw-html, keyed by domain like a page, with the header
`urltree-command: forget`; `normalize` obeys and passes it on to `extract` through documents.
What it names is forgotten where it stands in that order: pages before it, not pages after it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from models.headers import COMMAND, Headers, header
from models.record import SCHEMA, malformed, read, write

FORGET = "forget"

_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Forget:
    """Forget documents of a domain: delete their rows, and tombstones for their clean text.

    Attributes:
        ids: of documents, 32 hex digits each; None for the whole domain.
    """

    domain: str
    ids: tuple[str, ...] | None = None

    def encode(self) -> bytes:
        """The record's value; its key is the domain."""
        ids = None if self.ids is None else list(self.ids)
        return write({"schema": SCHEMA, "domain": self.domain, "ids": ids})

    @classmethod
    def decode(cls, value: bytes | None) -> Forget:
        """Read a command.

        Raises:
            PageError: `malformed`: it is none.
        """
        record = read(value)
        domain, ids = record.get("domain"), record.get("ids")
        if record.get("schema") != SCHEMA or not isinstance(domain, str) or not domain:
            raise malformed("command: schema and domain should be there")
        if ids is None:
            return cls(domain)
        if not isinstance(ids, list) or not all(
            isinstance(name, str) and _ID.fullmatch(name) for name in ids
        ):
            raise malformed("command: ids should be a list of 32 hexadecimal digits each")
        return cls(domain, tuple(ids))


def is_command(headers: Headers | None) -> bool:
    """Whether a record is a command, not a page."""
    return header(headers, COMMAND) is not None
