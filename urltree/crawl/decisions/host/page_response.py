"""The meaning of the response to a page request: a page, a fault of the page, or a retry.

a wall (walls.py)     final error: the text of a wall must not become text of the site
a redirect            no error: the caller follows it
2xx                   a page if it may be HTML, with metadata from its headers and its head
408, 425, 429, 5xx    temporary error: the page is requested again later
any other status      final error
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from urltree.crawl.decisions.host.head_links import find_head_links
from urltree.crawl.decisions.host.page.paywall import is_paywall_stub
from urltree.crawl.decisions.host.walls import find_wall
from urltree.crawl.decisions.response import Response, Trouble, WebError
from urltree.page import MAX_META_BYTES, Page, PageError, Reason
from urltree.reading.admission import admit, may_be_html

REQUEST_HEADERS = {"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1"}

# Headers that describe the page: its age, its language, and what its site permits.
_KEPT = ("last-modified", "etag", "content-language", "x-robots-tag", "date", "link")
_TRANSIENT = (408, 425, 429)
_REASONS = {
    Trouble.REFUSED_ADDRESS: Reason.REFUSED_ADDRESS,
    Trouble.REDIRECT: Reason.REDIRECT,
    Trouble.TOO_LARGE: Reason.TOO_LARGE,
    Trouble.HEADERS_TOO_LARGE: Reason.TOO_LARGE,
}


class TryLaterError(Exception):
    """A failed request for a page that may succeed later.

    Args:
        message: explanation for people.
        reason: reason of the dead letter that is written if the last attempt fails too.
    """

    def __init__(self, message: str, reason: Reason = Reason.UNREACHABLE) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason


class WallError(PageError):
    """A wall instead of the page: a robot test, or a demand for consent, login or payment.

    Args:
        wall: name of the wall (`walls.py`, `page/page_ends.py`, `page/paywall.py`).
        status: status of the response.
        message: explanation for people; None for the usual one.
    """

    def __init__(self, wall: str, status: int, message: str | None = None) -> None:
        usual = f"the response is the wall {wall!r} instead of the page (status {status})"
        super().__init__(Reason.WALL, message or usual)
        self.wall = wall
        self.status = status


class StatusError(PageError):
    """A status that is final, unless the page is new (`host_state.retry_refused_at`).

    Args:
        status: status of the response.
    """

    def __init__(self, status: int) -> None:
        super().__init__(Reason.HTTP_STATUS, f"the response has status {status}")
        self.status = status


def wants_body(status: int, headers: Mapping[str, str]) -> bool:
    """Return whether to read the body of a response: a page, or an error that may be a wall.

    Some walls have a status of redirects without an address (walls.yaml: sucuri).
    """
    is_redirect = 300 <= status < 400 and "location" in headers
    return may_be_html(headers.get("content-type")) and not is_redirect


def error_for_trouble(error: WebError) -> PageError | TryLaterError:
    """Return the error to raise if the request for a page had no usable response."""
    message = f"{error.trouble}: {error.message}"
    if error.trouble.is_transient:
        return TryLaterError(message)
    return PageError(_REASONS.get(error.trouble, Reason.UNREACHABLE), message)


def check_response(response: Response) -> None:
    """Raise an error unless the response is a page or a redirect.

    Raises:
        WallError: the response is a wall.
        StatusError: the status is final, unless the page is new.
        TryLaterError: the status is temporary, so the request may succeed later.
    """
    found = find_wall(response.status, response.headers, response.body)
    if found is not None:
        raise WallError(found, response.status)
    if response.is_redirect:
        return
    if response.status in _TRANSIENT or response.status >= 500:
        raise TryLaterError(f"status {response.status}")
    if not 200 <= response.status < 300:
        raise StatusError(response.status)
    if is_paywall_stub(response.body, response.headers.get("content-type")):
        raise WallError("paywall-stub", response.status)


def make_page(response: Response, page: Page, now: float, max_bytes: int) -> Page:
    """Return the page in a response. The rules of stage `normalize` decide whether it is admitted.

    Args:
        response: response that passed `check_response`.
        page: page with the fields from its feed. `page.redirects` contains all addresses after the
            first one, and the last of them is the address of the response.
        now: time at which the response was complete, seconds since 1970.
        max_bytes: maximum size of a page.

    Raises:
        PageError: the page is refused as empty, too-large or not-html.
    """
    found = replace(
        page,
        html=response.body,
        response_url=response.url if response.url != page.url else None,
        content_type=response.headers.get("content-type"),
        status=response.status,
        fetched_at=format_rfc3339(now),
        redirects=page.redirects[:-1],
        meta=_add_metadata(page.meta, response),
    )
    if not may_be_html(found.content_type):  # the body of such a response was not read
        raise PageError(Reason.NOT_HTML, f"content_type: {found.content_type} is not HTML")
    admit(found, max_bytes)
    return found


def format_rfc3339(time: float) -> str:
    """Format seconds since 1970 as text in UTC, with microseconds."""
    return datetime.fromtimestamp(time, UTC).isoformat(timespec="microseconds")[:-6] + "Z"


def _add_metadata(meta: Mapping[str, str], response: Response) -> dict[str, str]:
    """Return the user's metadata, and entries from the response if they fit in MAX_META_BYTES.

    The user's entries are not changed.
    """
    canonical, amp = find_head_links(response.body, response.url)
    ours = {"link.canonical": canonical, "link.amp": amp}
    ours |= {f"http.{name}": response.headers.get(name) for name in _KEPT}
    found = dict(meta)
    room = MAX_META_BYTES - sum(map(_size, meta.items()))
    for name, text in ours.items():
        if text and name not in found and _size((name, text)) <= room:
            found[name] = text
            room -= _size((name, text))
    return found


def _size(pair: tuple[str, str]) -> int:
    return sum(len(text.encode(errors="replace")) for text in pair)
