"""A record as it came in: which page it is a copy of, since when, what a dead letter keeps."""

from __future__ import annotations

import re

from faust.types.tuples import Message

from agents.kafka.partitions import partition_of
from models import headers as names
from models.dead_letter import Record
from models.headers import header
from models.origin import Origin

_MILLISECONDS = re.compile(r"[0-9]{1,15}")


def origin_of(message: Message) -> str:
    """Where the first copy of a page lies: as its header says, else here."""
    named = header(message.headers, names.ORIGIN)
    if named is not None:
        try:
            return str(Origin.parse(named))
        except ValueError:
            pass  # a user's header of that name, which is no origin
    return str(Origin(message.topic, message.partition, message.offset))


def arrival_of(message: Message) -> float | None:
    """When the first copy of a page came to raw-html, seconds since 1970, if a header says it."""
    named = header(message.headers, names.ARRIVED)
    if named is None or not _MILLISECONDS.fullmatch(named):
        return None
    return int(named) / 1000


def arrived(message: Message) -> list[tuple[str, bytes]]:
    """The header that says so on a page that is sent on; none where Kafka was not told (-1)."""
    at = arrival_of(message) or message.timestamp or 0
    return [(names.ARRIVED, str(round(at * 1000)).encode())] if at > 0 else []


def original_of(message: Message) -> Record:
    """The record, so that a replay can restore it exactly."""
    return Record(message.key, message.value, tuple(message.headers or ()))


def is_in_place(message: Message, domain: str, partitions: int) -> bool:
    """Whether a record has its domain as key and lies in that key's partition."""
    key = domain.encode()
    return bool(message.key == key and message.partition == partition_of(key, partitions))
