"""Files of a corpus: read and decoded, or an error that names them."""

from __future__ import annotations

import codecs
from contextlib import suppress
from pathlib import Path

import webencodings

from urltree.html.encoding import scrub


class CorpusError(Exception):
    """The corpus' fault; the message names the file, and the page or the line in it."""


def read_bytes(file: Path) -> bytes:
    """All bytes of a file. Raises CorpusError."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise CorpusError(f"{file}: {error.strerror or error}") from error


def read_text(file: Path, encoding: str) -> str:
    """The text of a file in the encoding that the corpus states, whole or not at all.

    A label means what it means to browsers, else what it means to Python: `iso-8859-1` is
    windows-1252, and itself where a byte has no meaning in that.

    Raises:
        CorpusError: the file cannot be read, the label is unknown, or a byte is none of its.
    """
    return decode_strictly(read_bytes(file), encoding, str(file))


def decode_strictly(data: bytes, encoding: str, where: str) -> str:
    """Bytes in a stated encoding as text, without byte order mark. Raises CorpusError."""
    problem: Exception | None = None
    for codec in _codecs(encoding):
        try:
            return scrub(codec.decode(data, "strict")[0].removeprefix("\ufeff"))
        except UnicodeError as error:
            problem = problem or error
    if problem is None:
        raise CorpusError(f"{where}: no encoding is named {encoding!r}")
    raise CorpusError(f"{where}: is not {encoding}: {problem}")


def _codecs(label: str) -> list[codecs.CodecInfo]:
    found = []
    known = webencodings.lookup(label)
    if known is not None:
        found.append(known.codec_info)
    with suppress(LookupError, ValueError):
        found.append(codecs.lookup(label))
    return found
