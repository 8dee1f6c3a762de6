"""Dates, texts and polling hints of feeds are normalised and limited."""

from __future__ import annotations

import pytest

from tests.urltree.crawl.decisions.feeds import json, parsed, rss
from urltree.crawl.decisions.feed.parsed_feed import MAX_DESCRIPTION, MAX_TITLE

DAY = "2024-01-01T10:00:00+00:00"


@pytest.mark.parametrize(
    ("date", "published"),
    [
        ("Mon, 01 Jan 2024 10:00:00 GMT", DAY),
        ("Mon, 01 Jan 24 05:00:00 EST", DAY),
        ("2024-01-01T10:00:00.9Z", DAY),
        ("2024-01-01", "2024-01-01T00:00:00+00:00"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00+00:00"),
        ("Thu, 01 Jan 1970 00:00:00 GMT", "1970-01-01T00:00:00+00:00"),
        ("Wed, 31 Dec 1969 23:59:59 GMT", None),
        ("0000-00-00 00:00:00", None),
        ("Mon, 01 Jan 20240 10:00:00 GMT", None),
        ("yesterday", None),
        ("9" * 5_000, None),
        ("", None),
    ],
)
def test_a_date_is_rfc_3339_or_none(date: str, published: str | None) -> None:
    """A date becomes RFC 3339 in UTC, and an invalid or impossible date becomes None."""
    item = f"<link>/1</link><pubDate>{date}</pubDate>"
    assert parsed(rss(item)).items[0].published == published


@pytest.mark.parametrize(
    "date", ["1969-01-01T00:00:00Z", "0001-01-01T00:00:00+09:00", "x", 5, None]
)
def test_a_date_of_a_json_feed_is_rfc_3339_or_none(date: object) -> None:
    """An invalid date_published of a JSON Feed is dropped, and date_modified is used instead."""
    item = {"url": "/1", "date_published": date}
    assert parsed(json(item)).items[0].published is None
    assert parsed(json(item | {"date_modified": "2024-01-01T10:00:00"})).items[0].published == DAY


def test_texts_are_bounded() -> None:
    """Titles and descriptions are cut to a maximum size in bytes, never within a character."""
    titled = f"<link>/1</link><title>{'ü' * 9_999}</title>"
    assert parsed(rss(titled)).items[0].title == "ü" * (MAX_TITLE // 2)
    described = {"url": "/1", "summary": "a" + "ü" * 99_999}
    assert len((parsed(json(described)).items[0].description or "").encode()) == MAX_DESCRIPTION - 1


@pytest.mark.parametrize(
    "reference", ["&#xD800;", "&#xdfff;", "&#55296;", "&#x110000;", "&#99999999999;"]
)
def test_a_reference_to_no_character_costs_that_character_alone(reference: str) -> None:
    """A reference to an invalid character becomes U+FFFD, and the rest of the feed is parsed.

    Feedparser alone would stop at the reference, or return a surrogate, which cannot be encoded.
    """
    found = parsed(rss("<link>/1</link>", f"<link>/2</link><title>a{reference}b &#x1F600;</title>"))
    assert [item.title for item in found.items] == [None, "a\ufffdb \U0001f600"]


@pytest.mark.parametrize("markup", ["<psc:chapter/>", "<textinput><title/>", "<width></image>"])
def test_what_feedparser_fails_on_is_left_out(markup: str) -> None:
    """Tags that make feedparser fail are removed before parsing, because items do not need them."""
    spaces = 'xmlns:psc="http://podlove.org/simple-chapters"'
    found = parsed(rss(f"<link>/1</link>{markup}", attributes=spaces))
    assert [item.link for item in found.items] == ["https://news.example.org/1"]


@pytest.mark.parametrize(
    ("channel", "ttl"),
    [
        ("<ttl>90</ttl>", 5_400),
        ("<ttl> 1.5 </ttl>", None),
        ("<ttl>0</ttl>", None),
        ("<ttl>-5</ttl>", None),
        (f"<ttl>{'9' * 5_000}</ttl>", None),
        ("<sy:updatePeriod> hourly\n</sy:updatePeriod>", 3_600),
        (
            "<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>4</sy:updateFrequency>",
            21_600,
        ),
        (
            "<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>0</sy:updateFrequency>",
            86_400,
        ),
        ("<sy:updatePeriod>often</sy:updatePeriod>", None),
        ("<sy:updatePeriod>hourly</sy:updatePeriod><ttl>90</ttl>", 5_400),
    ],
)
def test_a_feed_says_how_long_it_lasts(channel: str, ttl: float | None) -> None:
    """`ttl` is the publisher's polling interval in seconds; the longer of two hints is used."""
    syndication = 'xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"'
    assert parsed(rss(channel=channel, attributes=syndication)).ttl == ttl


@pytest.mark.parametrize(
    ("hours", "skipped"),
    [((3, 1, 1), (1, 3)), ((24, 5), (0, 5)), ((25, 99), ()), (range(24), ()), ((), ())],
)
def test_hours_to_skip_are_those_of_a_day(hours: range, skipped: tuple[int, ...]) -> None:
    """In skipHours, 24 means midnight, and a list of all hours is ignored."""
    inside = "".join(f"<hour> {hour}</hour>\n" for hour in hours)
    assert parsed(rss(channel=f"<skipHours>{inside}</skipHours>")).skip_hours == skipped


@pytest.mark.parametrize(
    ("days", "skipped"),
    [
        ("Sunday Monday", (0, 6)),
        ("sunday", (6,)),
        ("Someday", ()),
        ("Monday Tuesday Wednesday Thursday Friday Saturday Sunday", ()),
    ],
)
def test_days_to_skip_are_those_of_a_week(days: str, skipped: tuple[int, ...]) -> None:
    """The names in skipDays become numbers (0 is Monday), and a list of all days is ignored."""
    inside = "".join(f"<day>{day}</day>" for day in days.split())
    found = parsed(
        rss(channel=f"<skipDays>{inside}</skipDays><skipHours><hour>7</hour></skipHours>")
    )
    assert (found.skip_days, found.skip_hours) == (skipped, (7,))
