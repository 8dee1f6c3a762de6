"""The day on which a page says it was published, found by `htmldate`.

`htmldate` looks at the address, <meta>, JSON-LD, <time>, then at elements whose class speaks of a
date. Its "extensive" search of the whole text is not asked: 5 of 220 pages more had a date, 2 of
them a wrong one, and some took tens of milliseconds (issue 6's streams).
"""

from __future__ import annotations

from datetime import datetime
from functools import partial

import htmldate
from dateutil.parser import parse
from htmldate import extractors
from lxml.html import HtmlElement

from urltree.page import Page, microseconds

# Parts that a date does not name, such as the day of "2016-3", are dateutil's today. A result
# must depend on the page alone, and there is no option for it.
_parse = partial(parse, default=datetime(1, 1, 1))  # noqa: DTZ001
extractors.dateutil_parse = _parse  # type: ignore[attr-defined]

# The default would be the end of today. Dates after the page's own time are refused below: by day,
# for htmldate compares times without offset in the time zone of the machine.
_MAX_DATE = datetime(2999, 12, 31)  # noqa: DTZ001
_NO_ADDRESS = "about:blank"  # with None, htmldate takes the canonical address


def publication_date(tree: HtmlElement, page: Page) -> str | None:
    """YYYY-MM-DD, or None; never a day after the page was fetched or published.

    A tree and not text is handed over, for htmldate *fetches* a text that begins with `http`.
    """
    try:
        date = htmldate.find_date(
            tree,
            extensive_search=False,
            original_date=True,
            url=page.final_url or _NO_ADDRESS,
            max_date=_MAX_DATE,
        )
    except Exception:  # noqa: BLE001 - whatever it stumbles on, the page has its text
        date = None
    extractors.try_date_expr.cache_clear()  # it would keep 8,192 attributes, of any length
    return None if date is None or _is_later(date, page.time) else date


def _is_later(date: str, time: int | None) -> bool:
    """Whether a day begins, wherever on Earth, only after a time in microseconds since 1970."""
    return time is not None and microseconds(f"{date}T00:00:00+14:00") > time
