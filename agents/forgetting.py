"""The command `forget` in the stages: each stage deletes its rows; `extract` answers.

forget ──raw-html──▶ normalize ──documents──▶ extract ──clean-text──▶ tombstones, the last
                     rows of `seen`           rows, tree              of them the answer
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from agents.kafka.tables.table import row_id, row_key, row_prefix
from models.command import FORGET, Forget
from models.headers import COMMAND

HEADERS = [(COMMAND, FORGET.encode())]


class Scannable(Protocol):
    """A table that can be scanned by prefix."""

    def scan(self, partition: int, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Return the keys that begin with a prefix, and their values."""


def keys_to_delete(table: Scannable, partition: int, forget: Forget) -> list[bytes]:
    """Return the keys of the rows that a stage must delete to carry out the command."""
    if forget.ids is None:
        return [key for key, _ in table.scan(partition, row_prefix(forget.domain))]
    return [row_key(forget.domain, bytes.fromhex(name)) for name in forget.ids]


def tombstones(deleted: list[bytes], origin: str) -> list[bytes]:
    """Return the keys of the tombstones for clean-text, in order: the documents, then the answer.

    Args:
        deleted: keys of the rows that `extract` deleted.
        origin: origin of the command.
    """
    return [*(row_id(key).hex().encode() for key in deleted), answer(origin)]


def answer(origin: str) -> bytes:
    """Return the key whose tombstone confirms the command; no document has this key."""
    return f"{FORGET}/{origin}".encode()
