"""The validators of a page make the next request for it conditional."""

from __future__ import annotations

import pytest

from urltree.crawl.decisions.host.page.validators import (
    MAX_ROW,
    PageValidators,
    ValidatorsError,
    is_unchanged,
    read_validators,
    revisit_headers,
    validators_key,
)
from urltree.crawl.decisions.timing import DAY

NOW = 1_700_000_000.0
ROW = PageValidators(etag='W/"a"', last_modified="Tue, 14 Nov 2023 22:13:20 GMT", at=NOW)


def test_validators_are_sent_back_unchanged() -> None:
    """A request has the validators of the last response, whatever they contain."""
    headers = {"etag": 'W/"a"', "last-modified": "Tue, 14 Nov 2023 22:13:20 GMT"}
    found = read_validators(headers, NOW)
    assert found == ROW
    assert revisit_headers(found, NOW) == {
        "If-None-Match": 'W/"a"',
        "If-Modified-Since": "Tue, 14 Nov 2023 22:13:20 GMT",
    }
    only = read_validators({"etag": "x"}, NOW)
    assert revisit_headers(only, NOW) == {"If-None-Match": "x"}


@pytest.mark.parametrize(
    ("status", "sent", "is_same"),
    [(304, {"If-None-Match": "x"}, True), (304, {}, False), (200, {"If-None-Match": "x"}, False)],
)
def test_a_304_means_unchanged_only_after_a_conditional_request(
    status: int, sent: dict[str, str], is_same: bool
) -> None:
    """A 304 that was not asked for says nothing about the page."""
    assert is_unchanged(status, sent) is is_same


@pytest.mark.parametrize("headers", [{}, {"etag": ""}, {"etag": "x" * MAX_ROW}, {"etag": "\ud800"}])
def test_some_validators_are_not_stored(headers: dict[str, str]) -> None:
    """A response without validators, or with ones that are too long, is not stored."""
    assert read_validators(headers, NOW) is None


@pytest.mark.parametrize(
    ("later", "is_past"), [(0, False), (60 * DAY, False), (60 * DAY + 1, True), (-DAY, True)]
)
def test_a_row_expires(later: float, is_past: bool) -> None:
    """A row is used for 60 days, and not if its time is in the future."""
    assert ROW.is_past(NOW + later) is is_past
    assert (revisit_headers(ROW, NOW + later) == {}) is is_past


def test_the_bytes_of_a_row_stay() -> None:
    """The bytes of a row are pinned: state in Kafka outlives every release."""
    stored = b'\x01["W/\\"a\\"","Tue, 14 Nov 2023 22:13:20 GMT",1700000000.0]'
    assert ROW.encode() == stored
    assert PageValidators.decode(stored) == ROW


def test_the_key_of_a_page_stays() -> None:
    """A fragment does not change the key, which is pinned."""
    key = validators_key("https://news.example/a")
    assert key == validators_key("https://news.example/a#b")
    assert key.hex() == "f83f262048ccc7d167d920b5d476173c"


@pytest.mark.parametrize("row", [b"", b"\x02[]", b"\x01", b"\x01[]", b"\x01[1,null,0]", b"\x01{}"])
def test_a_damaged_row_is_refused(row: bytes) -> None:
    """A row that cannot be read raises an error that names the table."""
    with pytest.raises(ValidatorsError, match="page_validators"):
        PageValidators.decode(row)
