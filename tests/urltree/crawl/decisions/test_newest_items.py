"""Of a feed with too many items the newest are read, and of a cut feed all complete items."""

from __future__ import annotations

import random

import pytest

from tests.urltree.crawl.decisions.feeds import atom, json, parsed, rss
from urltree.crawl.decisions.feed.parsed_feed import ParsedFeed
from urltree.crawl.decisions.response import Trouble, WebError


def in_rss(days: list[int | None]) -> bytes:
    """Return an RSS feed with one item for each day of January 2024; None is an item undated."""
    return rss(
        *(
            f"<link>/{day}-{place}</link>"
            + (f"<pubDate>{day:02} Jan 2024 10:00:00 GMT</pubDate>" if day else "")
            for place, day in enumerate(days)
        ),
        channel="<ttl>9</ttl>",
    ).encode()


def in_german(days: list[int | None]) -> bytes:
    """Return the same feed with German dates in CDATA sections."""
    return (
        in_rss(days)
        .replace(b" Jan 2024 10:00:00 GMT", b". Januar 2024 10:00 Uhr]]>")
        .replace(b"<pubDate>", b"<pubDate><![CDATA[")
    )


def in_atom(days: list[int | None]) -> bytes:
    """Return the same feed in Atom; all entries were updated on the same day."""
    return atom(
        *(
            f'<link href="/{day}-{place}"/><updated>2024-02-01T00:00:00Z</updated>'
            + (f"<published>2024-01-{day:02}T10:00:00Z</published>" if day else "")
            for place, day in enumerate(days)
        )
    ).encode()


def in_utf_16(days: list[int | None]) -> bytes:
    """Return the RSS feed in UTF-16 without a byte order mark, whose bytes show no items."""
    return ('<?xml version="1.0" encoding="utf-16"?>' + in_rss(days).decode()).encode("utf-16-le")


def in_json(days: list[int | None]) -> bytes:
    """Return the same feed in JSON."""
    return json(
        *(
            {"url": f"/{day}-{place}", "title": "é"}
            | ({"date_published": f"2024-01-{day:02}T10:00:00Z"} if day else {})
            for place, day in enumerate(days)
        )
    )


FORMATS = [in_rss, in_german, in_atom, in_utf_16, in_json]
DATED = [in_rss, in_german, in_utf_16, in_json]


def days_of(found: ParsedFeed) -> list[int]:
    """Return the days of the items, or 0 for an undated one, in the feed's order."""
    names = [item.link.rsplit("/", 1)[1].split("-")[0] for item in found.items]
    return [0 if name == "None" else int(name) for name in names]


@pytest.mark.parametrize("feed", FORMATS)
@pytest.mark.parametrize(
    ("days", "read"),
    [
        (range(1, 29), range(20, 29)),
        (range(28, 0, -1), range(28, 19, -1)),
        ([5, 1, *range(28, 6, -1)], range(28, 19, -1)),
        ([7] * 28, [7] * 9),
        (range(20, 29), range(20, 29)),
    ],
)
def test_the_newest_items_are_read(feed: object, days: range, read: range) -> None:
    """The nine newest items are read, wherever they are, and remain in the feed's order."""
    assert callable(feed)
    found = parsed(feed(list(days)), max_items=9)
    assert days_of(found) == list(read)
    assert found.truncated == len(days) - 9


def test_the_newest_items_are_read_in_any_order() -> None:
    """Items without any order are selected by their dates."""
    days = list(range(1, 29))
    random.Random(14).shuffle(days)
    for feed in FORMATS:
        assert sorted(days_of(parsed(feed(list(days)), max_items=9))) == list(range(20, 29))


@pytest.mark.parametrize("feed", DATED)
@pytest.mark.parametrize(
    ("days", "read"),
    [
        ([1, None, *range(2, 28)], range(19, 28)),
        ([None, *range(28, 1, -1)], [0, *range(28, 20, -1)]),
        ([None] * 28, [0] * 9),
        ([None] * 27 + [1], [0] * 9),
    ],
)
def test_dates_show_where_the_newest_items_are(
    feed: object, days: list[int | None], read: range
) -> None:
    """If an item has no date, the others show the order; without dates the first are the newest."""
    assert callable(feed)
    assert days_of(parsed(feed(days), max_items=9)) == list(read)


def test_the_rest_of_the_feed_is_read() -> None:
    """What stands before the first and after the last item is not removed with the items."""
    body = in_rss(list(range(1, 29))).replace(b"</channel>", b"<ttl>60</ttl></channel>")
    found = parsed(body, max_items=3)
    assert (found.title, found.ttl, days_of(found)) == ("News", 3_600, [26, 27, 28])


def test_many_items_are_not_read_one_by_one() -> None:
    """Of 100,000 items feedparser gets only those that are read."""
    found = parsed(rss(*["<link>/1</link>"] * 100_000), max_items=5)
    assert (len(found.items), found.truncated) == (5, 99_995)


@pytest.mark.parametrize("feed", [in_rss, in_german, in_atom, in_json])
def test_a_feed_may_be_cut_anywhere(feed: object) -> None:
    """At any cut, the complete items are read as in the whole feed, and nothing else."""
    assert callable(feed)
    body: bytes = feed([3, 2, 1])
    whole = parsed(body)
    counts = []
    for end in range(body.index(b"2024-01" if feed is in_json else b"/3-0"), len(body)):
        found = parsed(body[:end], is_cut=True)
        assert found.items == whole.items[: len(found.items)]
        assert found.title == "News" or feed is in_json
        counts.append(len(found.items))
    assert counts == sorted(counts)
    assert (counts[0], counts[-1]) == (0, 3)


def test_the_cut_item_is_counted() -> None:
    """An item that was cut counts as not read."""
    body = in_rss([3, 2, 1])
    end = body.index(b"/1-2")
    assert parsed(body[:end], is_cut=True).truncated == 1
    assert parsed(body[: body.rindex(b"<item>")], is_cut=True).truncated == 0
    assert parsed(body[:end], max_items=1, is_cut=True).truncated == 2


def test_a_cut_feed_is_read_by_the_strict_parser() -> None:
    """The elements around the items are closed, so a cut feed is read like a whole one.

    Feedparser's other parser, for damaged feeds, would resolve this reference.
    """
    title = "<title>a &amp;amp;amp; b</title>"
    body = atom(f'<link href="/1"/>{title}', '<link href="/2"/>').encode()
    assert parsed(body[:-20], is_cut=True).items[0].title == parsed(body).items[0].title


@pytest.mark.parametrize(
    "body",
    [
        b'{"version": 5, "items": [',
        b'{"items": 5',
        b"{",
        b"[" * 99,
        b"<html><p>",
        b'{"a":' * 99_999,
    ],
)
def test_a_cut_body_that_is_no_feed_is_an_error(body: bytes) -> None:
    """The beginning of something else than a feed raises the error `not-a-feed`."""
    with pytest.raises(WebError) as caught:
        parsed(body, is_cut=True)
    assert caught.value.trouble is Trouble.NOT_A_FEED


def test_a_cut_json_feed_may_name_its_version_last() -> None:
    """The order of the fields of a JSON feed is free: the version may be behind the cut."""
    found = parsed(b'{"items": [{"url": "/1"}, {"url": "/2"}, {"url', is_cut=True)
    assert len(found.items) == 2
