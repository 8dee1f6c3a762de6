"""The day on which a page was published, as the page itself states it; found by `htmldate`.

`htmldate` reads the address, <meta>, JSON-LD, <time>, then elements whose class suggests a date.
Its "extensive" search of the whole text is not used: it found a date on 5 more of 220 pages, 2 of
them wrong, and on some pages it took tens of milliseconds.
"""

from __future__ import annotations

from datetime import datetime
from functools import partial

import htmldate
from dateutil.parser import parse
from htmldate import extractors
from lxml.html import HtmlElement

from urltree.page import Page, microseconds

# dateutil fills missing parts of a date, such as the day of "2016-3", from today. The result must
# depend on the page alone, and dateutil has no option for this.
_parse = partial(parse, default=datetime(1, 1, 1))  # noqa: DTZ001
extractors.dateutil_parse = _parse  # type: ignore[attr-defined]

# htmldate's default is the end of today. Dates after the page's own time are refused below, and by
# day, because htmldate compares times without offset in the machine's time zone.
_MAX_DATE = datetime(2999, 12, 31)  # noqa: DTZ001
_NO_ADDRESS = "about:blank"  # with None, htmldate uses the canonical address


def publication_date(tree: HtmlElement, page: Page) -> str | None:
    """Return YYYY-MM-DD, or None; never a day after the page was fetched or published.

    htmldate gets a parsed tree, because it *downloads* a text that begins with `http`.
    """
    try:
        date = htmldate.find_date(
            tree,
            extensive_search=False,
            original_date=True,
            url=page.final_url or _NO_ADDRESS,
            max_date=_MAX_DATE,
        )
    except Exception:  # noqa: BLE001 - a page without a date still has its text
        date = None
    extractors.try_date_expr.cache_clear()  # the cache would keep 8,192 attributes of any length
    return None if date is None or _is_later(date, page.time) else date


def _is_later(date: str, time: int | None) -> bool:
    """Return whether a day begins, anywhere on Earth, after a time in microseconds since 1970."""
    return time is not None and microseconds(f"{date}T00:00:00+14:00") > time
