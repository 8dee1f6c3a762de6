"""The state directory: it stores sites between runs, and sites that do not fit in memory.

    state/
      lock                    locked by the one process that uses the directory
      state.json              version, and number of pages of all runs
      domains/3f/3f9c….zst    one file per site: version, then zstd of its domain and its records
      spill-…/                sites of the current run; they are moved to domains/ at its end

Rows, `seen` records and first pages have the same bytes as in the job. If a run is killed, the
state of the previous run remains, and the same pages can be processed again.
"""

from __future__ import annotations

import os
import shutil
import struct
import tempfile
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import orjson
import xxhash
import zstandard
from filelock import FileLock, Timeout

STATE_VERSION = 1

_MAGIC = b"urltree\0" + bytes([STATE_VERSION])
_NAME = struct.Struct("<H")  # length of the domain; the domain follows
_ENTRY = struct.Struct("<B16sI")  # kind, id, length of the value; the value follows
_ROW, _SEEN, _FIRST = 0, 1, 2


class StateError(Exception):
    """A state directory that cannot be used; the message names the directory or the file."""


class SiteRecords(NamedTuple):
    """The stored records of one site. The keys of each dictionary are document ids.

    Attributes:
        rows: encoded rows.
        seen: encoded `seen` records.
        first: bytes of first pages.
    """

    rows: dict[bytes, bytes]
    seen: dict[bytes, bytes]
    first: dict[bytes, bytes]


class StateDirectory:
    """The sites on disk.

    Args:
        directory: directory, which is created if it is missing. With None, sites are stored in a
            temporary directory that `close` removes.
        is_member: True if another process of the same run has locked the directory and counts the
            pages.

    Attributes:
        pages: number of pages of all runs.

    Raises:
        StateError: the directory is in use, damaged, or of another version.
    """

    def __init__(self, directory: str | PathLike[str] | None, *, is_member: bool = False) -> None:
        self.pages = 0
        self._directory = None if directory is None else Path(directory)
        self._spill: Path | None = None
        self._lock: FileLock | None = None
        if self._directory is not None and not is_member:
            self._own(self._directory)

    def load(self, domain: str) -> SiteRecords:
        """Return the records of a site; they are empty for a new site.

        Raises:
            StateError: the file is damaged, or has another version.
        """
        for folder in (self._spill, self._directory and self._directory / "domains"):
            path = folder and folder / _file_name(domain)
            if path and path.exists():
                return _read(path, domain)
        return SiteRecords({}, {}, {})

    def domains(self) -> Iterator[str]:
        """Return the domains of the stored sites in the order of their files.

        Raises:
            StateError: a file is damaged, or has another version.
        """
        if self._directory is not None:
            for path in sorted(self._directory.glob("domains/*/*.zst")):
                yield _domain(_content(path))[0]

    def spill(self, domain: str, stored: SiteRecords) -> None:
        """Write a site to the temporary folder; `commit` makes it permanent."""
        if self._spill is None:
            self._spill = Path(tempfile.mkdtemp(prefix="spill-", dir=self._directory))
        path = self._spill / _file_name(domain)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(_encode(domain, stored))

    def commit(self) -> None:
        """Move the written sites to `domains/`, then write the number of pages to `state.json`.

        Each file is replaced atomically. If a run is interrupted between two files, its pages can
        be processed again under the same origins: pages that were already stored are then replays.
        """
        if self._directory is None:
            return
        for path in sorted(self._spill.glob("*/*")) if self._spill else ():
            target = self._directory / "domains" / path.parent.name / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            _replace(path, target)
        if self._lock is not None:
            new = self._directory / "state.json.new"
            new.write_bytes(orjson.dumps({"version": STATE_VERSION, "pages": self.pages}))
            _replace(new, self._directory / "state.json")

    def close(self) -> None:
        """Remove temporary files and unlock the directory."""
        if self._spill is not None:
            shutil.rmtree(self._spill, ignore_errors=True)
            self._spill = None
        if self._lock is not None:
            self._lock.release()

    def _own(self, directory: Path) -> None:
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(directory / "lock")
            self._lock.acquire(blocking=False)
        except Timeout:
            raise StateError(
                f"state directory {directory}: another process uses it; wait until it ends"
            ) from None
        except OSError as error:
            raise StateError(f"state directory {directory}: {error.strerror}") from error
        for left_behind in directory.glob("spill-*"):
            shutil.rmtree(left_behind, ignore_errors=True)
        self.pages = _pages(directory / "state.json")


def _pages(path: Path) -> int:
    if not path.exists():
        return 0
    try:
        record = orjson.loads(path.read_bytes())
        version, pages = record["version"], int(record["pages"])
    except (ValueError, TypeError, KeyError) as error:
        raise StateError(f"state file {path} is damaged: {error}") from error
    if version != STATE_VERSION:
        raise StateError(
            f"state file {path} has version {version}; this release reads version {STATE_VERSION}"
        )
    return pages


def _file_name(domain: str) -> str:
    name = xxhash.xxh3_128_hexdigest(domain.encode())
    return f"{name[:2]}/{name}.zst"


def _encode(domain: str, stored: SiteRecords) -> bytes:
    name = domain.encode()
    parts = [_NAME.pack(len(name)), name]
    for kind, entries in ((_ROW, stored.rows), (_SEEN, stored.seen), (_FIRST, stored.first)):
        for document_id, value in entries.items():
            parts += (_ENTRY.pack(kind, document_id, len(value)), value)
    return _MAGIC + zstandard.ZstdCompressor(write_checksum=True).compress(b"".join(parts))


def _read(path: Path, domain: str) -> SiteRecords:
    content = _content(path)
    try:
        return _decode(content, domain)
    except (struct.error, ValueError) as error:
        raise StateError(f"state file {path} is damaged: {error}") from error


def _content(path: Path) -> bytes:
    content = path.read_bytes()
    if not content.startswith(_MAGIC):
        found = content[len(_MAGIC) - 1 : len(_MAGIC)].hex() or "none"
        raise StateError(
            f"state file {path} is damaged, or its version is {found}; this release reads version "
            f"{STATE_VERSION:02x}"
        )
    try:
        return zstandard.decompress(content[len(_MAGIC) :])
    except zstandard.ZstdError as error:
        raise StateError(f"state file {path} is damaged: {error}") from error


def _domain(content: bytes) -> tuple[str, int]:
    """Return the domain of a file, and the offset of its first entry."""
    (length,) = _NAME.unpack_from(content)
    at = _NAME.size + length
    return content[_NAME.size : at].decode(), at


def _decode(content: bytes, domain: str) -> SiteRecords:
    name, at = _domain(content)
    if name != domain:
        raise ValueError(f"it belongs to {name}, not to {domain}")
    stored = SiteRecords({}, {}, {})
    while at < len(content):
        kind, document_id, length = _ENTRY.unpack_from(content, at)
        at += _ENTRY.size
        stored[kind][document_id] = content[at : at + length]
        at += length
    if at != len(content):
        raise ValueError("it is incomplete")
    return stored


def _replace(path: Path, target: Path) -> None:
    """Replace a file atomically: after a power cut, either the old or the new file is complete."""
    with path.open("rb") as written:
        os.fsync(written.fileno())
    path.replace(target)
    if os.name == "posix":
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
