"""The command `forget`, with which an operator deletes documents of a domain.

Only the worker that owns the partition of a row can delete the row, because a copy of the row is on
this worker's disk. Therefore a command is a record of raw-html, keyed by domain like a page, with
the header `urltree-command: forget`. `normalize` carries out the command and sends it to `extract`
through the topic documents. A command applies only to pages that were published before it.

A second copy of the command goes to the topic requests, so that `fetch` deletes what it remembers
of the pages: their validators, and the counts by which it recognises walls.

Normalize and extract store a marker for the command (`Marker`). So a page that is read again later,
after a `reset` or from a dead letter, is recognised as forgotten before anything of it is
published.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import zip_longest

from models.headers.names import COMMAND, Headers, header
from models.origin import Origin
from models.record import SCHEMA, Count, HexId, NonEmpty, check_fields, read_versioned, write_fields

FORGET = "forget"


@dataclass(frozen=True, slots=True)
class Forget:
    """The command to delete the rows and the clean text of documents of a domain.

    Attributes:
        domain: registrable domain.
        ids: ids of the documents, 32 hexadecimal digits each; None for all documents.
        topic: Kafka's id of the topic raw-html; None if it is unknown.
        before: for each partition of raw-html, the offset that its next record had when the command
            was given. None if no marker is to be stored: in commands of earlier releases, and for
            the page of a round trip.
        urls: addresses of the documents, as they were typed and as they were fetched; None for all
            documents, and in commands of earlier releases. Only `fetch` reads them.
    """

    domain: NonEmpty
    ids: tuple[HexId, ...] | None = None
    topic: HexId | None = None
    before: tuple[Count, ...] | None = None
    urls: tuple[str, ...] | None = None

    def encode(self) -> bytes:
        """Write the command as the value of a record, whose key is the domain."""
        return write_fields({"schema": SCHEMA, **asdict(self)})

    @classmethod
    def decode(cls, value: bytes | None) -> Forget:
        """Read a command from the value of a record.

        Raises:
            PageError: `malformed`: the value is not a command.
        """
        return check_fields(read_versioned(value), cls)


@dataclass(frozen=True, slots=True)
class Marker:
    """The stored record of a command, in a table of each stage.

    Its key is the domain, NUL, and the id of the document; without an id it covers the domain.

    Attributes:
        topic: Kafka's id of the topic raw-html. If the topic was created anew, the marker is void.
        before: for each partition of raw-html, the offset before which pages are forgotten.
        at: offset before which records of the stage's input are forgotten if their origin is not in
            raw-html, because they were restored from a dump of another prefix.
    """

    topic: HexId | None
    before: tuple[Count, ...]
    at: Count

    def encode(self) -> bytes:
        """Return the bytes to store."""
        return write_fields({"schema": SCHEMA, **asdict(self)})

    @classmethod
    def decode(cls, value: bytes) -> Marker:
        """Return the marker that `encode` has encoded.

        Raises:
            PageError: `malformed`: the bytes are not a marker.
        """
        return check_fields({"topic": None, **read_versioned(value)}, cls)

    def covers(self, raw_html: str, origin: str, offset: int | None = None) -> bool:
        """Return whether a page was published before the command.

        Args:
            raw_html: name of the topic raw-html, with prefix.
            origin: origin of the page.
            offset: offset of its record in the stage's input; None if there is no such record.
        """
        try:
            topic, partition, first = Origin.parse(origin)
        except ValueError:
            topic = ""
        if topic != raw_html:
            return offset is not None and offset < self.at
        return partition < len(self.before) and first < self.before[partition]

    def joined(self, former: Marker | None) -> Marker:
        """Return a marker that covers what this one and a former one of the same key cover."""
        if former is None or former.topic != self.topic:
            return self
        ends = zip_longest(self.before, former.before, fillvalue=0)
        return Marker(self.topic, tuple(max(pair) for pair in ends), max(self.at, former.at))


def is_command(headers: Headers | None) -> bool:
    """Return whether a record is a command instead of a page or document."""
    return header(headers, COMMAND) is not None
