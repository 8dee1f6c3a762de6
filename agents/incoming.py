"""A record as it came in: which page it is a copy of, and what a dead letter keeps of it."""

from __future__ import annotations

from faust.types.tuples import Message

from agents.kafka.partitions import partition_of
from models import headers as names
from models.dead_letter import Record
from models.headers import header
from models.origin import Origin


def origin_of(message: Message) -> str:
    """Where the first copy of a page lies: as its header says, else here."""
    named = header(message.headers, names.ORIGIN)
    if named is not None:
        try:
            return str(Origin.parse(named))
        except ValueError:
            pass  # a user's header of that name, which is no origin
    return str(Origin(message.topic, message.partition, message.offset))


def original_of(message: Message) -> Record:
    """The record, so that a replay can restore it exactly."""
    return Record(message.key, message.value, tuple(message.headers or ()))


def is_in_place(message: Message, domain: str, partitions: int) -> bool:
    """Whether a record has its domain as key and lies in that key's partition."""
    key = domain.encode()
    return bool(message.key == key and message.partition == partition_of(key, partitions))
