"""robots.txt (RFC 9309): what the response means, and which pages the rules allow.

2xx              the rules in the body apply
4xx except 429   there are no rules: everything is allowed (2.3.1.3)
bad redirect     too many, or not to an HTTP URL: everything is allowed (2.3.1.2)
429, 5xx, none   nothing is allowed for now (2.3.1.4)
"""

from __future__ import annotations

from urllib.parse import urlsplit

from protego import Protego

from urltree.crawl.decisions.host.host_state import RobotsText
from urltree.crawl.decisions.response import Response, Trouble, WebError

PRODUCT_TOKEN = "urltree"  # noqa: S105 - the crawler's name in User-agent lines (2.2.1)
MAX_BYTES = 500 * 1024  # minimum that a crawler must parse (2.5)
MAX_REDIRECTS = 5  # minimum that a crawler must follow (2.3.1.2)

_NONE = 404  # status that represents all responses without rules


def robots_url(url: str) -> str:
    """Return the URL of the robots.txt for a page."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/robots.txt"


def interpret_robots(result: Response | WebError, until: float) -> RobotsText | str:
    """Return the robots.txt in a response, or a message that says why nothing is allowed for now.

    Args:
        result: result of the request.
        until: expiry of the robots.txt, seconds since 1970.
    """
    if isinstance(result, WebError):
        if result.trouble is Trouble.REDIRECT:
            return RobotsText(_NONE, until)
        return f"{result.trouble}: {result.message}"
    if 200 <= result.status < 300:
        return RobotsText(result.status, until, _text(result.body))
    if result.status == 429 or result.status >= 500:
        return f"status {result.status}"
    return RobotsText(result.status, until)


class Robots:
    """The rules of one robots.txt that apply to this crawler.

    Args:
        text: robots.txt of the host.
    """

    def __init__(self, text: RobotsText) -> None:
        self._rules = Protego.parse(text.body) if text.body else None
        self.bytes = len(text.body)

    def allows(self, url: str) -> bool:
        """Return whether the crawler may request a page."""
        return self._rules is None or self._rules.can_fetch(url, PRODUCT_TOKEN)

    @property
    def crawl_delay(self) -> float | None:
        """Seconds between two requests that Crawl-delay asks for; None without it.

        Crawl-delay is widespread, although the RFC does not define it.
        """
        return None if self._rules is None else self._rules.crawl_delay(PRODUCT_TOKEN)


def _text(body: bytes) -> str:
    """Return the complete lines in the first 500 KiB."""
    if len(body) > MAX_BYTES:
        body = body[:MAX_BYTES].rpartition(b"\n")[0]
    return body.decode("utf-8-sig", errors="replace")
