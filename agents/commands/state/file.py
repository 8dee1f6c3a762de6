"""The file that `state dump` writes: zstd of JSON Lines. A header first, how many records last.

    {"urltree_state": 1, "prefix": "", "partitions": 6, "cluster": …, "committed": {…}, …}
    {"topic": "urltree-extract-rows-changelog", "partition": 3, "offset": 17, "key": …, …}
    {"records": 1}

Keys, values and headers are base64. A file without its last line broke off, and is refused.
"""

from __future__ import annotations

import io
from base64 import b64decode, b64encode
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, BinaryIO, NamedTuple

import orjson
import zstandard

from agents.settings.job import SettingsError

_VERSION = 1
_MARK = "urltree_state"

# Offsets by stage, then topic without prefix, then partition as text: keys of JSON are texts.
Committed = dict[str, dict[str, dict[str, int]]]


@dataclass(frozen=True, slots=True)
class DumpHeader:
    """What the state was made of.

    Attributes:
        release: of urltree.
        made: seconds since 1970.
        cluster: Kafka's own id; with the prefix it says whether a restore goes back to where the
            dump was made.
        partitions: of every topic.
        committed: up to where each stage was done with what it reads, before a row was read.
    """

    release: str
    made: float
    cluster: str
    prefix: str
    partitions: int
    committed: Committed = field(default_factory=dict)


class DumpRecord(NamedTuple):
    """A record; its topic is named without prefix, its timestamp is in ms, -1 for none."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


class DumpWriter:
    """Writes a file of state, front to back; `end` completes it."""

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
        """Write the last line."""
        self._line({"records": self._records})
        self._out.flush(zstandard.FLUSH_FRAME)

    def _line(self, content: dict[str, Any]) -> None:
        self._out.write(orjson.dumps(content, option=orjson.OPT_APPEND_NEWLINE))


class DumpReader:
    """Reads a file of state, front to back.

    Attributes:
        header: its first line.

    Raises:
        SettingsError: it is no such file, or of a newer release.
    """

    def __init__(self, raw: BinaryIO) -> None:
        plain = zstandard.ZstdDecompressor().stream_reader(raw)
        self._lines = _json(io.BufferedReader(plain))
        first = next(self._lines, {})
        if first.pop(_MARK, None) != _VERSION:
            raise SettingsError(f"this is no file of `state dump`, or not of version {_VERSION}")
        self.header = DumpHeader(**first)

    def __iter__(self) -> Iterator[DumpRecord]:
        """The records in order.

        Raises:
            SettingsError: the file broke off, or is damaged.
        """
        count = 0
        for line in self._lines:
            if line.get("records") == count:
                return
            if "topic" not in line:
                break
            yield DumpRecord(**line)._replace(
                key=_bytes(line["key"]),
                value=_bytes(line["value"]),
                headers=tuple((name, _bytes(content)) for name, content in line["headers"]),
            )
            count += 1
        raise SettingsError(f"the file breaks off after {count} records: it is no whole dump")


def _json(lines: io.BufferedReader) -> Iterator[dict[str, Any]]:
    try:
        for line in lines:
            yield orjson.loads(line)
    except (zstandard.ZstdError, ValueError) as error:
        raise SettingsError(f"the file of state cannot be read: {error}") from None


def _text(content: bytes | None) -> Any:
    return None if content is None else b64encode(content).decode()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)
