"""What is new in a sitemap, and which sitemaps of an index are requested."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.poll.answer import SitemapChild
from urltree.crawl.decisions.source.known_addresses import SIZE, KnownAddresses
from urltree.crawl.decisions.source.sitemap_plan import (
    FIRST_POLL_PAGES,
    MAX_CHILDREN,
    FirstLook,
    first_look,
    first_room,
    newest_children,
)
from urltree.crawl.decisions.timing import DAY

NOW = datetime(2026, 11, 22, 15, 0, 30, tzinfo=UTC).timestamp()


def item(name: object, days: float | None = None, *, published: bool = False) -> FeedItem:
    """Return a page that changed, or was published, this many days ago."""
    date = None
    if days is not None:
        date = datetime.fromtimestamp(NOW - days * DAY, UTC).isoformat(timespec="seconds")
    return FeedItem(
        link=f"https://news.example/{name}",
        published=date if published else None,
        updated=None if published else date,
    )


def names(items: tuple[FeedItem, ...]) -> list[str]:
    """Return the last parts of the addresses."""
    return [found.link.rpartition("/")[2] for found in items]


def old_pages(count: int = 50) -> list[FeedItem]:
    """Return pages of which each is a day older than the one before, from ten days on."""
    return [item(f"old{at}", 10 + at) for at in range(count)]


def test_the_first_look_takes_recent_pages() -> None:
    """Pages of the last two days are taken; all others count as seen, undated ones too."""
    pages = [*old_pages(), item("undated"), item("a", 1.9), item("b", 2.1), item("c", 0.1)]
    taken, memory = first_look(pages, NOW)
    assert names(taken) == ["a", "c"]
    assert [page for page in pages if not memory.is_seen(page)] == list(taken)


def test_the_first_look_takes_a_limited_number_of_pages() -> None:
    """The newest pages are taken up to a limit; the other recent ones count as seen."""
    pages = [*old_pages(), item("a", 0.5), item("b", 0.1), item("c", 0.9)]
    taken, memory = first_look(pages, NOW, most=2)
    assert names(taken) == ["a", "b"]
    assert memory.is_seen(item("c", 0.9))


def test_a_page_that_is_added_later_is_new() -> None:
    """A page that was not in the file is new, with and without a date."""
    _, memory = first_look([*old_pages(), item("undated")], NOW)
    assert names(memory.find_new([item("a", -1), item("b"), item("undated")])) == ["a", "b"]


def test_a_page_that_existed_is_not_new_after_an_edit() -> None:
    """A later `lastmod` makes no page new that was in the file at the first look."""
    _, memory = first_look(old_pages(), NOW)
    assert memory.find_new([item("old3", -5)]) == ()


def test_a_program_that_dates_all_pages_anew_makes_none_of_them_new() -> None:
    """After a change of the site's software, 50 pages have the date of today; one page is new."""
    _, memory = first_look(old_pages(), NOW)
    rewritten = [item(f"old{at}", -1) for at in range(50)]
    assert names(memory.find_new([*rewritten, item("a", -1)])) == ["a"]


def test_old_pages_that_appear_late_count_as_seen_by_their_date() -> None:
    """A page that is dated before the first look is an old one that the file lists only now."""
    _, memory = first_look(old_pages(), NOW)
    assert memory.is_seen(item("archive", 100))
    assert memory.seen_before == NOW - 2 * DAY


def test_dates_that_say_nothing_are_not_used() -> None:
    """All pages of the first look count as seen, and later ones are new whatever their date is."""
    pages = [item(at, 0.1) for at in range(30)]
    taken, memory = first_look(pages, NOW, are_dates_meaningless=True)
    assert taken == ()
    assert memory.find_new(pages) == ()
    assert names(memory.find_new([item("a", 100), item("b")])) == ["a", "b"]


@pytest.mark.parametrize("are_dates_meaningless", [False, True])
def test_pages_that_the_parser_left_out_count_as_seen(*, are_dates_meaningless: bool) -> None:
    """The parser sends only digests of old pages; after an edit, such a page is not new."""
    left_out = KnownAddresses.of(page.link for page in old_pages())
    _, memory = first_look(
        [item("a", 0.1)], NOW, left_out=left_out, are_dates_meaningless=are_dates_meaningless
    )
    rewritten = [item(f"old{at}", -1) for at in range(50)]
    assert names(memory.find_new([*rewritten, item("b", -1)])) == ["b"]


def test_a_file_that_is_new_in_its_index_has_only_new_pages() -> None:
    """Its pages are taken whatever their dates are; those beyond the limit are new later."""
    pages = [item(at) for at in range(5)]
    taken, memory = first_look(pages, NOW, most=3, is_new_file=True)
    assert names(taken) == ["0", "1", "2"]
    assert memory.find_new(pages) == tuple(pages)


@given(st.lists(st.tuples(st.integers(0, 40), st.one_of(st.none(), st.floats(0, 9))), max_size=40))
def test_each_page_of_the_first_look_is_taken_or_seen(rows: list[tuple[int, float | None]]) -> None:
    """No page of the first look is new at the second, except those that were taken."""
    pages = [item(name, days) for name, days in dict(rows).items()]
    taken, memory = first_look(pages, NOW, most=5)
    assert set(memory.find_new(pages)) <= set(taken)
    assert set(taken) <= set(pages)
    assert FirstLook(
        seen_before=memory.seen_before, known=KnownAddresses(memory.known.packed)
    ).find_new(pages) == memory.find_new(pages)


@given(st.sets(st.text(max_size=9)), st.text(max_size=9))
def test_known_addresses_are_a_set(addresses: set[str], other: str) -> None:
    """The packed digests answer as a set does, and take five bytes for each address."""
    known = KnownAddresses(KnownAddresses.of([*addresses, *addresses]).packed)
    assert all(address in known for address in addresses)
    assert (other in known) == (other in addresses)
    assert len(known.packed) == SIZE * len(known) == SIZE * len(addresses)
    assert known | KnownAddresses.of([other]) == KnownAddresses.of({*addresses, other})


def test_the_stored_digests_stay_the_same() -> None:
    """The digests are stored, so a later release must compute the same ones."""
    assert KnownAddresses.of(["https://news.example/a"]).packed.hex() == "093cfe1e7a"


def child(name: object, days: float | None = None) -> SitemapChild:
    """Return a child of an index that changed this many days ago."""
    modified = None if days is None else NOW - days * DAY
    return SitemapChild(url=f"https://news.example/{name}.xml", modified=modified)


def test_the_newest_children_are_followed() -> None:
    """The children that changed last come first, then those without date from the index's end."""
    children = [child(1, 30), child(2), child(3, 0.2), child(4), child(5, 0.1)]
    assert [each.url for each in newest_children(children)] == [
        child(name).url for name in (5, 3, 1, 4, 2)
    ]
    many = [child(at, at) for at in range(2 * MAX_CHILDREN)]
    assert newest_children(many) == many[:MAX_CHILDREN]


def test_all_children_together_take_a_bounded_number_of_pages_at_first() -> None:
    """However many children an index names, their first polls take 1,000 pages, or one each."""
    assert first_room(1) == FIRST_POLL_PAGES
    assert first_room(8) == FIRST_POLL_PAGES // 8
    assert first_room(5_000) == 1
