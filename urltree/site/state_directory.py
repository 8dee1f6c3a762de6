"""A directory in which domains are kept: between runs, and while they do not fit in memory.

    state/
      lock                    held by the one process that writes here
      state.json              version, and how many pages have come in
      domains/3f/3f9c….zst    one file a domain: version, zstd of its name and of what is stored
      spill-…/                domains of the run that goes on, moved to domains/ at its end

Rows, `seen` and first pages are stored as the job stores them, by id. A run that is killed leaves
the state of the run before, so that the same pages can be given again.
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
_NAME = struct.Struct("<H")  # length of the domain's name, which follows
_ENTRY = struct.Struct("<B16sI")  # kind, id, length of the value, which follows
_ROW, _SEEN, _FIRST = 0, 1, 2


class StateError(Exception):
    """A state directory that cannot be used; the message names the file."""


class Stored(NamedTuple):
    """What is stored of a domain, by id: encoded rows, encoded `seen`, packed first pages."""

    rows: dict[bytes, bytes]
    seen: dict[bytes, bytes]
    first: dict[bytes, bytes]


class State:
    """Domains on disk.

    Args:
        directory: made where it is missing; None for a temporary one that is removed at the end.
        is_member: of a run whose owner has locked the directory and counts the pages.

    Attributes:
        pages: how many have come in, over all runs.

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

    def load(self, domain: str) -> Stored:
        """What is stored of a domain, empty where it is new.

        Raises:
            StateError: its file is damaged, or of another version.
        """
        for folder in (self._spill, self._directory and self._directory / "domains"):
            path = folder and folder / _file_name(domain)
            if path and path.exists():
                return _read(path, domain)
        return Stored({}, {}, {})

    def domains(self) -> Iterator[str]:
        """The domains that are in the directory, in the order of their files.

        Raises:
            StateError: a file is damaged, or of another version.
        """
        if self._directory is not None:
            for path in sorted(self._directory.glob("domains/*/*.zst")):
                yield _domain(_content(path))[0]

    def spill(self, domain: str, stored: Stored) -> None:
        """Put a domain on disk; it counts from `commit` on."""
        if self._spill is None:
            self._spill = Path(tempfile.mkdtemp(prefix="spill-", dir=self._directory))
        path = self._spill / _file_name(domain)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(_encode(domain, stored))

    def commit(self) -> None:
        """Move what was spilled to its place, then the number of pages: each file atomically.

        Where this breaks off, the pages of the run can be given again under the same origins:
        what is there already are replays.
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
        """Remove what is temporary and let go of the directory."""
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
            raise StateError(f"state {directory}: another process is using it") from None
        except OSError as error:
            raise StateError(f"state {directory}: {error.strerror}") from error
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
        raise StateError(f"state file {path} is of version {version}, expected {STATE_VERSION}")
    return pages


def _file_name(domain: str) -> str:
    name = xxhash.xxh3_128_hexdigest(domain.encode())
    return f"{name[:2]}/{name}.zst"


def _encode(domain: str, stored: Stored) -> bytes:
    name = domain.encode()
    parts = [_NAME.pack(len(name)), name]
    for kind, entries in ((_ROW, stored.rows), (_SEEN, stored.seen), (_FIRST, stored.first)):
        for document_id, value in entries.items():
            parts += (_ENTRY.pack(kind, document_id, len(value)), value)
    return _MAGIC + zstandard.ZstdCompressor(write_checksum=True).compress(b"".join(parts))


def _read(path: Path, domain: str) -> Stored:
    content = _content(path)
    try:
        return _decode(content, domain)
    except (struct.error, ValueError) as error:
        raise StateError(f"state file {path} is damaged: {error}") from error


def _content(path: Path) -> bytes:
    content = path.read_bytes()
    if not content.startswith(_MAGIC):
        found = content[len(_MAGIC) - 1 : len(_MAGIC)].hex() or "none"
        raise StateError(f"state file {path} is damaged or of another version ({found})")
    try:
        return zstandard.decompress(content[len(_MAGIC) :])
    except zstandard.ZstdError as error:
        raise StateError(f"state file {path} is damaged: {error}") from error


def _domain(content: bytes) -> tuple[str, int]:
    """The domain that a file is of, and where its entries begin."""
    (length,) = _NAME.unpack_from(content)
    at = _NAME.size + length
    return content[_NAME.size : at].decode(), at


def _decode(content: bytes, domain: str) -> Stored:
    name, at = _domain(content)
    if name != domain:
        raise ValueError(f"is of {name}, not of {domain}")
    stored = Stored({}, {}, {})
    while at < len(content):
        kind, document_id, length = _ENTRY.unpack_from(content, at)
        at += _ENTRY.size
        stored[kind][document_id] = content[at : at + length]
        at += length
    if at != len(content):
        raise ValueError("cut short")
    return stored


def _replace(path: Path, target: Path) -> None:
    """Put a file in its place so that after a power cut it is whole: the old one or the new."""
    with path.open("rb") as written:
        os.fsync(written.fileno())
    path.replace(target)
    if os.name == "posix":
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
