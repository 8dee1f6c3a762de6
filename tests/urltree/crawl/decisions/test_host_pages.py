"""The last pages of a host are remembered up to a bound, and read as they were stored."""

from __future__ import annotations

import pytest

from urltree.crawl.decisions.host.page.host_pages import (
    MAX_ENDS,
    MAX_ITEMS,
    MAX_TEXTS,
    HostPages,
    HostPagesError,
    PathEnd,
    ShownText,
)
from urltree.crawl.decisions.timing import DAY, HOUR

NOW = 1_700_000_000.0
ROW = (
    "0128b52ffd2049d50100e4027b22656e6473223a5b5b372c5b312c325d2c3137302e305d5d2c227465787438"
    "2c352c747275652c66616c73657d03004bb522aaa12e6002"
)


def text(digest: int, at: float = NOW, *, is_named: bool = True) -> ShownText:
    """Return the text of an address."""
    return ShownText(digest, is_named, is_bare=False, at=at)


def test_an_item_counts_once() -> None:
    """A path counts the items that ended there, however often each of them is fetched."""
    pages = HostPages.empty()
    for item in (1, 2, 1, 1, 2):
        pages.add_end(7, item, NOW)
    assert pages.items_at(7) == 2
    assert pages.items_at(8) == 0


def test_an_address_counts_once_with_its_last_text() -> None:
    """A text counts the addresses that have shown it last."""
    pages = HostPages.empty()
    pages.add_text(1, text(5))
    pages.add_text(2, text(5))
    pages.add_text(2, text(6))
    assert (pages.addresses_with(5), pages.addresses_with(6)) == (1, 1)


def test_an_address_stays_named() -> None:
    """An address that an item names stays so if another item is redirected to it later."""
    pages = HostPages.empty()
    pages.add_text(1, text(5))
    pages.add_text(1, text(5, is_named=False))
    assert pages.is_named(1)
    assert not pages.is_named(2)


def test_the_oldest_is_forgotten() -> None:
    """The number of paths, items and texts is bounded, and the oldest one is forgotten."""
    pages = HostPages.empty()
    for number in range(2 * MAX_TEXTS):
        pages.add_end(number, 1, NOW)
        pages.add_end(0, number, NOW)
        pages.add_text(number, text(number))
    assert (len(pages.ends), len(pages.texts)) == (MAX_ENDS, MAX_TEXTS)
    assert pages.items_at(0) == MAX_ITEMS
    assert pages.items_at(1) == 0
    assert pages.addresses_with(2 * MAX_TEXTS - 1) == 1
    assert len(pages.encode()) < 16 * 1024


def test_a_row_is_read_as_it_was_stored() -> None:
    """The state in a row equals the state that was stored, with its order."""
    pages = HostPages.empty()
    pages.add_end(9, 1, NOW)
    pages.add_end(3, 2, NOW - DAY)
    pages.add_text(2**48 - 1, text(2**48 - 1))
    found = HostPages.decode(pages.encode(), NOW)
    assert found == pages
    assert list(found.ends) == [9, 3]
    assert not found.is_forgotten()


def test_a_row_of_an_older_release_is_read() -> None:
    """The bytes of a row of version 1 are pinned: state in Kafka outlives every release."""
    row = bytes.fromhex(ROW)
    found = HostPages.decode(row, 1_700_000_000.0)
    assert found.ends == {7: PathEnd((1, 2), 1_700_000_000.0)}
    assert found.texts == {8: ShownText(5, is_named=True, is_bare=False, at=1_700_000_000.0)}


def test_expired_and_future_times_are_dropped() -> None:
    """What a row dates long ago or in the future is not read."""
    pages = HostPages.empty()
    pages.add_end(1, 1, NOW - 31 * DAY)
    pages.add_end(2, 1, NOW + 30 * DAY)
    pages.add_text(1, text(5, NOW - 8 * DAY))
    pages.add_text(2, text(5, NOW + 2 * HOUR))
    assert HostPages.decode(pages.encode(), NOW).is_forgotten()


@pytest.mark.parametrize("row", [b"", b"\x02", b"\x01", b"\x01{}", b"\x01" + bytes(100)])
def test_a_damaged_row_is_refused(row: bytes) -> None:
    """A row that cannot be read raises an error that names the table."""
    with pytest.raises(HostPagesError, match="host_pages"):
        HostPages.decode(row, NOW)
