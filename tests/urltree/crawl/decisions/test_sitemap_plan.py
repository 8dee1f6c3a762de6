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
    ChildState,
    FirstLook,
    choose_children,
    first_look,
)
from urltree.crawl.decisions.timing import DAY, HOUR

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


@pytest.mark.parametrize(
    "pages",
    [
        [item(at) for at in range(30)],
        [*(item(at, 0.001) for at in range(30)), *old_pages(29)],
        [*(item(at) for at in range(30)), *(item(f"d{at}", at) for at in range(30))],
    ],
    ids=["no dates", "dates of one run of a program", "half without dates"],
)
def test_dates_that_say_nothing_are_not_used(pages: list[FeedItem]) -> None:
    """All pages of the first look count as seen, and later ones are new whatever their date is."""
    taken, memory = first_look(pages, NOW)
    assert taken == ()
    assert memory.find_new(pages) == ()
    assert names(memory.find_new([item("a", 100), item("b")])) == ["a", "b"]


def test_dates_of_publication_are_believed() -> None:
    """A news sitemap whose pages were all published within an hour is taken at the first look."""
    pages = [item(at, 0.5 + at / 1_000, published=True) for at in range(30)]
    taken, _ = first_look(pages, NOW)
    assert len(taken) == 30


def test_few_pages_may_have_one_date() -> None:
    """A small site that has published all of its 19 pages in an hour has meaningful dates."""
    taken, _ = first_look([item(at, 0.1) for at in range(19)], NOW)
    assert len(taken) == 19


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


def test_the_stored_digests_stay_the_same() -> None:
    """The digests are stored, so a later release must compute the same ones."""
    assert KnownAddresses.of(["https://news.example/a"]).packed.hex() == "093cfe1e7a"


def child(name: object, days: float | None = None) -> SitemapChild:
    """Return a child of an index that changed this many days ago."""
    modified = None if days is None else NOW - days * DAY
    return SitemapChild(url=f"https://news.example/{name}.xml", modified=modified)


def state(of: SitemapChild, asked: float, found: float | None = None) -> dict[str, ChildState]:
    """Return the state of a child that was requested and had new pages so many days ago."""
    found_at = None if found is None else NOW - found * DAY
    return {of.url: ChildState(modified=of.modified, asked_at=NOW - asked * DAY, found_at=found_at)}


SEEN_BEFORE = NOW - 2 * DAY


def test_only_children_that_changed_are_requested() -> None:
    """An unknown child is requested if it changed recently, others if their `lastmod` differs."""
    recent, old, same, changed = child(1, 1), child(2, 30), child(3, 0.2), child(4, 0.1)
    states = state(same, 0.1) | state(child(4, 5), 4)
    assert choose_children([old, recent, same, changed], states, SEEN_BEFORE) == (changed, recent)


def test_a_day_as_date_is_not_over_before_the_day_is() -> None:
    """A child with a date without time is requested until its last request was after that day."""
    day = SitemapChild(url="https://news.example/1.xml", modified=NOW // DAY * DAY)
    asked_today = {day.url: ChildState(modified=day.modified, asked_at=NOW - HOUR)}
    asked_tomorrow = {day.url: ChildState(modified=day.modified, asked_at=NOW + DAY)}
    assert choose_children([day], asked_today, SEEN_BEFORE) == (day,)
    assert choose_children([day], asked_tomorrow, SEEN_BEFORE) == ()


def test_children_that_changed_are_requested_in_portions() -> None:
    """If too many children changed, the latest are requested first, and the rest next time."""
    children = [child(at, at / 100) for at in range(15)]
    first = choose_children(children, {}, SEEN_BEFORE, at_once=10)
    assert first == tuple(children[:10])
    states = {name: known for each in first for name, known in state(each, 0).items()}
    assert choose_children(children, states, SEEN_BEFORE, at_once=10) == tuple(children[10:])


@pytest.mark.parametrize("days", [None, 0.001], ids=["no dates", "equal dates"])
def test_children_without_meaningful_dates_are_requested_in_turn(days: float | None) -> None:
    """Each poll requests five of 30 children, from the end of the index; after six polls, all."""
    children = [child(at, days) for at in range(30)]
    states: dict[str, ChildState] = {}
    asked = []
    for poll in range(6):
        chosen = choose_children(children, states, SEEN_BEFORE)
        asked += [each.url for each in chosen]
        for each in chosen:
            states |= state(each, 6 - poll)
    assert asked[0] == children[-1].url
    assert len(asked) == len(set(asked)) == 30


def test_a_child_with_new_pages_is_requested_at_each_poll() -> None:
    """Two of the five requests are for the children that had new pages most recently."""
    children = [child(at) for at in range(30)]
    states = {name: known for at in range(30) for name, known in state(child(at), at).items()}
    states |= (
        state(child(3), 0.1, found=0.1) | state(child(4), 0.1, found=9) | state(child(5), 0, 5)
    )
    chosen = choose_children(children, states, SEEN_BEFORE)
    assert names(tuple(FeedItem(each.url) for each in chosen[:2])) == ["3.xml", "5.xml"]
    assert len(chosen) == 5
