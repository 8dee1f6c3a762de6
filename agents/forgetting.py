"""The command `forget` in the stages: each stage stores a marker and deletes its rows.

forget ──raw-html──▶ normalize ──documents──▶ extract ──clean-text──▶ tombstones, the last
                     marker, rows of `seen`   marker, rows, tree      of them the answer
       ──requests──▶ fetch: rows of `page_validators` and `host_pages`

The markers are in the tables `forgotten_pages` of normalize and `forgotten_documents` of extract.
The names differ, because stages may share a data directory. `reset` keeps these tables, and a
worker restores them before it reads the first record. So a stage that reads a forgotten page again
knows the command before the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from time import monotonic
from typing import Protocol

from faust.types.tuples import Message

from agents.app import App, make_table
from agents.kafka.tables.damage import StoreError
from agents.kafka.tables.table import Confirmed, ConfirmedTable, row_id, row_key, row_prefix
from agents.kafka.topic_ids import topic_id
from agents.settings.job import Settings
from models.command import FORGET, Forget, Marker
from models.headers.names import COMMAND
from models.origin import Origin
from urltree.page import PageError

HEADERS = [(COMMAND, FORGET.encode())]
TABLES = {"normalize": "forgotten_pages", "extract": "forgotten_documents"}

_SECONDS = 10.0  # longest use of the id of raw-html before the brokers are asked again


class Scannable(Protocol):
    """A table that can be scanned by prefix."""

    def scan(self, partition: int, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Return the keys that begin with a prefix, and their values."""


class Forgotten:
    """The markers of a stage, by which it recognises forgotten pages.

    Args:
        app: Faust app of the stage.
        stage: name of the stage.
        settings: settings of the job.
    """

    def __init__(self, app: App, stage: str, settings: Settings) -> None:
        self._table: ConfirmedTable = make_table(app, TABLES[stage])
        self._settings = settings
        self._topic = settings.topic("raw-html")
        self._topic_id: str | None = None
        self._asked: float | None = None

    async def complete(self, forget: Forget, place: Origin) -> Forget:
        """Return the command with offsets of the present topic raw-html.

        Other offsets do not count: the command was restored from a dump.

        Args:
            forget: the command.
            place: place of the command in raw-html.
        """
        if forget.before is None:
            return forget
        self._asked = None
        present = await self._id_of_raw_html()
        before = list(forget.before) if forget.topic == present else []
        before += [0] * (place.partition + 1 - len(before))
        before[place.partition] = max(before[place.partition], place.offset)
        return replace(forget, topic=present, before=tuple(before))

    async def remember(self, forget: Forget, message: Message) -> list[Confirmed]:
        """Store the markers of a command; return futures that Kafka's confirmations complete."""
        if forget.before is None:
            return []
        marker = Marker(forget.topic, forget.before, message.offset)
        sent = []
        for key in marker_keys(forget):
            former = self._table.get(message.partition, key)
            joined = marker.joined(None if former is None else _decode(former))
            sent.append(await self._table.put(message.partition, key, joined.encode()))
        return sent

    async def covers(
        self, message: Message, origin: str, domain: str, ids: Iterable[str] = ()
    ) -> bool:
        """Return whether a page is forgotten: it was published before a command that names it.

        Args:
            message: record of the page or document.
            origin: origin of the page.
            domain: domain of the page.
            ids: ids of the page's document; the first key scheme and former ones may differ.
        """
        keys = (row_prefix(domain), *(row_key(domain, bytes.fromhex(name)) for name in ids))
        for key in keys:
            stored = self._table.get(message.partition, key)
            if stored is not None:
                marker = _decode(stored)
                if marker.covers(self._topic, origin, message.offset) and await self._counts(
                    marker
                ):
                    return True
        return False

    async def of_rows(
        self, partition: int, domain: str, rows: Iterable[tuple[bytes, str]]
    ) -> list[bytes]:
        """Return the keys of those rows of a domain whose pages are forgotten.

        Such rows come from a dump that is older than the command.

        Args:
            partition: partition of the domain.
            domain: domain of the rows.
            rows: key of each row, and origin of its page; not read if the domain has no markers.
        """
        start = row_prefix(domain)
        markers = {key: _decode(value) for key, value in self._table.scan(partition, start)}
        found = []
        for key, origin in rows if markers else ():
            for marker in filter(None, (markers.get(start), markers.get(key))):
                if marker.covers(self._topic, origin) and await self._counts(marker):
                    found.append(key)
                    break
        return found

    async def _counts(self, marker: Marker) -> bool:
        """Return whether raw-html is still the topic for which the marker was stored."""
        return marker.topic == await self._id_of_raw_html()

    async def _id_of_raw_html(self) -> str | None:
        if self._asked is None or monotonic() - self._asked > _SECONDS:
            self._topic_id = await topic_id(self._settings, "raw-html")
            self._asked = monotonic()
        return self._topic_id


def changelog(stage: str) -> str:
    """Return the name of the topic with the markers of a stage, without prefix."""
    return f"urltree-{stage}-{TABLES[stage]}-changelog"


def keys_to_delete(table: Scannable, partition: int, forget: Forget) -> list[bytes]:
    """Return the keys of the rows that a stage must delete to carry out the command."""
    if forget.ids is None:
        return [key for key, _ in table.scan(partition, row_prefix(forget.domain))]
    return [row_key(forget.domain, bytes.fromhex(name)) for name in forget.ids]


def fetch_keys_to_delete(
    table: Scannable, partition: int, forget: Forget, key_of: Callable[[str], bytes]
) -> list[bytes]:
    """Return the keys of the rows that `fetch` must delete in one of its tables.

    Args:
        table: table `page_validators` or `host_pages`.
        partition: partition of the domain.
        forget: the command.
        key_of: returns the 16 bytes after the domain in the key of the row for an address.
    """
    if forget.ids is None:
        return [key for key, _ in table.scan(partition, row_prefix(forget.domain))]
    return list(dict.fromkeys(row_key(forget.domain, key_of(url)) for url in forget.urls or ()))


def marker_keys(forget: Forget) -> list[bytes]:
    """Return the keys of the markers that a stage stores for the command."""
    if forget.ids is None:
        return [row_prefix(forget.domain)]
    return [row_key(forget.domain, bytes.fromhex(name)) for name in forget.ids]


def range_of(forget: Forget) -> tuple[bytes, bytes]:
    """Return a range of row keys, with its end, that includes all keys that a command names."""
    if forget.ids is None:
        prefix = row_prefix(forget.domain)
        return prefix, prefix[:-1] + b"\1"
    keys = [row_key(forget.domain, bytes.fromhex(name)) for name in forget.ids]
    return min(keys, default=b""), max(keys, default=b"") + b"\0"


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


def _decode(stored: bytes) -> Marker:
    try:
        return Marker.decode(stored)
    except PageError as error:
        raise StoreError(f"a marker of a forgotten page cannot be read: {error}") from None
