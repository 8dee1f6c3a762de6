"""Find the day on which a page was published, with `htmldate`.

`htmldate` reads the address, <meta>, JSON-LD, <time>, and then elements whose class suggests a
date. The "extensive" search of `htmldate` in the whole text is not used: of 220 pages, it found a
date on 5 more pages, and 2 of these dates were wrong. On some pages it took tens of milliseconds.
"""

from __future__ import annotations

from datetime import datetime
from functools import partial

import htmldate
from dateutil.parser import parse
from htmldate import extractors
from lxml.html import HtmlElement

from urltree.page import Page, microseconds

# dateutil takes missing parts of a date, such as the day in "2016-3", from today's date. But the
# result must depend on the page alone. htmldate has no option for this, so its parser is replaced.
_parse = partial(parse, default=datetime(1, 1, 1))  # noqa: DTZ001
extractors.dateutil_parse = _parse  # type: ignore[attr-defined]

# Latest date that htmldate accepts; its default is the end of today. `_is_later` refuses a date
# after the time of the page, because htmldate would use the time zone of the machine.
_MAX_DATE = datetime(2999, 12, 31)  # noqa: DTZ001
_NO_ADDRESS = "about:blank"  # without an address, htmldate reads the canonical link


def publication_date(tree: HtmlElement, page: Page) -> str | None:
    """Return the day as YYYY-MM-DD, or None if it is not found or later than the page's time.

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
    except Exception:  # noqa: BLE001 - htmldate's error must not cost the page
        date = None
    extractors.try_date_expr.cache_clear()  # it would keep 8,192 texts of any length
    return None if date is None or _is_later(date, page.time) else date


def _is_later(date: str, time: int | None) -> bool:
    """Return whether a day begins after a time (microseconds since 1970) in every time zone."""
    return time is not None and microseconds(f"{date}T00:00:00+14:00") > time
