"""Records that a consumer could not read, in the place of aiokafka's records."""

from __future__ import annotations

from dataclasses import dataclass, fields

from aiokafka import ConsumerRecord
from faust.types.tuples import ConsumerMessage

from agents.kafka.unreadable import UnreadableMessage
from urltree.page import Reason


@dataclass
class UnreadRecord(ConsumerRecord):
    """A record, or a range of records, that cannot be read. It has no value.

    Attributes:
        reason: `too-large` or `unreadable`.
        text: Explanation for a person.
        offsets: First and last offset of a range, and the offset of the record is the last one.
            None if it stands for one record; its key and headers are known if they are small.
    """

    reason: Reason
    text: str
    offsets: tuple[int, int] | None

    @classmethod
    def of(
        cls, record: ConsumerRecord, reason: Reason, text: str, first: int | None
    ) -> UnreadRecord:
        """Return a record for the range from `first` on, or for the record alone."""
        offsets = None
        if first is not None:
            offsets = first, record.offset
        known = {field.name: getattr(record, field.name) for field in fields(ConsumerRecord)}
        return cls(**known, reason=reason, text=text, offsets=offsets)

    def describe(self) -> str:
        """Return a sentence for a reader that needs every record of the topic."""
        first, last = offsets_of(self)[0], self.offset
        place = f"{first}" if first == last else f"{first} to {last}"
        return f"{self.topic}/{self.partition}: offset {place} cannot be read: {self.text}"


def offsets_of(record: ConsumerRecord) -> range:
    """Return the offsets for which a record stands: its own, or those of a range."""
    first, last = record.offset, record.offset
    if isinstance(record, UnreadRecord) and record.offsets is not None:
        first, last = record.offsets
    return range(first, last + 1)


def unreadable_message(message: ConsumerMessage, record: UnreadRecord) -> UnreadableMessage:
    """Return Faust's message of a record, as one that the stage refuses."""
    refused = UnreadableMessage(
        *(message.topic, message.partition, message.offset, message.timestamp),
        *(message.timestamp_type, message.headers, message.key, message.value, message.checksum),
        *(message.serialized_key_size, message.serialized_value_size, message.tp),
        generation_id=message.generation_id,
    )
    refused.reason, refused.text, refused.offsets = record.reason, record.text, record.offsets
    return refused
