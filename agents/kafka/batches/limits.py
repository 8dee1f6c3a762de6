"""Limits of a record that is read from Kafka. A record beyond them becomes a dead letter.

Kafka's own limit (`max.message.bytes`) concerns the compressed batch. A batch of 1 MB may contain
a record of 1 GB.
"""

from __future__ import annotations

from typing import NamedTuple

MIB = 1024 * 1024

UNPACK_AT_ONCE = MIB
"""Bytes up to which a batch is unpacked as a whole, so that aiokafka's compiled parser reads it."""

SKIPPED_BYTES = 1024 * MIB
"""Largest total size of the records of a batch that are unpacked only to be skipped.

gzip needs about 1 s of CPU time for 1 GiB (measured). The rest of a batch beyond it becomes one
dead letter.
"""


class Limits(NamedTuple):
    """Largest sizes of one record.

    Attributes:
        record: Bytes of the whole record. The producers of workers send no larger record.
        headers: Number of headers. Python needs about 150 bytes of memory for each, Kafka 2.
        labels: Bytes of the key and all headers together. It is the default of Kafka for a whole
            record, and a dead letter has room for as much.
    """

    record: int
    headers: int = 1_000
    labels: int = MIB

    @classmethod
    def of(cls, max_record_bytes: int) -> Limits:
        """Return the limits for a job with this setting."""
        return cls(max_record_bytes + MIB)

    def doubled(self) -> Limits:
        """Return the limits for dead letters, which add to the headers of their record."""
        return Limits(*(2 * limit for limit in self))
