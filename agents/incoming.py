"""Input records: their origin, their arrival time, and the copy that a dead letter keeps."""

from __future__ import annotations

import re

from faust.types.tuples import Message

from agents.kafka.partitions import partition_of
from agents.kafka.unreadable import UnreadableMessage
from models import headers as names
from models.dead_letter import Record
from models.headers import header
from models.origin import Origin

_MILLISECONDS = re.compile(r"[0-9]{1,15}")


def origin_of(message: Message) -> str:
    """Return the origin of a record: the value of its header, or else its own place in Kafka.

    The place of a range of records that cannot be read is that of the first of them.
    """
    if isinstance(message, UnreadableMessage) and message.offsets is not None:
        return str(Origin(message.topic, message.partition, message.offsets[0]))
    named = header(message.headers, names.ORIGIN)
    if named is not None:
        try:
            return str(Origin.parse(named))
        except ValueError:
            pass  # a producer's own header of this name, which is not an origin
    return str(Origin(message.topic, message.partition, message.offset))


def arrival_of(message: Message) -> float | None:
    """Return the time at which a page's first copy reached raw-html, if it is known.

    The time is in seconds since 1970.
    """
    named = header(message.headers, names.ARRIVED)
    if named is None or not _MILLISECONDS.fullmatch(named):
        return None
    return int(named) / 1000


def arrived(message: Message) -> list[tuple[str, bytes]]:
    """Return the header with the arrival time; no header if the time is unknown (-1 in Kafka)."""
    at = arrival_of(message) or message.timestamp or 0
    return [(names.ARRIVED, str(round(at * 1000)).encode())] if at > 0 else []


def original_of(message: Message) -> Record:
    """Return the record as a dead letter keeps it, so that a replay can restore it exactly."""
    return Record(message.key, message.value, tuple(message.headers or ()))


def is_in_place(message: Message, domain: str, partitions: int) -> bool:
    """Return whether a record has its domain as key and is in the partition of this key."""
    key = domain.encode()
    return bool(message.key == key and message.partition == partition_of(key, partitions))
