"""The caching headers and Retry-After determine when the next request may be sent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.urltree.crawl.decisions.polls import DAY
from urltree.crawl.decisions.caching import max_age, retry_after

NINE = 784_111_777.0  # Sun, 06 Nov 1994 08:49:37 GMT, the date of RFC 9110's examples
DATE = "Sun, 06 Nov 1994 08:49:37 GMT"


@pytest.mark.parametrize(
    ("headers", "fresh", "no_cache"),
    [
        ({}, None, False),
        ({"cache-control": "max-age=600"}, 600, False),
        ({"cache-control": 'PUBLIC , Max-Age="600"'}, 600, False),
        ({"cache-control": "max-age=31536000, no-cache"}, 31_536_000, True),
        ({"cache-control": "no-store"}, None, True),
        ({"cache-control": 'no-cache="set-cookie, x", max-age=60'}, 60, False),
        ({"cache-control": "max-age=60, max-age=900"}, 60, False),
        ({"cache-control": "s-maxage=600"}, None, False),
        ({"cache-control": "max-age=-1"}, None, False),
        ({"cache-control": "max-age=soon, private"}, None, False),
        ({"cache-control": "max-age=" + "9" * 5_000}, 2**31, False),
        ({"cache-control": "max-age=600", "age": "400"}, 200, False),
        ({"cache-control": "max-age=600", "age": "4000"}, 0, False),
        ({"pragma": "no-cache"}, None, True),
        ({"pragma": "no-cache", "cache-control": "max-age=60"}, 60, False),
        ({"date": DATE, "expires": "Sun, 06 Nov 1994 09:49:37 GMT"}, 3_600, False),
        ({"date": DATE, "expires": "0"}, None, False),
        ({"date": DATE, "expires": "Sat, 05 Nov 1994 08:49:37 GMT"}, None, False),
        (
            {
                "date": DATE,
                "expires": "Sun, 06 Nov 1994 09:49:37 GMT",
                "cache-control": "max-age=5",
            },
            5,
            False,
        ),
    ],
)
def test_an_answer_is_fresh_for_as_long_as_its_headers_say(
    headers: dict[str, str], fresh: float | None, no_cache: bool
) -> None:
    """How long a response is fresh follows from its headers (RFC 9111, sections 4.2 and 5.2.2)."""
    assert max_age(headers) == (fresh, no_cache)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120),
        (" 120 ", 120),
        ("120, 120", 120),
        ("Sun, 06 Nov 1994 08:51:37 GMT", 120),
        ("Sunday, 06-Nov-94 08:51:37 GMT", 120),
        ("Sun Nov  6 08:51:37 1994", 120),
        ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
        ("999999", 7 * DAY),
        ("604799", 604_799),
        ("9" * 5_000, 7 * DAY),
        ("Sun, 06 Nov 2094 08:51:37 GMT", 7 * DAY),
        ("", None),
        ("-5", None),
        ("soon", None),
        ("٣", None),  # an Arabic digit, which HTTP does not allow
        ("Sun, 99 Foo 1994 08:51:37 GMT", None),
    ],
)
def test_retry_after_is_understood_in_both_forms_and_at_most_a_week(
    text: str, seconds: float | None
) -> None:
    """Retry-After is a number of seconds or a date in one of HTTP's three formats.

    It counts up to seven days.

    See RFC 9110, sections 5.6.7 and 10.2.3.
    """
    assert retry_after({"retry-after": text}, NINE) == seconds


def test_who_says_nothing_asks_for_nothing() -> None:
    """Without a Retry-After header there is no wait."""
    assert retry_after({}, NINE) is None


@given(st.text(max_size=60))
def test_no_header_breaks_us(text: str) -> None:
    """Any header value yields a time within the limits or None, and raises no exception."""
    wait = retry_after({"retry-after": text}, NINE)
    assert wait is None or 0 <= wait <= 7 * DAY
    fresh, _ = max_age({"cache-control": text, "age": text, "date": text, "expires": text})
    assert fresh is None or fresh >= 0
