"""Batches of every codec are read in bounded memory; only what nobody can read is refused."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest
from aiokafka.errors import CorruptRecordException
from hypothesis import given
from hypothesis import strategies as st

from agents.kafka.batches.limits import MIB, SKIPPED_BYTES
from agents.kafka.batches.snappy import DamagedError, unpack_snappy
from tests.agents import batches as made
from tests.agents.batches import (
    GZIP,
    LZ4,
    SNAPPY,
    ZSTD,
    Compress,
    Written,
    batch,
    bomb,
    contents,
    packed,
    read,
    refused,
)

FORMS: dict[str, tuple[int, Compress]] = {
    "uncompressed": (0, bytes),
    "gzip": (GZIP, made.gzip.compress),
    "gzip in two members": (GZIP, made.in_members),
    "snappy of Java": (SNAPPY, made.as_java),
    "snappy of librdkafka": (SNAPPY, made.as_librdkafka),
    "lz4": (LZ4, made.lz4_with(block_linked=False, store_size=False)),
    "lz4 with sizes and checksums": (
        LZ4,
        made.lz4_with(block_linked=False, block_checksum=True, content_checksum=True),
    ),
    "lz4 with linked blocks": (LZ4, made.lz4_with(block_linked=True, block_size=4)),
    "zstd of Java": (ZSTD, made.zstd_stream),
    "zstd of librdkafka": (ZSTD, made.zstd_with(level=3)),
    "zstd with its largest window": (ZSTD, made.zstd_window),
    "zstd in two frames": (ZSTD, made.zstd_frames),
}
WORDS = [random.Random(word).randbytes(6).hex() for word in range(500)]


def text(size: int, seed: int) -> bytes:
    """Return a text that can be compressed to about half of its size."""
    words = random.Random(seed).choices(WORDS, k=size // 13 + 1)
    return " ".join(words).encode()[:size]


@pytest.mark.parametrize("size", [40, 40_000, 300_000, 5 * MIB])
@pytest.mark.parametrize("form", FORMS)
def test_records_of_every_producer_are_read(form: str, size: int) -> None:
    """Keys, values, times and headers are read from batches that fit in memory, and from others."""
    codec, compress = FORMS[form]
    headers = [(b"n", b"v"), (b"null", None), (b"\xff\xfe", b"")]
    records = [
        Written(text(size, 1), None),
        Written(None, b"key", headers),
        Written(b"", b""),
        Written(text(size, 2), b"k" * 300, headers[:2]),
    ]
    found = read(batch(records, codec, compress, base=70))
    assert contents(found) == [(record.key, record.value) for record in records]
    assert [record.offset for record in found] == [70, 71, 72, 73]
    assert [record.timestamp for record in found] == [made.TIME + delta for delta in range(4)]
    assert tuple(found[1].headers) == (("n", b"v"), ("null", None), ("??", b""))


@pytest.mark.parametrize("codec", [GZIP, SNAPPY, LZ4, ZSTD])
def test_a_record_beyond_the_limit_is_refused_alone(codec: int) -> None:
    """A record that unpacks to 30 MB loses its value; its key and headers and all others remain."""
    large = Written(30 * MIB, b"large", [(b"urltree-origin", b"raw-html/0/1")])
    data = bomb([Written(b"one"), large, Written(b"two"), large, Written(b"three")], codec)
    found = read(data)
    values = [b"one", None, b"two", None, b"three"]
    assert [record.value for record in found] == values
    assert refused(found) == [(1, "too-large", None), (3, "too-large", None)]
    assert found[1].key == b"large"
    assert found[1].headers == (("urltree-origin", b"raw-html/0/1"),)
    assert str(30 * MIB)[:2] in found[1].problem.text


_IN_PROCESS = """
import resource, sys
from tests.agents.batches import Written, bomb, read, refused
codec, size = int(sys.argv[1]), int(sys.argv[2])
data = bomb([Written(b"before"), Written(size), Written(b"after")], codec)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = read(data)
assert [record.value for record in found] == [b"before", None, b"after"]
assert refused(found) == [(1, "too-large", None)]
print(len(data), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "codec",
    [GZIP, *(pytest.param(codec, marks=pytest.mark.thorough) for codec in (SNAPPY, LZ4, ZSTD))],
)
def test_a_bomb_needs_little_memory(codec: int) -> None:
    """A batch with a record of 950 MB (1 MB with gzip) takes less than 50 MB more memory."""
    out = subprocess.run(
        [sys.executable, "-c", _IN_PROCESS, str(codec), str(950_000_000)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    assert codec != GZIP or int(out[0]) < MIB
    assert int(out[1]) < 50 * 1024  # KiB


@pytest.mark.slow
def test_an_honest_batch_is_read_whatever_its_ratio_is() -> None:
    """20,000 records of 50 KB of zeros, which are 1 GB in 200 KB, are all read, one by one."""
    data = bomb([Written(50_000)] * 20_000, ZSTD)
    count = 0
    reader = made.Batches(data, made.Limits(21 * MIB))
    for record in reader.next_batch():
        assert len(record.value) == 50_000
        count += 1
    assert count == 20_000


@pytest.mark.slow
def test_the_rest_of_a_batch_is_refused_if_too_much_would_be_skipped() -> None:
    """After 1 GiB of too large records, one record stands for all offsets that are left."""
    half = Written(SKIPPED_BYTES // 2)
    data = bomb([Written(b"one"), half, Written(b"two"), half, Written(b"three")], ZSTD, base=10)
    found = read(data + batch([Written(b"next")], base=15))
    assert [record.value for record in found] == [b"one", None, b"two", None, b"next"]
    assert refused(found) == [(11, "too-large", None), (14, "unreadable", 13)]


@pytest.mark.parametrize("form", ["uncompressed", "gzip"])
@pytest.mark.parametrize(
    ("large", "key"),
    [
        (Written(b"v", headers=[(b"n", b"v")] * 1_001), b"example.org"),
        (Written(b"v", headers=[(b"", None)] * 1_000_000), b"example.org"),
        (Written(b"v", headers=[(b"n", bytes(2 * MIB))]), b"example.org"),
        (Written(b"v", key=bytes(2 * MIB)), None),
    ],
)
def test_too_many_or_too_large_headers_refuse_their_record(
    form: str, large: Written, key: bytes | None
) -> None:
    """Such a record is refused without its headers; 1,000 headers are still read."""
    many = Written(b"many", headers=[(b"n", bytes(900))] * 1_000)
    found = read(batch([Written(b"one"), large, many], *FORMS[form]))
    assert contents(found) == [(many.key, b"one"), (key, None), (many.key, b"many")]
    assert refused(found) == [(1, "too-large", None)]
    assert found[1].headers == ()
    assert len(found[2].headers) == 1_000


def test_a_wrong_checksum_refuses_the_batch_as_one_range() -> None:
    """The batches around it are read. The next batch, or else the header, shows the last offset."""
    whole = [batch([Written(b"a"), Written(b"b")], base=base) for base in (4, 6, 8)]
    damaged = whole[1][:-1] + b"?"
    found = read(whole[0] + damaged + whole[2])
    assert [record.offset for record in found] == [4, 5, 7, 8, 9]
    assert refused(found) == [(7, "unreadable", 6)]
    assert refused(read(damaged)) == [(7, "unreadable", 6)]
    assert refused(read(damaged, position=7)) == [(7, "unreadable", 7)]


def test_if_nothing_shows_the_last_offset_only_one_is_given_up() -> None:
    """A header that is damaged itself does not make the consumer skip offsets."""
    whole = bytearray(batch([Written(b"a"), Written(b"b")], base=4))
    whole[25] ^= 1  # in the offset of the last record
    assert refused(read(bytes(whole))) == [(4, "unreadable", 4)]
    assert refused(read(bytes(whole), position=5)) == [(5, "unreadable", 5)]


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_an_unknown_codec_refuses_the_batch(codec: int) -> None:
    """The range contains all offsets of the batch, and the reason names the codec."""
    found = read(packed(codec, b"?", 3, base=8))
    assert refused(found) == [(10, "unreadable", 8)]
    assert f"unknown codec {codec}" in found[0].problem.text


def test_records_before_the_damage_are_read() -> None:
    """A batch that ends before its last record loses only the records that are not there."""
    payload = b"".join(
        part for delta in (0, 1) for part in made.parts_of(delta, Written(b"x" * 50))
    )
    found = read(packed(0, payload, 4, base=5))
    assert [record.offset for record in found] == [5, 6, 8]
    assert refused(found) == [(8, "unreadable", 7)]


def test_offsets_of_a_compacted_batch_have_gaps() -> None:
    """Records that compaction removed are not reported as unreadable."""
    parts = [part for delta in (1, 4) for part in made.parts_of(delta, Written(b"x"))]
    for form in ("uncompressed", "gzip"):
        codec, compress = FORMS[form]
        found = read(packed(codec, compress(b"".join(parts)), 2, base=5, last=6))
        assert [record.offset for record in found] == [6, 9]
        assert not refused(found)


SOURCE = [Written(text(300, 3), headers=[(b"n", b"v")]), Written(text(2_000, 4)), Written(None)]
WHOLE = {name: batch(SOURCE, *form, base=20) for name, form in FORMS.items()}


@given(data=st.data())
def test_damaged_bytes_raise_no_other_error(data: st.DataObject) -> None:
    """Whatever bytes change, each offset is read or refused, and none twice."""
    name = data.draw(st.sampled_from(sorted(FORMS)))
    whole = bytearray(WHOLE[name])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(61, len(whole) - 1))
        whole[at] = data.draw(st.integers(0, 255))
    codec = FORMS[name][0]
    found = read(packed(codec, bytes(whole[61:]), len(SOURCE), base=20))
    offsets = [record.offset for record in found]
    assert offsets == sorted(set(offsets))
    if codec:
        assert not offsets or offsets[0] >= 20
        assert offsets[-1:] == [22]


@given(data=st.binary(max_size=300), head=st.integers(0, 61))
def test_any_bytes_are_read_or_named_damaged(data: bytes, head: int) -> None:
    """A response of any bytes raises only the error that aiokafka itself raises for its framing."""
    try:
        read(WHOLE["gzip"][:head] + data)
    except CorruptRecordException as error:
        assert "bytes" in str(error)  # noqa: PT017 - most examples raise no error


def tagged(*elements: tuple[int, int]) -> bytes:
    """Return copies of snappy with these lengths and distances."""
    return b"".join(
        bytes([(length - 1) << 2 | 2]) + distance.to_bytes(2, "little")
        for length, distance in elements
    )


def size_of(number: int) -> bytes:
    """Return the size at the beginning of a block of snappy."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


@pytest.mark.parametrize("seed", range(3))
def test_large_blocks_of_snappy_are_unpacked_in_parts(seed: int) -> None:
    """Our own unpacking of a block of 5 MB and more equals that of the library."""
    rng = random.Random(seed)
    parts = [
        text(rng.randint(1, 90_000), part) if rng.random() < 0.7 else rng.randbytes(70_000)
        for part in range(160)
    ]
    data = b"".join(parts) + bytes(MIB)
    assert len(data) > 5 * MIB
    chunks = list(unpack_snappy(made.as_librdkafka(data)))
    assert len(chunks) > 10
    assert b"".join(chunks) == data


@pytest.mark.parametrize(
    "block",
    [
        b"",
        b"\xff\xff\xff\xff\xff\xff",
        size_of(5 * MIB) + b"\x00",
        size_of(5 * MIB) + tagged((5, 1)),
        size_of(5 * MIB) + b"\x00x" + tagged((5, 0)),
        size_of(5 * MIB) + b"\x00x" + tagged((5, 2)),
        size_of(5 * MIB) + b"\x00x" + tagged((5, 1)),
        size_of(4_000_000_000) + b"\xf0",
        made.XERIAL + b"\0",
        made.XERIAL + b"\0\0\0\x09\0",
        made.XERIAL + b"\xff\0\0\x09\0",
    ],
)
def test_damaged_snappy_is_named(block: bytes) -> None:
    """A block that states more than it contains allocates no memory for it."""
    with pytest.raises(DamagedError):
        list(unpack_snappy(block))


def test_a_step_of_unpacking_is_small() -> None:
    """While a large record is skipped, control returns to the consumer after each 4 MiB."""
    data = bomb([Written(100 * MIB), Written(b"after")], ZSTD)
    reader = made.Batches(data, made.Limits(21 * MIB))
    steps = 1
    while not reader.is_ready():
        steps += 1
    assert 20 <= steps <= 40
    found = list(reader.next_batch())
    assert [record.value for record in found] == [None, b"after"]
    assert reader.is_ready()
    assert not reader.has_next()
