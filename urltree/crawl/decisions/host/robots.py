"""robots.txt (RFC 9309): the meaning of the response, and the pages that the rules allow.

2xx                       the rules in the body apply
4xx except 429            there are no rules: every page is allowed (2.3.1.3)
too many redirects, or
one not to an HTTP URL    every page is allowed (2.3.1.2)
429, 5xx, no response     no page is allowed until a later request succeeds (2.3.1.4)
"""

from __future__ import annotations

from urllib.parse import urlsplit

from protego import Protego

from urltree.crawl.decisions.host.host_state import RobotsText
from urltree.crawl.decisions.response import Response, Trouble, WebError

PRODUCT_TOKEN = "urltree"  # noqa: S105 - the crawler's name in User-agent lines (2.2.1)
MAX_BYTES = 500 * 1024  # bytes that are parsed; a crawler must parse at least this many (2.5)
MAX_REDIRECTS = 5  # redirects that are followed; a crawler must follow at least five (2.3.1.2)

_NONE = 404  # status that is stored after a bad redirect: there are no rules


def robots_url(url: str) -> str:
    """Return the URL of the robots.txt for a page."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/robots.txt"


def interpret_robots(result: Response | WebError, until: float) -> RobotsText | str:
    """Return the robots.txt in a response, or a message that says why no page is allowed now.

    Args:
        result: result of the request.
        until: time at which the robots.txt expires, seconds since 1970.
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
        text: response of the host to the request for robots.txt.

    Attributes:
        bytes: number of characters of robots.txt.
    """

    def __init__(self, text: RobotsText) -> None:
        self._rules = Protego.parse(text.body) if text.body else None
        self.bytes = len(text.body)

    def allows(self, url: str) -> bool:
        """Return whether the crawler may request a page."""
        return self._rules is None or self._rules.can_fetch(url, PRODUCT_TOKEN)

    @property
    def crawl_delay(self) -> float | None:
        """Seconds between two requests that a Crawl-delay asks for; None if there is none.

        Many sites use Crawl-delay, although the RFC does not define it.
        """
        return None if self._rules is None else self._rules.crawl_delay(PRODUCT_TOKEN)


def _text(body: bytes) -> str:
    """Return the complete lines in the first 500 KiB of a robots.txt."""
    if len(body) > MAX_BYTES:
        body = body[:MAX_BYTES].rpartition(b"\n")[0]
    return body.decode("utf-8-sig", errors="replace")
