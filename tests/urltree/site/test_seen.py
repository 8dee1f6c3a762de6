"""`seen` records: their bytes, the step that reveals a duplicate, and the horizon of a site."""

from __future__ import annotations

from dataclasses import replace

import pytest

from urltree.address.url_key import KeyScheme
from urltree.site.deduplication import Step, duplicate_step
from urltree.site.seen import HORIZON, Horizon, Seen, SeenError, Version
from urltree.tree.window import DAY

FIRST = Seen.of("raw-html/3/1042", 1_382_864_400_000_000, "request", "response", "canonical")

SECOND = replace(FIRST, origin="raw-html/3/2000", version=Version(2**64 - 2, FIRST.time + 1))

STORED = (
    "01"  # version
    "00a45535b5e90400"  # time, little-endian
    "45bc31553461524c"  # hash of the request URL
    "2f0363802820d456"  # hash of the response URL
    "533214b93844f303"  # hash of the canonical form
    "7261772d68746d6c2f332f31303432"  # raw-html/3/1042
)
STORED_WITH_VERSION = (
    "02"  # version
    "00a45535b5e90400"  # time of the first copy
    "45bc31553461524c2f0363802820d456533214b93844f303"  # the same hashes
    "feffffffffffffff"  # digest of the content
    "01a45535b5e90400"  # time of this version
    "7261772d68746d6c2f332f32303030"  # raw-html/3/2000
)


def test_stored_bytes_never_change() -> None:
    """The bytes are pinned, because tables outlive every release.

    With `replace` a record also contains the content digest and time of a version.
    """
    assert FIRST.encode().hex() == STORED
    assert SECOND.encode().hex() == STORED_WITH_VERSION


def test_stored_bytes_are_read_back() -> None:
    """A decoded record equals the encoded one, even with a negative time or non-ASCII letters."""
    early = Seen.of("röhre/0/0", -62_135_596_800_000_000, "", "\ud800", "c")
    for seen in (FIRST, SECOND, early):
        assert Seen.decode(seen.encode()) == seen


@pytest.mark.parametrize(
    "stored",
    [b"", b"\x02" + FIRST.encode()[1:], b"\x03" + SECOND.encode()[1:], FIRST.encode()[:20]],
)
def test_bytes_of_another_release_are_an_error_of_ours(stored: bytes) -> None:
    """Bytes that this release cannot read raise SeenError: the page is not at fault."""
    with pytest.raises(SeenError, match="seen record: its version is"):
        Seen.decode(stored)


@pytest.mark.parametrize(
    ("urls", "step"),
    [
        (("request", "response", "canonical"), Step.REQUEST_URL),
        (("request", "x", "x"), Step.REQUEST_URL),
        (("x", "response", "canonical"), Step.RESPONSE_URL),
        (("x", "x", "canonical"), Step.CANONICAL),
        (("x", "x", "x"), Step.RULE),
    ],
)
def test_a_duplicate_counts_under_the_first_step_that_reveals_it(
    urls: tuple[str, str, str], step: Step
) -> None:
    """A duplicate counts under the first step after which the URLs are equal (paper, Figure 2)."""
    assert duplicate_step(FIRST, Seen.of("raw-html/3/2000", 0, *urls)) is step


def test_the_same_origin_again_is_a_replay() -> None:
    """A page with the stored origin is a replay.

    It is forwarded again, because the first delivery may be lost.
    """
    assert duplicate_step(FIRST, Seen.of(FIRST.origin, 0, "x", "x", "x")) is None


@pytest.mark.parametrize(
    ("one", "other", "step"),
    [
        ("http://example.org/a", "http://example.org/a", Step.REQUEST_URL),
        ("http://example.org/%7Ea#x", "http://EXAMPLE.org/~a", Step.CANONICAL),
        ("http://example.org/a?b=1&a=2", "http://example.org/a?a=2&b=1", Step.CANONICAL),
        ("http://example.org/a", "https://example.org/a", Step.RULE),
        ("http://example.org/a?utm_source=x", "http://example.org/a", Step.RULE),
        ("http://abcnews.go.com/s?id=1&a=2", "http://abcnews.go.com/s?id=1", Step.RULE),
    ],
)
def test_steps_follow_from_real_keys(one: str, other: str, step: Step) -> None:
    """Two URLs with the same key become equal at one of the four steps."""
    keys = [KeyScheme().key(url, lambda: None) for url in (one, other)]
    seen = [
        Seen.of(f"raw-html/0/{offset}", 0, url, url, key.canonical)
        for offset, (url, key) in enumerate(zip((one, other), keys, strict=True))
    ]
    assert keys[0].id == keys[1].id
    assert duplicate_step(*seen) is step


def test_the_horizon_is_60_days_of_document_time() -> None:
    """The horizon of a site lies 60 days before its fifth-newest document time."""
    horizon = Horizon([100 * DAY] * 5)
    assert HORIZON == 60 * DAY
    assert not horizon.is_past(40 * DAY)
    assert horizon.is_past(40 * DAY - 1)


def test_four_pages_of_the_future_make_nothing_forgotten() -> None:
    """Four pages dated in the future do not move the horizon past older records; a fifth does."""
    horizon = Horizon([0])
    for _ in range(4):
        horizon.add(9_000 * DAY)
        assert not horizon.is_past(0)
    horizon.add(9_000 * DAY)
    assert horizon.is_past(0)


def test_a_young_domain_forgets_nothing() -> None:
    """A site with only four document times has no horizon, so all of its records remain valid."""
    assert not Horizon([9_000 * DAY] * 4).is_past(0)


def test_the_newest_time_is_known() -> None:
    """`newest_time` returns the newest document time of a site, or 0 if the site has none."""
    horizon = Horizon()
    assert horizon.newest_time() == 0
    for time in (5, 9, 7):
        horizon.add(time)
    assert horizon.newest_time() == 9
