"""robots.txt, as RFC 9309 says: what an answer means, and what the rules allow us.

2xx              its rules count
4xx but 429      there are none: everything is allowed (2.3.1.3)
too many redirects, or one to nowhere: the same (2.3.1.2)
429, 5xx, none   nothing is allowed for now (2.3.1.4)
"""

from __future__ import annotations

from urllib.parse import urlsplit

from protego import Protego

from urltree.crawl.decisions.host.host_state import RobotsText
from urltree.crawl.decisions.response import Response, Trouble, WebError

PRODUCT_TOKEN = "urltree"  # noqa: S105 - our product token in User-agent lines (2.2.1)
MAX_BYTES = 500 * 1024  # what has to be read of it at least (2.5)
MAX_REDIRECTS = 5  # that have to be followed at least (2.3.1.2)

_NONE = 404  # stands for every answer that says that there are no rules


def robots_url(url: str) -> str:
    """Where the robots.txt of a page lies."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/robots.txt"


def interpret_robots(came: Response | WebError, until: float) -> RobotsText | str:
    """What holds of an answer until then; or in words, why nothing is allowed for now."""
    if isinstance(came, WebError):
        if came.trouble is Trouble.REDIRECT:
            return RobotsText(_NONE, until)
        return f"{came.trouble}: {came.message}"
    if 200 <= came.status < 300:
        return RobotsText(came.status, until, _text(came.body))
    if came.status == 429 or came.status >= 500:
        return f"status {came.status}"
    return RobotsText(came.status, until)


class Robots:
    """The rules of one robots.txt for us.

    Args:
        text: as it was answered.
    """

    def __init__(self, text: RobotsText) -> None:
        self._rules = Protego.parse(text.body) if text.body else None
        self.bytes = len(text.body)

    def allows(self, url: str) -> bool:
        """Whether we may ask for a page."""
        return self._rules is None or self._rules.can_fetch(url, PRODUCT_TOKEN)

    @property
    def crawl_delay(self) -> float | None:
        """Seconds between two requests that it asks for; not of the RFC, and widespread."""
        return None if self._rules is None else self._rules.crawl_delay(PRODUCT_TOKEN)


def _text(body: bytes) -> str:
    """The part that is read: whole lines of its first 500 KiB."""
    if len(body) > MAX_BYTES:
        body = body[:MAX_BYTES].rpartition(b"\n")[0]
    return body.decode("utf-8-sig", errors="replace")
