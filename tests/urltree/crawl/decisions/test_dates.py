"""Dates of feeds are read in all forms that publishers use, and never completed with today's."""

# ruff: noqa: RUF001 - Russian and Greek

from __future__ import annotations

import pytest

from tests.urltree.crawl.decisions.feeds import atom, json, parsed, rss
from urltree.crawl.decisions.feed.dates import DayOrder, find_day_order, read_date, read_dates

TEN = "2024-01-31T10:00:00+00:00"  # most dates below are ten o'clock of this day in UTC

FORMS = {
    # RFC 822 and its years of two digits
    "Wed, 31 Jan 2024 10:00:00 GMT": TEN,
    "Wed, 31 Jan 2024 10:00:00 +0000": TEN,
    "Wed, 31 Jan 2024 11:00:00 +0100": TEN,
    "Wed, 31 Jan 2024 02:00:00 -08:00": TEN,
    "Wed, 31 Jan 24 10:00:00 GMT": TEN,
    "Sat, 31 Jan 98 10:00:00 GMT": "1998-01-31T10:00:00+00:00",
    "31 Jan 2024 10:00 UT": TEN,
    "WED, 31 JAN 2024 10:00:00 GMT": TEN,
    "Wed, 31 Jan 2024 10:00:00 Z": TEN,
    # without a zone
    "Wed, 31 Jan 2024 10:00:00": TEN,
    "Wed, 31 Jan 2024 10:00": TEN,
    "31 Jan 2024": "2024-01-31T00:00:00+00:00",
    # names of zones
    "Wed, 31 Jan 2024 11:00:00 CET": TEN,
    "Wed, 31 Jul 2024 12:00:00 CEST": "2024-07-31T10:00:00+00:00",
    "Wed, 31 Jul 2024 12:00:00 MESZ": "2024-07-31T10:00:00+00:00",
    "Wed, 31 Jul 2024 11:00:00 BST": "2024-07-31T10:00:00+00:00",
    "Wed, 31 Jan 2024 12:00:00 EET": TEN,
    "Wed, 31 Jan 2024 13:00:00 MSK": TEN,
    "Wed, 31 Jan 2024 15:30:00 IST": TEN,
    "Wed, 31 Jan 2024 19:00:00 JST": TEN,
    "Wed, 31 Jan 2024 19:00:00 KST": TEN,
    "Wed, 31 Jan 2024 21:00:00 AEDT": TEN,
    "Wed, 31 Jan 2024 23:00:00 NZDT": TEN,
    "Wed, 31 Jan 2024 05:00:00 EST": TEN,
    "Wed, 31 Jul 2024 03:00:00 PDT": "2024-07-31T10:00:00+00:00",
    "Wed, 31 Jan 2024 10:00:00 WXYZ": TEN,  # unknown: read as UTC
    # two statements of a zone: the number counts
    "Wed, 31 Jan 2024 11:00:00 GMT+1": TEN,
    "Wed, 31 Jan 2024 11:00:00 GMT+01:00": TEN,
    "Wed, 31 Jan 2024 05:00:00 UTC-5": TEN,
    "Wed, 31 Jan 2024 02:00:00 -0800 (PST)": TEN,
    "Wed Jan 31 2024 11:00:00 GMT+0100 (Central European Standard Time)": TEN,
    # times of 12 hours
    "Wed, 31 Jan 2024 10:00:00 AM": TEN,
    "Wed, 31 Jan 2024 10:00:00 PM": "2024-01-31T22:00:00+00:00",
    "Wed, 31 Jan 2024 13:00:00 PM": "2024-01-31T13:00:00+00:00",
    "Wed, 31 Jan 2024 05:00 AM EST": TEN,
    "January 31, 2024, 12:05 a.m.": "2024-01-31T00:05:00+00:00",
    "Jan. 31, 2024 12:05 p.m.": "2024-01-31T12:05:00+00:00",
    "Jan 31, 2024 3pm": "2024-01-31T15:00:00+00:00",
    # names in other languages
    "Mi, 31 Jan 2024 11:00:00 +0100": TEN,
    "Mittwoch, 31. Januar 2024 10:00 Uhr": TEN,
    "12. März 2024": "2024-03-12T00:00:00+00:00",
    "Di, 05 Dez 2023 08:00:00 +0100": "2023-12-05T07:00:00+00:00",
    "01 Mai 2024 10:00": "2024-05-01T10:00:00+00:00",
    "mié, 31 ene 2024 11:00:00 +0100": TEN,
    "miércoles, 31 de enero de 2024 a las 10:00": TEN,
    "mar, 02 ene 2024 11:00:00 +0100": "2024-01-02T10:00:00+00:00",
    "02 mar 2024 10:00:00 -0300": "2024-03-02T13:00:00+00:00",
    "12 dic. 2023": "2023-12-12T00:00:00+00:00",
    "Ср, 31 янв 2024 13:00:00 +0300": TEN,
    "31 января 2024 г. в 10:00": TEN,
    "31 мая 2024, 10:00": "2024-05-31T10:00:00+00:00",
    "среда, 31 января 2024": "2024-01-31T00:00:00+00:00",
    # ISO 8601
    "2024-01-31T10:00:00Z": TEN,
    "2024-01-31t10:00:00.123456789z": TEN,
    "2024-01-31 11:00:00 +0100": TEN,
    "2024-01-31 11:00:00 CET": TEN,
    "2024-01-31T10:00Z": TEN,
    "2024-01-31": "2024-01-31T00:00:00+00:00",
    "20240131T100000Z": TEN,
    "20240131T110000+0100": TEN,
    "20240131100000": TEN,
    "20240131": "2024-01-31T00:00:00+00:00",
    "2024-02-29": "2024-02-29T00:00:00+00:00",
    # the ends of a day and of a minute
    "Tue, 30 Jan 2024 24:00:00 GMT": "2024-01-31T00:00:00+00:00",
    "2023-12-31T24:00:00Z": "2024-01-01T00:00:00+00:00",
    "2016-12-31T23:59:60Z": "2017-01-01T00:00:00+00:00",
    # seconds and milliseconds since 1970
    "1706695200": TEN,
    "1706695200000": TEN,
    "1706695200.25": TEN,
    # numbers whose order is clear
    "31/01/2024 10:00": TEN,
    "01/31/2024 10:00 AM": TEN,
    "31.01.2024 10:00": TEN,
    "02.01.2024": "2024-01-02T00:00:00+00:00",
    "31.01.24": "2024-01-31T00:00:00+00:00",
    "31.01.98": "1998-01-31T00:00:00+00:00",
    "2024/01/31 10:00:00": TEN,
    "10:00 31.01.2024": TEN,
    "1/1/2024": "2024-01-01T00:00:00+00:00",
    "2024年1月31日 10:00": TEN,
    "2024년 1월 31일 오후 3:00": "2024-01-31T15:00:00+00:00",
    "2024-01-31 오전 10:00:00": TEN,
    # a time before the date
    "10:00 - 31 January 2024": TEN,
    "10:00 Uhr, 31. Januar 2024": TEN,
    "10:00, mié 31 ene 2024": TEN,
    # RFC 850
    "Wednesday, 31-Jan-24 10:00:00 GMT": TEN,
    # ctime, and Ruby's Time#to_s
    "Wed Jan 31 10:00:00 2024": TEN,
    "Wed Jan 31 11:00:00 CET 2024": TEN,
    "Wed Jan 31 11:00:00 +0100 2024": TEN,
    "Thu, 1st Feb 2024 10:00:00": "2024-02-01T10:00:00+00:00",
    "31-Jan-2024 10:00:00": TEN,
}


@pytest.mark.parametrize(("text", "date"), FORMS.items())
def test_a_form_is_read(text: str, date: str) -> None:
    """Each form gives the right time, with and without white space around it."""
    assert read_date(text) == read_date(f"\n {text}\t") == date


@pytest.mark.parametrize(
    "text",
    [
        "31 Jan 10:00:00 GMT",
        "Wed, 31 Jan",
        "31 января 10:00",
        "--01-31",
        "31.01.",
        "January 2024",
        "Wed Jan 2024",
        "Wednesday, January 2024 10:00",
        "2024",
        "2024-01",
        "Wednesday",
        "Wednesday 10:00",
        "10:00:00",
        "10:00 PM",
        "T10:00:00Z",
        "20",
        "today",
        "yesterday at 10:00",
        "2 hours ago",
        "hace 2 días",
    ],
)
def test_a_missing_part_is_not_todays(text: str) -> None:
    """A date without year, month or day is None: a part from today would change at every poll."""
    assert read_date(text) is None
    assert parsed(rss(f"<link>/1</link><pubDate>{text}</pubDate>")).items[0].published is None


@pytest.mark.parametrize(
    "text",
    [
        None,
        5,
        "",
        "99999",
        "2024-13-01",
        "2024-02-30",
        "30 Feb 2024",
        "Wed, 32 Jan 2024 10:00:00 GMT",
        "Wed, 31 Jan 2024 25:00:00 GMT",
        "Wed, 31 Jan 2024 10:00:00 +9900",
        "Wed, 31 Jan 20240 10:00:00 GMT",
        "1969-12-31T23:59:59Z",
        "9999-12-31T00:00:00Z",
        "0000-00-00 00:00:00",
        "0001-01-01T00:00:00+14:00",
        "13/13/2024",
        "9" * 100,
        "1 " * 50,
        "Jan " * 25,
        "31 Jan 2024" + " " * 100 + "10:00",
        "\ud800 31 Jan 2024",
    ],
)
def test_what_is_no_date_is_none(text: object) -> None:
    """Impossible and very long dates are None, and no text raises an exception."""
    assert read_date(text) is None


@pytest.mark.parametrize(
    ("texts", "order"),
    [
        (["1/2/2024", "31/1/2024"], DayOrder.DAY_FIRST),
        (["1/2/2024", "1/31/2024 10:00 PM"], DayOrder.MONTH_FIRST),
        (["1/2/2024", "3/4/2024"], None),
        (["1/31/2024", "31/1/2024"], None),
        ([None, 5, "x", "2024-01-31", "32/1/2024", "Wed, 31 Jan 2024 10:00:00 GMT"], None),
    ],
)
def test_one_date_shows_the_order_of_all(texts: list[object], order: DayOrder | None) -> None:
    """A number above 12 in any date of a feed shows whether days or months come first."""
    assert find_day_order(texts) is order


@pytest.mark.parametrize(
    ("other", "published"),
    [
        ("1/31/2024 3:04 PM", "2024-01-02T15:04:00+00:00"),
        ("31/1/2024 3:04 PM", "2024-02-01T15:04:00+00:00"),
        ("1/3/2024 3:04 PM", None),
    ],
)
def test_numbers_are_read_in_the_order_of_their_feed(other: str, published: str | None) -> None:
    """1/2/2024 is read as another item of the feed shows, and otherwise not at all."""
    dates = ("1/2/2024 3:04 PM", other)
    feeds = (
        rss(*(f"<link>/{date}</link><pubDate>{date}</pubDate>" for date in dates)),
        json(*({"url": f"/{date}", "date_published": date} for date in dates)),
    )
    assert [parsed(feed).items[0].published for feed in feeds] == [published] * 2


def test_a_greek_date_is_read_as_feedparser_reads_it() -> None:
    """Greek dates are read by feedparser, unless it would complete them with today's year."""
    dates = ("Κυρ, 11 Ιούλ 2004 12:00:00 EST", "Κυρ, 11 Ιούλ 12:00:00 EST")
    found = parsed(rss(*(f"<link>/1</link><pubDate>{date}</pubDate>" for date in dates)))
    assert [item.published for item in found.items] == ["2004-07-11T17:00:00+00:00", None]


@pytest.mark.parametrize("date", [1706695200, 1706695200.5, 1706695200000])
def test_a_date_of_json_may_be_a_number(date: float) -> None:
    """Some JSON feeds write seconds or milliseconds since 1970 as a number."""
    assert parsed(json({"url": "/1", "date_published": date})).items[0].published == TEN


def test_an_update_has_a_date_of_its_own() -> None:
    """The date of an update is kept beside the date of publication, and replaces a missing one."""
    dates = "<published>2024-01-31T10:00:00Z</published><updated>2024-02-01T00:00:00Z</updated>"
    both, updated, none = parsed(
        atom(
            f'<link href="/1"/>{dates}',
            '<link href="/2"/><updated>2024-02-01T00:00:00Z</updated>',
            '<link href="/3"/><published>2024-01-31T10:00:00Z</published>',
        )
    ).items
    assert (both.published, both.updated) == (TEN, "2024-02-01T00:00:00+00:00")
    assert updated.published == updated.updated == "2024-02-01T00:00:00+00:00"
    assert (none.published, none.updated) == (TEN, None)


def test_few_dates_of_rare_forms_are_read_to_compare_items() -> None:
    """Of many dates, all of RFC 822 and ISO 8601 are read, but only 2,000 of other forms."""
    dates = read_dates(["31. Januar 2024"] * 2_010 + ["Wed, 31 Jan 2024 10:00:00 CET"] * 5)
    assert sum(date is not None for date in dates) == 2_005
