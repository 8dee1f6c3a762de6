"""Read and decode files of a corpus, with errors that name the file."""

from __future__ import annotations

import codecs
from contextlib import suppress
from pathlib import Path

import webencodings

from urltree.html.encoding import scrub


class CorpusError(Exception):
    """An error in a corpus; the message names the file and the page or line."""


def read_bytes(file: Path) -> bytes:
    """Return the content of a file. Raises CorpusError if the file cannot be read."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise CorpusError(f"{file}: {error.strerror or error}") from error


def read_text(file: Path, encoding: str) -> str:
    """Decode a file in the encoding that the corpus states; invalid bytes are an error.

    The file is decoded as browsers understand the label of the encoding. If that fails, it is
    decoded as Python understands the label. For example, `iso-8859-1` means windows-1252 to
    browsers; if a byte is undefined in windows-1252, the file is decoded as ISO 8859-1.

    Raises:
        CorpusError: the file cannot be read, the label is unknown, or a byte is invalid.
    """
    return decode_strictly(read_bytes(file), encoding, str(file))


def decode_strictly(data: bytes, encoding: str, where: str) -> str:
    """Decode bytes in a stated encoding, and remove a byte order mark. Raises CorpusError."""
    problem: Exception | None = None
    for codec in _codecs(encoding):
        try:
            return scrub(codec.decode(data, "strict")[0].removeprefix("\ufeff"))
        except UnicodeError as error:
            problem = problem or error
    if problem is None:
        raise CorpusError(f"{where}: unknown encoding {encoding!r}")
    raise CorpusError(f"{where}: cannot be decoded as {encoding}: {problem}")


def _codecs(label: str) -> list[codecs.CodecInfo]:
    found = []
    known = webencodings.lookup(label)
    if known is not None:
        found.append(known.codec_info)
    with suppress(LookupError, ValueError):
        found.append(codecs.lookup(label))
    return found
