"""Signatures of headers: they prove that this job has written the `urltree-` headers of a record.

Other programs may write to the topics that the stages read. Without a proof, each of them could
name the origin of another page, or send the command `forget`. A signature is an HMAC-SHA-256
(RFC 2104) of these parts, in this order:

    "urltree-headers-1"   topic   key   SHA-256 of the value   name   value   name   value   …

The names and values are those of all headers except the signature. Each part is preceded by its
length in 8 bytes, and null has the length -1. So two different records never have the same parts:
another order, a second header of the same name, or an empty value instead of null is a difference.

A copy of a whole record in the same topic keeps its signature. It has the effect of a replay.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from struct import pack
from typing import NamedTuple

from models.headers.names import PREFIX, SIGNATURE, Headers

SIGNED_TOPICS = ("feeds", "requests", "poll-outcomes", "fetches", "raw-html", "documents")
"""Topics that stages read, without prefix. Headers count in no other topic."""

MIN_KEY = 32
"""Smallest number of characters of a key."""

_FORM = b"urltree-headers-1"


class SignedRecord(NamedTuple):
    """The parts of a record on which its signature depends.

    Attributes:
        topic: name of the topic, with the prefix of the job.
        key, value: key and value of the record.
        headers: all headers of the record.
    """

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers


class Flaw(StrEnum):
    """Reason why the `urltree-` headers of a record are ignored."""

    MISSING = "missing"  # the record has no signature
    WRONG = "wrong"  # no key of the job gives this signature


@dataclass(frozen=True, slots=True)
class HeaderKeys:
    """The keys of a job for its headers.

    Attributes:
        keys: every key that is accepted; the first one signs. Without a key nothing is signed, and
            the `urltree-` headers of every record count.
        unsigned_until: time in seconds since 1970. The headers of records that were written before
            it count without a signature.
    """

    keys: tuple[bytes, ...] = field(default=(), repr=False)
    unsigned_until: float | None = None

    def sign(self, record: SignedRecord) -> list[tuple[str, bytes | None]]:
        """Return the headers of a record and, if one begins with `urltree-`, their signature.

        A former signature is removed.
        """
        headers = _unsigned(record.headers)
        if self.keys and any(_is_ours(name) for name, _ in headers):
            headers.append((SIGNATURE, _signature(self.keys[0], _parts(record))))
        return headers

    def find_flaw(self, record: SignedRecord, written_at: float) -> Flaw | None:
        """Return the reason why the `urltree-` headers of a record do not count, or None.

        Args:
            record: the record, of any type with the attributes of `SignedRecord`.
            written_at: time at which the record was written, in seconds since 1970.
        """
        headers = record.headers or ()
        if not self.keys or not any(_is_ours(name) for name, _ in headers):
            return None
        if self.unsigned_until is not None and written_at < self.unsigned_until:
            return None
        found = [content for name, content in headers if name == SIGNATURE]
        if not found:
            return Flaw.MISSING
        parts = _parts(record)
        is_right = len(found) == 1 and any(
            hmac.compare_digest(found[0] or b"", _signature(key, parts)) for key in self.keys
        )
        return None if is_right else Flaw.WRONG

    def trusted(self, record: SignedRecord, written_at: float) -> Headers:
        """Return the headers of a record that count: without `urltree-` headers that do not.

        The arguments are those of `find_flaw`.
        """
        headers = record.headers or ()
        return headers if self.find_flaw(record, written_at) is None else without_ours(headers)


def without_ours(headers: Headers) -> tuple[tuple[str, bytes | None], ...]:
    """Return the headers whose names do not begin with `urltree-`."""
    return tuple((name, content) for name, content in headers if not _is_ours(name))


def _is_ours(name: str) -> bool:
    return name.startswith(PREFIX)


def _unsigned(headers: Headers) -> list[tuple[str, bytes | None]]:
    return [(name, content) for name, content in headers if name != SIGNATURE]


def _signature(key: bytes, parts: bytes) -> bytes:
    return hmac.digest(key, parts, "sha256").hex().encode()


def _parts(record: SignedRecord) -> bytes:
    """Return the bytes that are signed; different records never give the same bytes."""
    digest = None if record.value is None else sha256(record.value).digest()
    parts: list[bytes | None] = [_FORM, record.topic.encode(), record.key, digest]
    for name, content in _unsigned(record.headers):
        # a name that is not UTF-8 may have been decoded to surrogates
        parts += [name.encode(errors="surrogatepass"), content]
    return b"".join(map(_with_length, parts))


def _with_length(part: bytes | None) -> bytes:
    return pack(">q", -1) if part is None else pack(">q", len(part)) + part
