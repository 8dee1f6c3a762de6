"""Commands `forget` that were carried out, by which an audit recognises forgotten pages.

A page is forgotten if a command that names it came after it in raw-html. Offsets decide this, so no
clock matters. There are two proofs that a command was carried out:

- A marker of `extract`. It also covers pages that were read again after a `reset`.
- For commands of releases without markers: the tombstones of the page and of the answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import NamedTuple

from aiokafka import AIOKafkaConsumer, ConsumerRecord

from agents.forgetting import answer, changelog, marker_keys
from agents.kafka.client import full_ranges, partitions, read_records
from agents.kafka.tables.table import row_prefix
from agents.kafka.topic_ids import topic_id
from agents.settings.job import Settings
from models.command import Forget, Marker
from models.headers.names import ORIGIN, Headers, header
from models.origin import Origin
from urltree.page import PageError


class MissingPage(NamedTuple):
    """Missing page: its place, its domain, and its document time if it has one."""

    origin: Origin
    domain: str
    time: int | None


class CarriedOut:
    """The commands that were carried out.

    Args:
        raw_html: Name of the topic raw-html, with prefix.
    """

    def __init__(self, raw_html: str) -> None:
        self._raw_html = raw_html
        self._markers: dict[bytes, Marker] = {}
        self._by_answer: defaultdict[bytes, list[tuple[bytes, Marker]]] = defaultdict(list)

    async def read_markers(self, settings: Settings, client: AIOKafkaConsumer) -> None:
        """Read the markers that were stored for the present topic raw-html."""
        present = await topic_id(settings, "raw-html")
        places = await partitions(client, settings.topic(changelog("extract")))
        async for record in read_records(client, await full_ranges(client, places)):
            marker = Marker.decode(record.value)
            if marker.topic == present:
                self._markers[record.key] = marker

    def add(self, record: ConsumerRecord, headers: Headers) -> None:
        """Add a command that was read from raw-html; it counts if it was answered.

        Args:
            record: The command.
            headers: Those of its headers that count.
        """
        try:
            forget = Forget.decode(record.value)
        except PageError:
            return  # an invalid command became a dead letter
        place = Origin(record.topic, record.partition, record.offset)
        key_of_answer = answer(header(headers, ORIGIN) or str(place))
        marker = Marker(None, (*[0] * record.partition, record.offset), 0)
        for key in marker_keys(forget):
            self._by_answer[key].append((key_of_answer, marker))

    def forgot(
        self, page: MissingPage, tombstones: Collection[bytes], document_id: str = ""
    ) -> bool:
        """Return whether a command names the page and came after it.

        Args:
            page: The missing page.
            tombstones: Keys of the tombstones in clean-text.
            document_id: One of the ids that the page may have; empty if it has none.
        """
        prefix = row_prefix(page.domain)
        keys = {prefix, prefix + bytes.fromhex(document_id)}
        proofs = [self._markers[key] for key in keys if key in self._markers]
        if document_id.encode() in tombstones:
            proofs += [m for key in keys for said, m in self._by_answer[key] if said in tombstones]
        return any(marker.covers(self._raw_html, str(page.origin)) for marker in proofs)
