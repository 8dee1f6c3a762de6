from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urltree.crawl.decisions.response import Trouble, WebError
from urltree.crawl.web.decoding import BodyDecoder

TEXT = b"All of it, " * 200


def raw_deflate(body: bytes) -> bytes:
    """Return deflate data without zlib's header, as some servers send it."""
    return zlib.compress(body, wbits=-zlib.MAX_WBITS)


CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "GZIP ": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "": bytes,
    "identity": bytes,
    "gzip, identity": gzip.compress,
    "utf-8": bytes,
    "none": bytes,
    "UTF-8, x-gzip": gzip.compress,
    ",": bytes,
    "deflate, gzip": lambda body: gzip.compress(zlib.compress(body)),
    "gzip,gzip": lambda body: gzip.compress(gzip.compress(body)),
    "\0": bytes,
}


def decoded(coded: bytes, encoding: str = "gzip", size: int = 7, max_bytes: int = 10_000) -> bytes:
    """Decode a body in chunks of `size` bytes."""
    body = BodyDecoder(encoding, max_bytes)
    for start in range(0, len(coded), size):
        body.feed(coded[start : start + size])
    return body.whole()


def trouble(
    coded: bytes, encoding: str = "gzip", size: int = 7, max_bytes: int = 10_000
) -> Trouble:
    """Decode a body that is invalid, and return the kind of the error."""
    with pytest.raises(WebError) as raised:
        decoded(coded, encoding, size, max_bytes)
    return raised.value.trouble


@pytest.mark.parametrize("encoding", CODINGS)
@pytest.mark.parametrize("size", [1, 2, 7, 100_000])
def test_a_body_is_the_same_however_it_is_cut(encoding: str, size: int) -> None:
    """Decoding does not depend on the chunks, which may end anywhere, even within a checksum."""
    assert decoded(CODINGS[encoding](TEXT), encoding, size) == TEXT


@pytest.mark.parametrize("size", [1, 2, 100_000])
def test_deflate_without_its_head_is_deflate(size: int) -> None:
    """Deflate data without zlib's header is decoded: some servers send it (RFC 9110, 8.4.1.2)."""
    assert decoded(raw_deflate(TEXT), "deflate", size) == TEXT


@pytest.mark.parametrize("encoding", CODINGS)
def test_a_body_without_bytes_is_empty(encoding: str) -> None:
    """A body of zero bytes is valid and empty with every declared encoding."""
    assert decoded(b"", encoding) == b""


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_members_of_gzip_are_one_body_and_garbage_after_them_is_none(size: int) -> None:
    """All members of a gzip body are joined (RFC 1952, 2.2).

    Bytes after the last member are ignored, as in browsers.
    """
    members = gzip.compress(TEXT) + gzip.compress(b"") + gzip.compress(b" and more")
    for garbage in (b"", b"\0", b"\0" * 50, b"\x1f", b"garbage"):
        assert decoded(members + garbage, size=size) == TEXT + b" and more"


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "gzip,gzip"])
def test_every_truncation_is_seen(encoding: str) -> None:
    """A compressed body that is cut at any byte is `truncated`, even in its checksum."""
    coded = CODINGS[encoding](TEXT)
    assert {trouble(coded[:end], encoding, 1_000) for end in range(1, len(coded))} == {
        Trouble.TRUNCATED
    }


def test_a_truncated_second_member_is_seen() -> None:
    """A gzip body with a complete first member and a cut second member is `truncated`."""
    assert trouble(gzip.compress(TEXT) + gzip.compress(TEXT)[:-1]) is Trouble.TRUNCATED


@pytest.mark.parametrize(
    "encoding", ["br", "zstd", "br, gzip", "aes128gcm", "gzip, ZSTD", ", ".join(["gzip"] * 6)]
)
def test_what_was_not_asked_for_is_refused(encoding: str) -> None:
    """A known encoding that was not requested is an error, except without a body, as in a 304."""
    assert trouble(TEXT, encoding) is Trouble.ENCODING
    assert decoded(b"", encoding) == b""


def test_what_only_claims_to_be_compressed_is_refused() -> None:
    """A body that does not match its declared encoding is an error, as in browsers."""
    assert trouble(TEXT) is Trouble.ENCODING
    assert trouble(b"\xff" * 50, "deflate") is Trouble.ENCODING
    assert trouble(gzip.compress(TEXT)[:-8] + bytes(8)) is Trouble.ENCODING


@pytest.mark.parametrize("encoding", CODINGS)
def test_the_limit_is_exact(encoding: str) -> None:
    """The maximum size of a body applies to the number of its bytes after decompression."""
    coded = CODINGS[encoding](TEXT)
    assert decoded(coded, encoding, max_bytes=len(TEXT)) == TEXT
    assert trouble(coded, encoding, max_bytes=len(TEXT) - 1) is Trouble.TOO_LARGE


def beginning(coded: bytes, encoding: str, max_bytes: int, size: int) -> tuple[bytes, bool]:
    """Decode a body in chunks of `size` bytes; return its beginning, and whether it was cut."""
    body = BodyDecoder(encoding, max_bytes, cut=True)
    for start in range(0, len(coded), size):
        body.feed(coded[start : start + size])
    return body.whole(), body.is_cut


@pytest.mark.parametrize("encoding", CODINGS)
@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_a_body_above_the_limit_can_be_cut(encoding: str, size: int) -> None:
    """With `cut`, exactly the first `max_bytes` bytes of a larger body are kept."""
    coded = CODINGS[encoding](TEXT)
    for limit in (0, 1, 100, len(TEXT) - 1):
        assert beginning(coded, encoding, limit, size) == (TEXT[:limit], True)
    for limit in (len(TEXT), len(TEXT) + 1):
        assert beginning(coded, encoding, limit, size) == (TEXT, False)


def test_a_body_that_ends_too_early_is_not_cut() -> None:
    """With `cut`, compressed data that ends too early below the limit is still an error."""
    with pytest.raises(WebError) as raised:
        beginning(gzip.compress(TEXT)[:-5], "gzip", 10_000, 100)
    assert raised.value.trouble is Trouble.TRUNCATED


@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_bomb_of_several_codings_is_bounded(times: int) -> None:
    """Each coding decodes at most `max_bytes` and 64 KiB, whatever the next one makes of it."""
    coded = bytes(100_000_000)
    for _ in range(times):
        coded = gzip.compress(coded, 1)
    encoding = ", ".join(["gzip"] * times)
    tracemalloc.start()
    try:
        assert trouble(coded, encoding, 65_536, 1_000_000) is Trouble.TOO_LARGE
        assert beginning(coded, encoding, 1_000_000, 65_536) == (bytes(1_000_000), True)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000


def test_garbage_without_end_is_too_large() -> None:
    """Bytes after the gzip data count towards the size limit too, so they cannot be endless."""
    assert trouble(gzip.compress(TEXT) + bytes(100_000), size=1_000) is Trouble.TOO_LARGE


def test_empty_members_without_end_are_refused() -> None:
    """More than a thousand gzip members are an error: empty ones cost time and yield no bytes."""
    assert trouble(gzip.compress(b"") * 1_001, size=10_000) is Trouble.ENCODING


@given(st.binary(), st.sampled_from(["gzip", "deflate", "", "deflate, gzip"]), st.integers(1, 50))
def test_any_bytes_are_a_body_or_trouble(coded: bytes, encoding: str, size: int) -> None:
    """Decoding any bytes returns a body or raises a WebError, and no other exception."""
    try:
        assert len(decoded(coded, encoding, size, max_bytes=1_000)) <= 1_000
    except WebError as error:
        assert error.trouble in (Trouble.ENCODING, Trouble.TRUNCATED, Trouble.TOO_LARGE)  # noqa: PT017
