"""What an answer to a request for a page means: a page, a fault of the page, or come again.

2xx, may be HTML      a page, with what its headers and its head say of it
a wall (walls.py)     final: published, it would be the site's text
408, 425, 429, 5xx    may succeed later
any other status      final
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from urltree.crawl.decisions.host.head_links import find_head_links
from urltree.crawl.decisions.host.walls import find_wall
from urltree.crawl.decisions.response import Response, Trouble, WebError
from urltree.page import MAX_META_BYTES, Page, PageError, Reason
from urltree.reading.admission import admit, may_be_html

REQUEST_HEADERS = {"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1"}

# Headers that say something of the page: its age, its language, what its site wishes.
_KEPT = ("last-modified", "etag", "content-language", "x-robots-tag", "date", "link")
_TRANSIENT = (408, 425, 429)
_REASONS = {
    Trouble.REFUSED_ADDRESS: Reason.REFUSED_ADDRESS,
    Trouble.REDIRECT: Reason.REDIRECT,
    Trouble.TOO_LARGE: Reason.TOO_LARGE,
    Trouble.HEADERS_TOO_LARGE: Reason.TOO_LARGE,
}


class TryLaterError(Exception):
    """There is no page now, and may be one later.

    Args:
        message: for a person.
        reason: of the dead letter, when it was tried often enough.
    """

    def __init__(self, message: str, reason: Reason = Reason.UNREACHABLE) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason


class WallError(PageError):
    """A wall stands in for the page.

    Args:
        wall: its name.
        status: of the answer.
    """

    def __init__(self, wall: str, status: int) -> None:
        super().__init__(Reason.WALL, f"{wall}, status {status}")
        self.wall = wall


def wants_body(status: int, headers: Mapping[str, str]) -> bool:
    """Whether the body is read: a page's, and that of an error which may be a wall."""
    return may_be_html(headers.get("content-type")) and (200 <= status < 300 or status >= 400)


def error_for_trouble(error: WebError) -> PageError | TryLaterError:
    """What it means that there is no answer."""
    message = f"{error.trouble}: {error.message}"
    if error.trouble.is_transient:
        return TryLaterError(message)
    return PageError(_REASONS.get(error.trouble, Reason.UNREACHABLE), message)


def check_response(answer: Response) -> None:
    """Refuse what is neither a page nor a redirect that may lead to one.

    Raises:
        WallError: a wall.
        PageError: http-status.
        ComeAgainError: it may be one later.
    """
    found = find_wall(answer.status, answer.headers, answer.body)
    if found is not None:
        raise WallError(found, answer.status)
    if answer.is_redirect:
        return
    if answer.status in _TRANSIENT or answer.status >= 500:
        raise TryLaterError(f"status {answer.status}")
    if not 200 <= answer.status < 300:
        raise PageError(Reason.HTTP_STATUS, f"status: {answer.status} is no success")


def make_page(answer: Response, told: Page, now: float, max_bytes: int) -> Page:
    """The page that an answer is, admitted as the main job admits it.

    Args:
        answer: that `check` lets pass.
        told: what its feed says of it; `redirects` has all addresses after the first, the last is
            the one that has answered.
        now: when the answer was complete.
        max_bytes: of a page.

    Raises:
        PageError: empty, too-large, not-html.
    """
    found = replace(
        told,
        html=answer.body,
        response_url=answer.url if answer.url != told.url else None,
        content_type=answer.headers.get("content-type"),
        status=answer.status,
        fetched_at=format_rfc3339(now),
        redirects=told.redirects[:-1],
        meta=_with_ours(told.meta, answer),
    )
    if not may_be_html(found.content_type):  # its body was not read
        raise PageError(Reason.NOT_HTML, f"content_type: {found.content_type} is no HTML")
    admit(found, max_bytes)
    return found


def format_rfc3339(time: float) -> str:
    """Seconds since 1970 as text, in UTC, with microseconds."""
    return datetime.fromtimestamp(time, UTC).isoformat(timespec="microseconds")[:-6] + "Z"


def _with_ours(meta: Mapping[str, str], answer: Response) -> dict[str, str]:
    """The user's strings, and ours as far as there is room: his come back untouched."""
    canonical, amp = find_head_links(answer.body, answer.url)
    ours = {"link.canonical": canonical, "link.amp": amp}
    ours |= {f"http.{name}": answer.headers.get(name) for name in _KEPT}
    found = dict(meta)
    room = MAX_META_BYTES - sum(map(_size, meta.items()))
    for name, text in ours.items():
        if text and name not in found and _size((name, text)) <= room:
            found[name] = text
            room -= _size((name, text))
    return found


def _size(pair: tuple[str, str]) -> int:
    return sum(len(text.encode(errors="replace")) for text in pair)
