"""Read the dates of feeds, in all forms that publishers use.

    "Mon, 01 Jan 2024 10:00:00 +0100"    RFC 822 or ISO 8601: read at once
    "lun, 1 ene. 2024 3:04 p.m. CET"     prepared here, then read by dateutil:
           jan  2024 3:04 pm   ╰ +60       names become English, the zone is removed, numbers get
                                           the order of ISO 8601, 24:00 becomes 0:00 of the next day
    a Greek date                         left to feedparser, by the caller

A missing part is never completed: a date needs a year, a month and a day. So dateutil, which takes
missing parts from a default date, reads each text with two defaults, and both results must agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta, timezone
from enum import Enum
from typing import Any

from dateutil import parser

MAX_DATE = 100  # largest length of a text that is read as a date, in characters


class DayOrder(Enum):
    """The order of day and month in the numeric dates of a feed: 31/12/2023 or 12/31/2023."""

    DAY_FIRST = "day first"
    MONTH_FIRST = "month first"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Offsets from UTC in minutes. Of zones that share a name, the one with more feeds is meant: BST is
# British, IST Indian, and CST American.
_ZONES = {
    name: minutes
    for minutes, names in {
        -600: "hst",
        -540: "akst",
        -480: "pst pt akdt",
        -420: "mst mt pdt",
        -360: "cst ct mdt",
        -300: "est et cdt cot pet",
        -240: "ast edt clt vet",
        -210: "nst",
        -180: "adt brt art clst",
        -150: "ndt",
        -120: "brst",
        0: "utc ut gmt z wet",
        60: "cet met mez bst west wat",
        120: "cest mest mesz eet sast cat",
        180: "eest msk trt eat",
        210: "irst",
        240: "msd gst samt",
        300: "pkt yekt",
        330: "ist",
        345: "npt",
        420: "ict wib krat",
        480: "hkt sgt awst pht wita irkt",
        540: "jst kst wit",
        570: "acst",
        600: "aest vlat",
        630: "acdt",
        660: "aedt",
        720: "nzst",
        780: "nzdt",
    }.items()
    for name in names.split()
}
_MONTHS = {
    name: month
    for month, names in {
        "jan": "january januar jänner ene enero янв январь января",
        "feb": "february februar febrero фев февр февраль февраля",
        "mar": "march mär mrz märz maerz marzo мар март марта",
        "apr": "april abr abril апр апрель апреля",
        "may": "mai mayo май мая",
        "jun": "june juni junio июн июнь июня",
        "jul": "july juli julio июл июль июля",
        "aug": "august ago agosto авг август августа",
        "sep": "sept september septiembre setiembre сен сент сентябрь сентября",
        "oct": "october okt oktober octubre окт октябрь октября",
        "nov": "november noviembre ноя нояб ноябрь ноября",
        "dec": "december dez dezember dic diciembre дек декабрь декабря",
    }.items()
    for name in (month, *names.split())
}
_NUMBERS = {name: number for number, name in enumerate(dict.fromkeys(_MONTHS.values()), 1)}
_WEEKDAYS = _words(
    "mon tue tues wed thu thur thurs fri sat sun monday tuesday wednesday thursday friday saturday"
    " sunday mo di mi do fr sa so montag dienstag mittwoch donnerstag freitag samstag sonnabend"
    " sonntag lun mar mié mie jue vie sáb sab dom lunes martes miércoles miercoles jueves viernes"
    " sábado sabado domingo пн вт ср чт пт сб вс понедельник вторник среда"  # noqa: RUF001 - Russian
    " четверг пятница суббота воскресенье"
)
_FILLERS = _words("de del den dem um uhr a las г года в at on of")  # noqa: RUF001 - Russian

_RFC_822 = re.compile(
    r"(?:[a-z]{3,9}\.?,?\s+)?(\d{1,2})\s+([a-z]{3})\s+(\d{4})\s+(\d{2}):(\d{2})(?::(\d{2}))?\s+"
    r"(?:([a-z]{1,5})|([+-])(\d{2}):?(\d{2}))",
    re.ASCII,
)
_EPOCH = re.compile(r"(?:(\d{9,10})(?:\.\d{1,9})?|(\d{10})\d{3})", re.ASCII)
_DIGITS = re.compile(r"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?", re.ASCII)
_NUMERIC = re.compile(r"(?<![\d:.+/-])(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?![\d/-])", re.ASCII)
_YEAR_FIRST = re.compile(r"(?<![\d:.+/-])(\d{4})([./-])(\d{1,2})\2(\d{1,2})(?!\d)", re.ASCII)
_HALF = re.compile(r"(?<=\d)\s*([ap])\.?\s?m\b\.?")
_CLOCK = re.compile(
    r"(?<![\d:.,])(\d{1,2})(?::(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?\s?(?:[ap]m)?|\s?[ap]m)(?![\d:])",
    re.ASCII,
)
_OFFSET = re.compile(r"(?:^|(?<=[\sa-z(]))([+-])(\d{1,2})(?::?(\d{2}))?(?![\d/.-])", re.ASCII)
_WORD = re.compile(r"[^\W\d_]+")
_COMMENT = re.compile(r"\([^)]*\)")
_EAST_ASIAN = re.compile(r"(\d{4})\s?[年년]\s?(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日일]", re.ASCII)
_EAST_ASIAN_HALF = re.compile(
    r"(?:(오후|下午|午後)|오전|上午|午前)\s?(\d{1,2}:\d\d(?::\d\d)?)", re.ASCII
)
_MAX_SLOW = 2_000  # dates of rare forms that are read to find the newest items; 0.2 ms each
_MAX_OFFSET = 14 * 60  # minutes between UTC and the zone that is furthest from it
# Both are in leap years, so that they accept 29 February. The days are more than a week apart,
# because dateutil takes the next Monday after a default for "Monday".
_DEFAULTS = datetime(2000, 1, 1), datetime(2004, 3, 15)  # noqa: DTZ001 - zones are separate


class _Years(parser.parserinfo):  # type: ignore[misc]
    """Names as dateutil knows them, and years of two digits without a look at the clock."""

    def convertyear(self, year: int, century_specified: bool = False) -> int:
        """Return the year in full; 90 to 99 are in the last century, as in feedparser."""
        if year >= 100 or century_specified:
            return year
        return year + (1900 if year >= 90 else 2000)


_YEARS = _Years()
_PARSER = parser.parser(_YEARS)


def read_date(text: Any, order: DayOrder | None = None) -> str | None:
    """Read a date; return it in the form of RFC 3339 in UTC, or None if a part of it is missing.

    A date without zone is read as UTC, and so is one with an unknown name of a zone.

    Args:
        text: value from a feed: a text, or seconds or milliseconds since 1970 as a number.
        order: order of day and month in the feed's numeric dates, as `find_day_order` returns it.
            Without it, a date such as 1/2/2024 is not read.
    """
    if isinstance(text, int | float):
        text = str(text)
    if not isinstance(text, str) or not 6 <= len(text := text.strip()) <= MAX_DATE:
        return None
    try:
        moment = _read_standard(text.lower()) or _read_any(text.lower(), order)
    except (ValueError, OverflowError):
        return None
    return None if moment is None else format_time(moment)


def read_standard_date(text: str) -> str | None:
    """Read a date of RFC 822 or ISO 8601, in a few microseconds; return None for other forms."""
    if len(text) > MAX_DATE:
        return None
    try:
        moment = _read_standard(text.strip().lower())
    except (ValueError, OverflowError):
        return None
    return None if moment is None else format_time(moment)


def read_dates(texts: Sequence[Any]) -> list[str | None]:
    """Read the dates of many items, to compare them, in a limited time.

    Dates of other forms than RFC 822 and ISO 8601 take fifty times as long. So only the first 2,000
    of them are read, and the others are None.
    """
    order, slow = find_day_order(texts), 0
    dates = []
    for text in texts:
        date = read_standard_date(text) if isinstance(text, str) else None
        if date is None and text and slow < _MAX_SLOW:
            slow += 1
            date = read_date(text, order)
        dates.append(date)
    return dates


def find_day_order(texts: Iterable[Any]) -> DayOrder | None:
    """Return the order that the dates of a feed show: one of them has a number above 12.

    Return None if no date shows the order, or if two dates contradict each other.
    """
    shown = set()
    for text in texts:
        if isinstance(text, str) and len(text) <= MAX_DATE and (found := _NUMERIC.search(text)):
            shown.add(_shown_order(found))
    shown.discard(None)
    return shown.pop() if len(shown) == 1 else None


def format_time(moment: datetime) -> str | None:
    """Format a time as RFC 3339 in UTC, in whole seconds.

    Return None for years before 1970, and for 9999, which feeds use for "never".

    Args:
        moment: time to format; a time without offset is read as UTC.
    """
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        moment = moment.astimezone(UTC)
    except OverflowError:  # year 1 or 9999: out of range after conversion to UTC
        return None
    return moment.isoformat(timespec="seconds") if 1970 <= moment.year < 9999 else None


def _read_standard(text: str) -> datetime | None:
    """Read RFC 822 with the zone that it requires, or ISO 8601; return None for other forms."""
    if found := _RFC_822.fullmatch(text):
        day, month, year, hour, minute, second, zone, sign, hours, minutes = found.groups()
        if month not in _NUMBERS or hour == "24" or second == "60" or (zone or "gmt") not in _ZONES:
            return None
        offset = _ZONES[zone] if zone else int(f"{sign}1") * (int(hours) * 60 + int(minutes))
        if abs(offset) > _MAX_OFFSET:
            return None
        return datetime(
            *(int(year), _NUMBERS[month], int(day), int(hour), int(minute), int(second or 0)),
            tzinfo=timezone(timedelta(minutes=offset)),
        )
    if text[:4].isdecimal() and text[4:5] in "-01" and (len(text) == 8 or not text.isdecimal()):
        try:
            return datetime.fromisoformat(text.upper())
        except ValueError:
            return None
    return None


def _read_any(text: str, order: DayOrder | None) -> datetime | None:
    """Read a date in lower case of any other form.

    Raises:
        ValueError, OverflowError: the text is not a date.
    """
    if found := _EPOCH.fullmatch(text):
        return datetime.fromtimestamp(int(found[1] or found[2]), UTC)
    if found := _DIGITS.fullmatch(text):
        year, month, day, hour, minute, second = (int(part or 0) for part in found.groups())
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    text = _EAST_ASIAN.sub(r"\1-\2-\3 ", text)
    text = _EAST_ASIAN_HALF.sub(lambda half: f"{half[2]} {'pm' if half[1] else 'am'}", text)
    text = _HALF.sub(r" \1m", text)
    clock = _CLOCK.search(text)
    if clock is None:
        date, late, offset = _without_zone_name(text), timedelta(), 0
    else:
        tail, offset = _split_zone(text[clock.end() :])
        time, late = _clamp(clock)
        date = f"{text[: clock.start()]} {time} {tail}"
    date = _order_numbers(_translate(date), order)
    first, second = (_PARSER.parse(date, default=day, ignoretz=True) for day in _DEFAULTS)
    if first != second:
        return None
    moment: datetime = first.replace(tzinfo=timezone(timedelta(minutes=offset))) + late
    return moment


def _clamp(clock: re.Match[str]) -> tuple[str, timedelta]:
    """Return a possible time of day, and what must be added for 24:00 and for a leap second."""
    if clock[1] == "24" and clock[2] == "00" and clock[3] in {None, "00"}:
        return "00:00", timedelta(days=1)
    if clock[3] == "60":
        return clock[0].replace(":60", ":59"), timedelta(seconds=1)
    is_late = "12" < clock[1].zfill(2) < "24"  # "13:00 PM"
    return clock[0].rstrip(" apm") if is_late else clock[0], timedelta()


def _split_zone(tail: str) -> tuple[str, int]:
    """Return what follows the time of day without its zone, and the zone's minutes from UTC."""
    found = _OFFSET.search(tail)
    names = [word for word in _WORD.findall(tail) if word in _ZONES]
    offset = _ZONES[names[0]] if names else 0
    if found:
        offset = int(found[2]) * 60 + int(found[3] or 0)
        offset = -offset if found[1] == "-" else offset
        tail = tail[: found.start()] + " " + tail[found.end() :]
    if abs(offset) > _MAX_OFFSET:
        raise ValueError("no zone is further from UTC")
    tail = _COMMENT.sub(" ", tail).lstrip(" -–,")  # noqa: RUF001 - dashes before a date
    return _WORD.sub(lambda word: word[0] if word[0] in _MONTHS else " ", tail), offset


def _without_zone_name(text: str) -> str:
    """Return a date without time of day, and without a zone's name, which then means nothing."""
    return _WORD.sub(lambda word: " " if word[0] in _ZONES else word[0], text)


def _translate(text: str) -> str:
    """Return a text with English months, without weekdays and filling words.

    The Spanish "mar" is Tuesday if another word is the month, and else it is March.
    """
    months = [word for word in _WORD.findall(text) if word in _MONTHS]
    months = [word for word in months if word != "mar"] or months[:1]

    def english(word: re.Match[str]) -> str:
        if word[0] in months:
            return f" {_MONTHS[word[0]]} "
        return " " if word[0] in _WEEKDAYS or word[0] in _FILLERS else word[0]

    return _WORD.sub(english, text)


def _order_numbers(text: str, order: DayOrder | None) -> str:
    """Return a text whose numeric date has the order of ISO 8601.

    Raises:
        ValueError: the text has no date, or the order of its numbers is unknown.
    """
    if found := _YEAR_FIRST.search(text):
        year, month, day = found[1], int(found[3]), int(found[4])
    elif found := _NUMERIC.search(text):
        # Dots separate day and month in that order, unless the numbers show another one.
        known = _shown_order(found) or (DayOrder.DAY_FIRST if found[2] == "." else order)
        if known is None and found[1] != found[3]:
            raise ValueError("the order of day and month is unknown")
        day, month = int(found[1]), int(found[3])
        if known is DayOrder.MONTH_FIRST:
            day, month = month, day
        if found[2] == "-" and len(found[4]) == 2:
            raise ValueError("the number of the year is unknown")
        year = str(_YEARS.convertyear(int(found[4])))
    elif any(month in text for month in _NUMBERS):
        return text
    else:
        raise ValueError("no date")
    if month > 12:
        raise ValueError("no month")  # dateutil would read it as a day
    return f"{text[: found.start()]} {year}-{month:02}-{day:02} {text[found.end() :]}"


def _shown_order(found: re.Match[str]) -> DayOrder | None:
    """Return the order that a match of `_NUMERIC` shows by itself."""
    first, second = int(found[1]), int(found[3])
    if 12 < first <= 31 and second <= 12:
        return DayOrder.DAY_FIRST
    return DayOrder.MONTH_FIRST if first <= 12 < second <= 31 else None
