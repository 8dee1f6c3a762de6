"""The file format of `state dump`: JSON Lines, compressed with zstd.

    {"urltree_state": 1, "prefix": "", "partitions": 6, "cluster": …, "committed": {…}, …}
    {"topic": "urltree-extract-rows-changelog", "partition": 3, "offset": 17, "key": …, …}
    {"records": 1}

The first line is the header, the last line the number of records. Keys, values and headers of
records are in base64. A file without the last line is incomplete and is refused. zstd adds a
checksum of the whole content.
"""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, BinaryIO, NamedTuple

import msgspec
import orjson
import zstandard

from agents.settings.job import SettingsError

_VERSION = 1
_MARK = "urltree_state"
_LAST = b'{"records":'

# Offsets by stage, by topic without prefix, and by partition (as text, because it is a JSON key).
Committed = dict[str, dict[str, dict[str, int]]]


@dataclass(frozen=True, slots=True)
class DumpHeader:
    """Header of a dump.

    Attributes:
        release: Version of urltree.
        made: Time of the dump, in seconds since 1970.
        cluster: Kafka's id of the cluster. If a restore has the same cluster and prefix, it sets
            the committed offsets to those of the dump.
        prefix: Prefix of the topics.
        partitions: Number of partitions of every topic.
        committed: Committed offsets of each stage, read before any row.
    """

    release: str
    made: float
    cluster: str
    prefix: str
    partitions: int
    committed: Committed = field(default_factory=dict)


class DumpRecord(NamedTuple):
    """Record of a dump.

    The topic has no prefix. The timestamp is in milliseconds; -1 if the record has none.
    """

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    """A line of a dump that contains a record."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


_DECODER = msgspec.json.Decoder(_Line)


class DumpWriter:
    """Writer of a dump; `end` completes the file."""

    def __init__(self, raw: BinaryIO, header: DumpHeader) -> None:
        self._out = zstandard.ZstdCompressor(write_checksum=True).stream_writer(raw, closefd=False)
        self._records = 0
        self._line({_MARK: _VERSION, **asdict(header)})

    def add(self, stored: DumpRecord) -> None:
        """Write a record."""
        packed = stored._replace(
            key=_text(stored.key),
            value=_text(stored.value),
            headers=tuple((name, _text(content)) for name, content in stored.headers),
        )
        self._line(packed._asdict())
        self._records += 1

    def end(self) -> None:
        """Write the last line, which contains the number of records."""
        self._line({"records": self._records})
        self._out.flush(zstandard.FLUSH_FRAME)

    def _line(self, content: dict[str, Any]) -> None:
        self._out.write(orjson.dumps(content, option=orjson.OPT_APPEND_NEWLINE))


class DumpReader:
    """Reader of a dump. Each iteration reads the file from its beginning.

    Args:
        raw: the file; it must be seekable.

    Attributes:
        header: Header of the dump, from the first line of the file.

    Raises:
        SettingsError: The file is not a dump, or its format has another version.
    """

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self.header = _header(next(self._lines(), b""))

    def __iter__(self) -> Iterator[DumpRecord]:
        """Yield the records in order.

        Raises:
            SettingsError: The file is incomplete or damaged.
        """
        lines = self._lines()
        next(lines)
        count = 0
        for line in lines:
            if line.startswith(_LAST):
                if line.strip() != b"%s%d}" % (_LAST, count) or next(lines, None) is not None:
                    raise SettingsError(
                        f"the dump is damaged: after {count} records it has the line "
                        f"{line[:100].decode(errors='replace').strip()}"
                    )
                return
            yield _record(line, count)
            count += 1
        raise SettingsError(
            f"the file ends after {count} records without its last line: the dump is incomplete"
        )

    def _lines(self) -> Iterator[bytes]:
        self._raw.seek(0)
        plain = zstandard.ZstdDecompressor().stream_reader(self._raw, closefd=False)
        try:
            yield from io.BufferedReader(plain)
        except zstandard.ZstdError as error:
            raise SettingsError(f"the dump is damaged and cannot be read: {error}") from None


def _header(line: bytes) -> DumpHeader:
    try:
        fields = orjson.loads(line or b"{}")
        if fields.pop(_MARK, None) == _VERSION:
            return msgspec.convert(fields, DumpHeader)
    except (ValueError, AttributeError, TypeError):
        pass  # not JSON, or not an object; msgspec's error is a ValueError, too
    raise SettingsError(
        f"the file was not written by `state dump`, or its format is not version {_VERSION}"
    )


def _record(line: bytes, count: int) -> DumpRecord:
    """Return the record of a line. msgspec decodes base64."""
    try:
        return DumpRecord(**msgspec.structs.asdict(_DECODER.decode(line)))
    except ValueError as error:
        raise SettingsError(
            f"the dump is damaged: the line after {count} records is not a record: {error}"
        ) from None


def _text(content: bytes | None) -> Any:
    return None if content is None else b64encode(content).decode()
