"""Which items of a poll are new to their site, and what a poll teaches about a feed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.followed_site import SITE, FollowedSite
from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.poll.identity import link_key
from urltree.crawl.decisions.poll.item_decision import ItemRules, needs_former
from urltree.crawl.decisions.poll.seen_items import SeenItemRow, dropped_row
from urltree.crawl.decisions.poll.source_options import SourceKind, SourceOptions

DAY = 86_400.0
WORDS = (
    "amber", "basil", "cedar", "daisy", "ebony", "fennel",
    "grape", "hazel", "iris", "jade", "kale", "lotus",
)  # fmt: skip


def item(name: str, **fields: Any) -> FeedItem:
    """Return an item whose link, title and description contain a name."""
    found = {
        "link": f"https://{SITE}/{name}",
        "title": f"About {name}",
        "description": f"All of {name}",
    }
    return FeedItem(**{**found, **fields})


def link(name: str) -> str:
    """Return the link of an item."""
    return f"https://{SITE}/{name}"


def test_new_items_are_sent_once_and_oldest_first() -> None:
    """An item is new at its first poll alone; the last item of a feed is the oldest."""
    site = FollowedSite()
    assert site.poll([item("b"), item("a")]) == [link("a"), link("b")]
    assert site.poll([item("c"), item("b"), item("a")]) == [link("c")]


def test_a_link_is_known_without_its_noise() -> None:
    """Campaigns, sessions of servers, the scheme and a fragment do not make a link another one."""
    site = FollowedSite()
    site.poll([item("a")])
    spellings = [
        f"http://{SITE}/a",
        f"https://{SITE}/a;jsessionid=0A1B",
        f"https://{SITE}/a?utm_source=rss&fbclid=1",
        f"https://{SITE}/a#xtor=RSS-16",
    ]
    for spelling in spellings:
        assert site.poll([item("a", link=spelling)], "other") == []
    assert site.poll([item("a", link=f"https://{SITE}/a?page=2", title="Page two")], "other") != []


def test_one_article_in_five_feeds_is_fetched_once() -> None:
    """The site has shown the link, so no other feed of the site asks for it."""
    site = FollowedSite()
    for number in range(5):
        variant = item("a", title=f"Feed {number}: a", description=None, guid=str(number))
        site.poll([variant], f"feed{number}")
    assert site.asked == [link("a")]


def test_two_feeds_with_equal_numeric_guids_lose_nothing() -> None:
    """A number is the guid of an item only within its feed."""
    site = FollowedSite()
    site.poll([item(f"news/{name}", guid=str(n)) for n, name in enumerate(WORDS)], "news")
    site.poll([item(f"blog/{name}", guid=str(n)) for n, name in enumerate(WORDS)], "blog")
    assert len(set(site.asked)) == 2 * len(WORDS)


@pytest.mark.parametrize("guid", [f"https://{SITE}/?p=7", f"tag:blog.{SITE},2026:7"])
def test_an_id_of_the_sites_own_domain_counts_across_feeds(guid: str) -> None:
    """A URI of the site's domain names one item in all feeds; a URI of another domain does not."""
    site = FollowedSite()
    others = [item("x"), item("y")]
    site.poll([item("old", title="Same", guid=guid), *others], "one")
    assert site.poll([item("new", title="Same", guid=guid), *others], "two") == []
    foreign = guid.replace(SITE, "other.example")
    site.poll([item("old2", title="Other", guid=foreign), *others], "one")
    found = site.poll([item("new2", title="Other", guid=foreign), *others], "two")
    assert found == [link("new2")]


def test_an_item_keeps_its_guid_when_its_slug_or_title_changes() -> None:
    """A known guid with the same title or the same path is the same item."""
    site, others = FollowedSite(), [item("b", guid="2"), item("c", guid="3")]
    site.poll([item("a", guid="1"), *others])
    assert site.poll([item("a-new", title="About a", guid="1"), *others]) == []
    assert site.poll([item("a-new", title="Edited", guid="1"), *others]) == []
    assert site.state().guids_count


def test_a_guid_with_another_path_and_another_title_is_another_item() -> None:
    """The item is new, and from then on the guids of this feed do not count."""
    site = FollowedSite()
    site.poll([item("a", guid="1"), item("b", guid="2")])
    assert site.poll([item("c", guid="1"), item("b", guid="2")]) == [link("c")]
    assert not site.state().guids_count
    assert site.poll([item("moved", title="About b", guid="2")]) == [link("moved")]


@pytest.mark.parametrize("place", ["{name}", "story.php?id={name}"])
@pytest.mark.parametrize("title", ["About {name}", "Photo of the day", "Part {number}"])
@pytest.mark.parametrize("text", [None, "Read more", "Read more about {name}"])
@pytest.mark.parametrize("date", [None, "2027-01-15T00:00:00+00:00"])
@pytest.mark.parametrize("length", [1, 5])
def test_guids_that_are_places_in_the_list_lose_nothing(
    place: str, title: str, text: str | None, date: str | None, length: int
) -> None:
    """Each new item takes the guid of the one before it, and is fetched nevertheless."""
    site = FollowedSite()
    for newest in range(length, len(WORDS) + 1):
        listed = [(number, WORDS[number]) for number in range(newest - 1, newest - 1 - length, -1)]
        site.poll(
            item(
                name,
                link=link(place.format(name=name)),
                title=title.format(name=name, number=number),
                description=text and text.format(name=name),
                published=date,
                guid=str(at),
            )
            for at, (number, name) in enumerate(listed)
        )
    assert sorted(site.asked) == sorted(link(place.format(name=name)) for name in WORDS)


def test_shared_guids_do_not_count() -> None:
    """If several items have one guid, their links tell them apart."""
    site = FollowedSite()
    assert len(site.poll([item("a", guid="x"), item("b", guid="x")])) == 2
    assert site.poll([item("c", guid="x"), item("a", guid="x")]) == [link("c")]
    assert not site.state().guids_count


def test_guids_that_change_at_every_poll_do_not_count() -> None:
    """After two polls at which known items have other guids, no guid is stored any more."""
    site = FollowedSite()
    for poll in range(5):
        site.poll([item(name, guid=f"{name} {poll}") for name in WORDS])
    assert len(site.asked) == len(WORDS)
    assert not site.state().guids_count


def test_articles_known_from_another_feed_do_not_discredit_guids() -> None:
    """A feed whose articles are known has unknown guids once, and they count nevertheless."""
    site = FollowedSite()
    site.poll([item(name) for name in WORDS], "all")
    for _ in range(4):
        site.poll([item(name, guid=name) for name in WORDS])
    assert site.state().guids_count


_ARTICLES = st.tuples(
    st.integers(0, len(WORDS) - 1),
    st.sampled_from([None, "1", "2", "3", f"https://{SITE}/1"]),
    st.sampled_from([None, "2027-01-15T00:00:00+00:00", "2027-01-15T01:00:00+00:00"]),
)


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.lists(_ARTICLES, max_size=6)), max_size=8),
    st.sampled_from(["{name}", "?p={name}", "{name}/?sid={guid}"]),
    st.sampled_from(["About {name}", "Daily links about {name}"]),
    st.sampled_from([None, "Read more"]),
)
def test_no_article_with_a_title_and_an_address_of_its_own_is_lost(
    polls: list[tuple[str, list[tuple[int, str | None, str | None]]]],
    place: str,
    title: str,
    text: str | None,
) -> None:
    """Whatever guids and dates a feed gives its articles, each is fetched when it is first seen."""
    site, seen = FollowedSite(), set()
    for feed, articles in polls:
        site.poll(
            (
                item(
                    WORDS[number],
                    link=link(place.format(name=WORDS[number], guid=guid)),
                    title=title.format(name=WORDS[number]),
                    description=text,
                    guid=guid,
                    published=date,
                )
                for number, guid, date in articles
            ),
            feed,
        )
        seen |= {WORDS[number] for number, _, _ in articles}
    assert {name for name in WORDS if any(name in asked for asked in site.asked)} == seen


@pytest.mark.parametrize("has_guid", [True, False])
def test_if_all_items_link_to_one_page_it_is_asked_for_once_for_each_new_item(
    has_guid: bool,
) -> None:
    """Guid, or else title and text, tell the items apart; a poll asks for the page only once."""
    site, page = FollowedSite(), link("live")
    listed = [item(name, link=f"{page}#{name}", guid=name if has_guid else None) for name in WORDS]
    assert site.poll(listed[1:]) == [f"{page}#basil"]
    assert site.poll(listed[1:]) == []
    assert site.poll(listed) == [f"{page}#amber"]
    assert site.poll(listed) == []


def test_an_article_that_is_listed_twice_is_one_item() -> None:
    """Two entries with the same link, guid and words are one item."""
    site = FollowedSite()
    assert site.poll([item("a", guid="1"), item("a", guid="1"), item("b", guid="2")]) != []
    assert site.state().guids_count


def test_items_with_the_same_title_at_other_addresses_are_new() -> None:
    """A title that returns does not make an item known: `?p=2` is another page than `?p=1`."""
    site = FollowedSite()
    for number in range(5):
        daily = FeedItem(link(f"?p={number}"), "Daily links")
        assert site.poll([daily]) == [daily.link]


def test_a_list_that_is_replaced_at_once_is_new() -> None:
    """Five cities have a new page each day, with the words of the day before and other figures."""
    site = FollowedSite()
    for day in range(4):
        listed = [
            FeedItem(
                link(f"weather?id={day * 5 + number}"),
                f"Weather in {city}",
                f"Sunny, {day} degrees",
            )
            for number, city in enumerate(WORDS[:5])
        ]
        assert len(site.poll(listed)) == 5


def test_items_that_share_their_words_are_not_known_by_them() -> None:
    """Photos of the day have equal titles: if all links have another query, all are new."""
    site = FollowedSite()
    for poll in range(3):
        listed = [FeedItem(link(f"?p={poll * 5 + n}"), "Photo of the day") for n in range(5)]
        assert len(site.poll(listed)) == 5


@pytest.mark.parametrize(("date", "is_known"), [("10", True), ("11", False)])
def test_a_link_whose_query_changes_is_known_by_words_and_date(date: str, is_known: bool) -> None:
    """One changed query among five is a new page, unless words and date are known."""
    site = FollowedSite()

    def version(name: str, number: int, hour: str) -> FeedItem:
        date = f"2027-01-15T{hour}:{WORDS.index(name):02}:00+00:00"
        return item(name, link=link(f"{name}?v={number}"), published=date)

    site.poll([version(name, 1, "10") for name in WORDS[:5]])
    others = [version(name, 1, "10") for name in WORDS[1:5]]
    found = site.poll([version("amber", 2, date), *others])
    assert found == ([] if is_known else [link("amber?v=2")])


@pytest.mark.parametrize("place", ["live", "story.php?id={number}"])
def test_no_rows_are_added_for_texts_that_change_at_every_poll(place: str) -> None:
    """An item that is known by link or guid gets no row for each of its texts."""
    site = FollowedSite()
    for poll in range(30):
        site.poll(
            item(
                name,
                link=link(place.format(number=number)),
                description=f"Read by {WORDS[poll % 12]} and {WORDS[poll // 12]}",
                guid=name,
            )
            for number, name in enumerate(WORDS)
        )
    assert len(set(site.asked)) == len(site.asked)
    assert len(site.rows) <= 4 * len(WORDS)


def test_the_same_answer_is_decided_again_in_the_same_way() -> None:
    """After kill -9 between the rows and the state, the new items are sent again, not lost."""
    site = FollowedSite()
    site.poll([item("a", guid="1"), item("b", guid="2")])
    listed = [item("c", guid="1"), item("d", guid="3"), item("b", guid="2")]
    first = site.send(listed)
    again = site.send(listed)
    assert again.new == first.new != ()
    assert again.rows == first.rows


def test_a_denied_item_is_neither_new_nor_stored() -> None:
    """While a rule forbids a link, nothing is stored; when the rule is gone, the item is new."""
    site = FollowedSite(ItemRules(is_denied=lambda url: url.endswith("/a")))
    decision = site.decide([item("a")])
    assert (decision.new, decision.rows, decision.items) == ((), {}, ())
    site.rules = ItemRules()
    assert site.poll([item("a")]) == [link("a")]


def test_a_dropped_item_counts_as_not_seen() -> None:
    """A page that was dropped from the queue is asked for again, also if its guid is known."""
    site = FollowedSite()
    site.poll([item("a", guid="1"), item("b", guid="2")])
    site.rows[link_key(link("a"))] = dropped_row(site.now).encode()
    assert site.poll([item("a", guid="1"), item("b", guid="2")]) == [link("a")]
    assert site.poll([item("a", guid="1"), item("b", guid="2")]) == []


# The first poll


def test_a_feed_may_begin_with_what_is_new_from_now_on() -> None:
    """With `is_only_new`, the items of the first poll count as seen."""
    site = FollowedSite()
    site.change(options=SourceOptions(is_only_new=True))
    assert site.poll([item("b"), item("a")]) == []
    assert site.poll([item("c"), item("b"), item("a")]) == [link("c")]
    assert site.state().items == 1


def test_a_page_without_a_title_is_known_by_its_link_alone() -> None:
    """Most sitemaps have no titles: another query is another page, even if all have changed."""
    site = FollowedSite()
    for number in range(4):
        listed = [FeedItem(link(f"{name}?page={number}")) for name in WORDS]
        assert len(site.poll(listed)) == len(WORDS)


def test_the_first_poll_may_be_capped() -> None:
    """The first poll takes the newest items up to its cap, in all parts together."""
    site = FollowedSite()
    site.change(options=SourceOptions(first_poll_max=2))
    listed = [item("c"), item("b"), item("a")]
    site.rules = ItemRules(taken=1)
    assert [found.link for found in site.decide(listed).new] == [link("c")]
    site.rules = ItemRules()
    assert site.poll(listed) == [link("b"), link("c")]
    assert site.poll([item("d"), *listed]) == [link("d")]


def test_old_pages_of_a_sitemap_count_as_seen_by_their_date() -> None:
    """The first poll of a sitemap takes pages of two days; older ones get no row."""
    site = FollowedSite()
    site.change(options=SourceOptions(kind=SourceKind.SITEMAP))
    old = item("old", published="2027-01-13T07:59:00+00:00")
    new = item("new", published="2027-01-13T08:01:00+00:00")
    assert site.poll([old, new]) == [link("new")]
    assert len(site.rows) == 1
    edited = FeedItem(link("edited"), updated="2027-01-12T00:00:00+00:00")
    assert site.poll([old, new, edited]) == []
    later = FeedItem(link("later"), updated="2027-01-13T00:00:00+00:00")
    assert site.poll([old, new, edited, later]) == [link("later")]


# Revisits

REVISITS = ItemRules(revisits_a_day=5)


def test_without_the_setting_nothing_is_fetched_again() -> None:
    """A changed text asks for no page if revisits are off, and stores nothing for them."""
    site = FollowedSite()
    site.poll([item("a")])
    site.poll([item("a", description="Other words")])
    assert site.revisited == []
    assert len(site.rows) == 1


@pytest.mark.parametrize(
    ("fields", "is_changed"),
    [
        ({"title": "About a, corrected"}, True),
        ({"description": "Other words"}, True),
        ({"description": "All of a 17"}, False),
        ({"description": "<b>All</b> of a <img src='https://t.example/9'>"}, False),
        ({"description": "All of a https://t.example/x"}, False),
        ({"published": "2027-01-15T07:00:00+00:00"}, False),
    ],
)
def test_only_other_words_are_a_change(fields: dict[str, str], is_changed: bool) -> None:
    """Markup, digits, addresses and dates do not count as a change of an item."""
    site = FollowedSite(REVISITS)
    site.poll([item("a"), item("b")])
    site.poll([item("a", **fields), item("b")])
    assert site.revisited == ([link("a")] if is_changed else [])


def test_a_feed_has_five_revisits_a_day() -> None:
    """The other changed items are fetched again on the next days."""
    site = FollowedSite(REVISITS)
    site.poll([item(name) for name in WORDS])
    changed = [item(name, description="Other words") for name in WORDS]
    for _ in range(4):
        site.poll(changed)
    assert len(site.revisited) == 5
    site.now += DAY
    site.poll(changed)
    site.now += DAY
    site.poll(changed)
    assert sorted(site.revisited) == sorted(link(name) for name in WORDS)


def test_a_date_of_change_counts_where_it_does_not_change_at_every_poll() -> None:
    """`updated` alone asks for a page only in a feed in which it usually stays."""
    site = FollowedSite(REVISITS)
    for poll in range(6):
        site.poll([item(name, updated=f"2027-01-15T0{poll}:00:00+00:00") for name in WORDS])
    assert site.revisited == []
    for _ in range(2):
        site.poll([item(name, updated="2027-01-15T06:00:00+00:00") for name in WORDS], "steady")
    changed = item("amber", updated="2027-01-15T07:00:00+00:00")
    others = [item(name, updated="2027-01-15T06:00:00+00:00") for name in WORDS[1:]]
    site.poll([changed, *others], "steady")
    assert site.revisited == [link("amber")]


# Migration


def former(name: str, number: int, **fields: Any) -> FeedItem:
    """Return an item with the hash that a release before 0.3 gave it."""
    return item(name, former_hash=number.to_bytes(16), **fields)


def upgraded(site: FollowedSite, hashes: range, name: str = "feed") -> None:
    """Store a feed and its items as a release before 0.3 did."""
    site.change(
        name, migrating_until=0.0, was_read=True, body_hash="00", last_success=site.now - 60
    )
    row = SeenItemRow(site.now - DAY, site.now - 60).encode()
    site.rows |= {number.to_bytes(16): row for number in hashes}


# A row of each table as release 0.2 wrote them
FORMER_STATE = (
    b'{"version":1,"site":"news.example","feed":"https://news.example/feed",'
    b'"url":"https://news.example/feed","redirect":null,"redirect_since":null,"title":"News",'
    b'"meta":{},"etag":"1","last_modified":null,"body_hash":"00ff","next_due":1799999990.0,'
    b'"interval":3600.0,"gaps":[7200.0],"newest":1799990000.0,"window":86400.0,"floor":0.0,'
    b'"skip_hours":[],"skip_days":[],"errors":0,"trouble":null,"message":null,'
    b'"last_poll":1799996400.0,"last_success":1799996400.0,"unconditional_at":1799996400.0,'
    b'"items":42,"status":"active","sequence":7,"swept_at":1799950000.0}'
)
FORMER_KEY = bytes.fromhex("0ad0a0010e39685369fba34223e58afd")  # see test_item
FORMER_ROW = bytes.fromhex("41dad2745c00000041dad2745c000000")


def test_rows_of_the_former_release_are_read() -> None:
    """Its item is known, and gets the keys of this release."""
    site = FollowedSite()
    site.load("feed", FORMER_STATE)
    site.rows[FORMER_KEY] = FORMER_ROW
    known = item("a", title="Mended title", guid="1", former_hash=FORMER_KEY)
    assert site.poll([known, former("b", 1)]) == [link("b")]
    assert link_key(link("a")) in site.rows
    assert site.poll([item("a", guid="1"), item("b")]) == []


def test_no_steady_feed_is_fetched_again_after_the_upgrade() -> None:
    """500 feeds followed before: only what is new since then is asked for."""
    site = FollowedSite()
    for feed in range(500):
        numbers = range(feed * 10, feed * 10 + 9)
        upgraded(site, numbers, f"feed{feed}")
        listed = [former(f"{feed}/{number}", number) for number in (*numbers, feed * 10 + 9)]
        assert site.poll(listed, f"feed{feed}") == [link(f"{feed}/{feed * 10 + 9}")]
        assert (
            site.poll([replace(found, former_hash=None) for found in listed], f"feed{feed}") == []
        )


def test_a_volatile_feed_is_fetched_at_most_once_after_the_upgrade() -> None:
    """The stored hash of a volatile item is outdated: each page is asked for once more."""
    site = FollowedSite()
    upgraded(site, range(10))
    for poll in range(5):
        site.poll(former(name, 100 * poll + 50, title=f"{name} ({poll})") for name in WORDS)
    assert sorted(site.asked) == sorted(link(name) for name in WORDS)


def test_the_former_hash_counts_for_seen_days() -> None:
    """The migration of a feed ends `seen_days` after its first poll by this release."""
    site = FollowedSite()
    upgraded(site, range(3))
    start = site.now
    assert needs_former(site.state(), start)
    site.poll([former("a", 0)])
    assert site.state().migrating_until == start + 60 * DAY
    site.now = start + 61 * DAY
    assert not needs_former(site.state(), site.now)
    assert site.poll([former("b", 1)]) == [link("b")]


def test_a_feed_that_is_added_now_has_no_former_hashes() -> None:
    """A feed of this release needs no hashes of releases before 0.3."""
    site = FollowedSite()
    site.poll([item("a")])
    assert not needs_former(site.state(), site.now)
