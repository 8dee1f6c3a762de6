"""Input records: their origin, their arrival time, and the copy that a dead letter keeps.

If the job has a key for headers, `Screening` first removes the `urltree-` headers that other
programs have written, so that no decision of a stage depends on them.
"""

from __future__ import annotations

import re

from faust.types.tuples import Message

from agents.kafka.client import written_at
from agents.kafka.delivery import Work
from agents.kafka.partitions import partition_of
from agents.kafka.unreadable import UnreadableMessage
from agents.telemetry.logs import log
from agents.telemetry.metrics import Metrics
from models.dead_letter import Record
from models.headers import names
from models.headers.names import header
from models.headers.signature import HeaderKeys, without_ours
from models.origin import Origin

_MILLISECONDS = re.compile(r"[0-9]{1,15}")


class Screening:
    """Removal of `urltree-` headers that the job has not signed.

    The log names only the first such record of the worker: a producer that sets these headers sets
    them on every record. A counter counts all of them.
    """

    def __init__(self, keys: HeaderKeys, metrics: Metrics) -> None:
        self._keys = keys
        self._counter = metrics.ignored_headers
        self._is_logged = False

    def screen(self, message: Message) -> None:
        """Remove the headers of a record that do not count; its work keeps all of them."""
        flaw = self._keys.find_flaw(message, written_at(message.timestamp_type, message.timestamp))
        if flaw is None:
            return
        message.headers = without_ours(message.headers)
        self._counter.labels(flaw).inc()
        if not self._is_logged:
            self._is_logged = True
            log.warning(
                "ignored urltree- headers that this job has not signed; further ones are only "
                "counted in urltree_ignored_headers_total",
                record=f"{message.topic}/{message.partition}/{message.offset}",
                signature=str(flaw),
            )


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


def original_of(work: Work) -> Record:
    """Return the record as a dead letter keeps it, so that a replay can restore it exactly."""
    return Record(work.message.key, work.message.value, work.headers)


def is_in_place(message: Message, domain: str, partitions: int) -> bool:
    """Return whether a record has its domain as key and is in the partition of this key."""
    key = domain.encode()
    return bool(message.key == key and message.partition == partition_of(key, partitions))
