"""Tests of the signatures of headers: any change of a record breaks them, and keys can rotate."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from models.headers.names import COMMAND, ORIGIN, REKEYED, SIGNATURE
from models.headers.signature import Flaw, HeaderKeys, SignedRecord

KEY, OTHER, THIRD = b"k" * 32, b"o" * 32, b"t" * 32
KEYS = HeaderKeys((KEY,))
NOW = 1_000.0

parts = st.none() | st.binary(max_size=4)
others = st.tuples(st.text(max_size=3), parts)
ours = st.tuples(st.sampled_from([ORIGIN, REKEYED, COMMAND]), parts)
records = st.builds(
    SignedRecord,
    topic=st.sampled_from(["raw-html", "documents", "b-documents"]),
    key=parts,
    value=parts,
    headers=st.lists(others | ours, max_size=4).map(tuple),
)


def signed(record: SignedRecord, keys: HeaderKeys = KEYS) -> SignedRecord:
    """Return the record as a worker with these keys would send it."""
    return record._replace(headers=tuple(keys.sign(record)))


@given(records)
def test_what_was_signed_counts_unchanged(record: SignedRecord) -> None:
    """A signed record has no flaw, and its own headers are unchanged, whatever they are."""
    sent = signed(record)
    assert KEYS.trusted(sent, NOW) == sent.headers
    assert sent.headers[: len(record.headers)] == record.headers
    assert (SIGNATURE in dict(sent.headers)) == bool(
        {ORIGIN, REKEYED, COMMAND} & set(dict(record.headers))
    )


@given(records, records)
def test_a_signature_fits_no_other_record(one: SignedRecord, two: SignedRecord) -> None:
    """The signature of a record does not fit a record that differs in any part.

    So two different records never have the same signed bytes.
    """
    signature = dict(signed(one).headers).get(SIGNATURE)
    assume(one != two and signature is not None)
    assume(any(name.startswith("urltree-") for name, _ in two.headers))
    forged = two._replace(headers=(*two.headers, (SIGNATURE, signature)))
    assert KEYS.find_flaw(forged, NOW) is Flaw.WRONG
    assert not any(name.startswith("urltree-") for name, _ in KEYS.trusted(forged, NOW))


RECORD = SignedRecord("raw-html", b"k", b"<p>", ((ORIGIN, b"raw-html/0/1"), ("url", b"u")))


@pytest.mark.parametrize(
    "change",
    [
        {"topic": "t-raw-html"},
        {"key": b""},
        {"key": None},
        {"value": b"<p>x"},
        {"value": None},
        {"headers": ((ORIGIN, b"raw-html/0/2"), ("url", b"u"))},
        {"headers": ((ORIGIN, b"raw-html/0/1"), ("url", b"v"))},
        {"headers": ((ORIGIN, None), ("url", b"u"))},
        {"headers": ((ORIGIN, b""), ("url", b"u"))},
        {"headers": (("url", b"u"), (ORIGIN, b"raw-html/0/1"))},
        {"headers": (*RECORD.headers, (ORIGIN, b"raw-html/0/1"))},
        {"headers": (*RECORD.headers, (COMMAND, b"forget"))},
        {"headers": ((ORIGIN, b"raw-html/0/1url"), ("", b"u"))},
    ],
)
def test_each_part_is_signed(change: dict[str, object]) -> None:
    """A change of topic, key, value, or of a header of any program, makes the signature wrong."""
    signature = KEYS.sign(RECORD)[-1]
    changed = RECORD._replace(**change)  # type: ignore[arg-type]
    forged = changed._replace(headers=(*changed.headers, signature))
    assert KEYS.find_flaw(forged, NOW) is Flaw.WRONG


@pytest.mark.parametrize("signature", [None, b"", b"\xff", b"0" * 64])
def test_a_signature_that_is_none_is_wrong(signature: bytes | None) -> None:
    """A signature of any other bytes is wrong, and a second one is, too."""
    headers = (*RECORD.headers, (SIGNATURE, signature))
    assert KEYS.find_flaw(RECORD._replace(headers=headers), NOW) is Flaw.WRONG
    twice = (*signed(RECORD).headers, (SIGNATURE, signature))
    assert KEYS.find_flaw(RECORD._replace(headers=twice), NOW) is Flaw.WRONG


def test_headers_of_other_programs_stay() -> None:
    """Without a signature, only the `urltree-` headers are removed, also those unknown so far."""
    forged = RECORD._replace(headers=(*RECORD.headers, ("urltree-later", b""), ("null", None)))
    assert KEYS.find_flaw(forged, NOW) is Flaw.MISSING
    assert KEYS.trusted(forged, NOW) == (("url", b"u"), ("null", None))


def test_a_record_that_is_sent_again_is_signed_again() -> None:
    """A former signature is replaced, and removed if no `urltree-` header is left."""
    again = RECORD._replace(headers=(*signed(RECORD).headers, (REKEYED, b"1")))
    assert [name for name, _ in KEYS.sign(again)] == [ORIGIN, "url", REKEYED, SIGNATURE]
    bare = RECORD._replace(headers=(("url", b"u"), (SIGNATURE, b"0")))
    assert KEYS.sign(bare) == [("url", b"u")]


def test_without_a_key_every_header_counts() -> None:
    """Without a key nothing is signed, and the headers of every producer count."""
    none = HeaderKeys()
    assert none.sign(RECORD) == list(RECORD.headers)
    assert none.trusted(RECORD, NOW) == RECORD.headers


def test_keys_rotate_in_three_steps() -> None:
    """At each step of a rotation, workers before and after the step accept each other's records."""
    steps = [(KEY,), (KEY, OTHER), (OTHER, KEY), (OTHER,)]
    for before, after in pairwise(steps):
        for signs, reads in ((before, after), (after, before)):
            sent = signed(RECORD, HeaderKeys(signs))
            assert HeaderKeys(reads).find_flaw(sent, NOW) is None
    assert HeaderKeys((OTHER, THIRD)).find_flaw(signed(RECORD), NOW) is Flaw.WRONG


@pytest.mark.parametrize(("written_at", "flaw"), [(999.9, None), (1_000.0, Flaw.MISSING)])
def test_an_upgrade_accepts_records_that_are_older(written_at: float, flaw: Flaw | None) -> None:
    """Until the given time, headers without a signature count; afterwards they do not."""
    keys = replace(KEYS, unsigned_until=1_000.0)
    assert keys.find_flaw(RECORD, written_at) is flaw
    assert keys.find_flaw(signed(RECORD), written_at) is None


def test_signatures_are_stable() -> None:
    """The signature of a record never changes: records that are signed now are read later."""
    assert KEYS.sign(RECORD)[-1][1] == (
        b"a27f830d3456e2c0cb5e93b89adb0a93955f1c9d26d7d9d25434a705be77f7ac"
    )
    named = RECORD._replace(headers=((ORIGIN, None), ("\udcff", b"")))
    assert KEYS.sign(named)[-1][1] == (
        b"70719b5f8649b8e9309ea5878421eca68aabd4bfe902a1b2a97de107a90ca836"
    )


def test_keys_are_not_shown() -> None:
    """The keys are not in repr()."""
    assert "kkk" not in repr(KEYS)
