"""Open files and standard input; decompress gzip and zstd, which the first bytes show."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import zstandard

STDIN = "-"

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_BUFFER = 1 << 20
_MAX_WINDOW = 1 << 31  # bytes of zstd's window, as with zstd --long=31


class InputError(Exception):
    """The error that is raised if an input cannot be read; the message names the input."""


@contextmanager
def open_decompressed(name: str) -> Iterator[io.BufferedReader]:
    """Open a file or standard input, and decompress it if needed.

    Raises:
        InputError: the input cannot be opened, or is found to be damaged while it is read.
    """
    try:
        raw = sys.stdin.buffer if name == STDIN else Path(name).open("rb")  # noqa: SIM115
        with raw:
            yield _decompressed(cast("io.BufferedReader", raw))
    except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
        problem = getattr(error, "strerror", None) or error
        raise InputError(f"{name}: {problem}") from error


def _decompressed(raw: io.BufferedReader) -> io.BufferedReader:
    head = raw.peek(4)
    if head.startswith(_GZIP):
        return io.BufferedReader(cast("io.RawIOBase", gzip.GzipFile(fileobj=raw)), _BUFFER)
    if head.startswith(_ZSTD):
        reader = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW).stream_reader(
            cast("IO[bytes]", raw), read_across_frames=True
        )
        return io.BufferedReader(cast("io.RawIOBase", reader), _BUFFER)
    return raw
