"""robots.txt (RFC 9309): the meaning of the response, and the pages that the rules allow.

2xx                       the rules in the body apply
4xx except 429            there are no rules: every page is allowed (2.3.1.3)
too many redirects, or
one not to an HTTP URL    every page is allowed (2.3.1.2)
429, 5xx, no response     no page is allowed until a later request succeeds (2.3.1.4)
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from protego import Protego

from urltree.crawl.decisions.host.host_state import RobotsText
from urltree.crawl.decisions.response import Response, Trouble, WebError

PRODUCT_TOKEN = "urltree"  # noqa: S105 - the crawler's name in User-agent lines (2.2.1)
MAX_BYTES = 500 * 1024  # bytes that are parsed; a crawler must parse at least this many (2.5)
MAX_REDIRECTS = 5  # redirects that are followed; a crawler must follow at least five (2.3.1.2)

_NONE = 404  # status that is stored after a bad redirect: there are no rules
# A line User-agent in one of the spellings that Protego accepts, and the product token that begins
# its value (RFC 9309, 2.2.1: letters, "_" and "-"). A version or a comment may follow it.
_USER_AGENT = re.compile(
    r"^([ \t]*user[ -]?agent(?:[ \t]*+:[ \t]*+|[ \t]++))([a-z_-]+)[^\n]*",
    re.IGNORECASE | re.MULTILINE,
)
# Byte order marks of encodings other than UTF-8, which `utf-8-sig` reads
_BYTE_ORDER_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


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
        return RobotsText(result.status, until, _text(result.body, is_cut=result.is_cut))
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
        self._rules = Protego.parse(_with_bare_tokens(text.body)) if text.body else None
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


def _text(body: bytes, *, is_cut: bool) -> str:
    """Return the complete lines in the first 500 KiB of a robots.txt.

    Args:
        body: body of the response, or its beginning.
        is_cut: whether `body` is only the beginning of the body.
    """
    encoding = _BYTE_ORDER_MARKS.get(body[:2])
    start = body[:MAX_BYTES]
    text = (
        start[2:].decode(encoding, "replace") if encoding else start.decode("utf-8-sig", "replace")
    )
    if is_cut or len(body) > MAX_BYTES:
        text = text[: max(text.rfind("\n"), text.rfind("\r")) + 1]
    return text


def _with_bare_tokens(text: str) -> str:
    """Reduce the value of each User-agent line to its product token (RFC 9309, 2.2.1).

    Protego compares the whole value, so it would not find our group in `User-agent: urltree/0.1`.
    It also looks for the value inside our token, so it would take the group of `url` for ours.
    """
    return _USER_AGENT.sub(_with_bare_token, "\n".join(text.splitlines()))


def _with_bare_token(line: re.Match[str]) -> str:
    token = line[2].lower()
    if token in PRODUCT_TOKEN and token != PRODUCT_TOKEN:
        token += "-"  # part of our token: another crawler
    return line[1] + token
