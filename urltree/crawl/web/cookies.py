"""The cookies of one chain of redirects (RFC 6265), so that a site that sets one is reached.

    /article ──302, Set-Cookie: consent=1──▶ /consent ──302──▶ /article, Cookie: consent=1 ──▶ 200

The cookies exist only in memory and only while the chain is followed; they are part of no record
and of no log. All of them belong to one registrable domain.

The cookie jars of aiohttp 3.14 and of Python's http.cookiejar are not used. aiohttp sends only one
cookie of each name (5.4 sends all), changes quoted values, and knows no public suffixes;
http.cookiejar follows the older RFC 2109 for domains and paths.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from time import time

from yarl import URL

from urltree.address.domain import Domains
from urltree.crawl.decisions.caching import parse_http_date

_MAX_COOKIES = 50  # minimum that a browser has to support for each domain (6.1)
_MAX_BYTES = 4_096  # limit of a cookie with its attributes (6.1)
_MAX_HEADER_BYTES = 8_192  # limit of the header Cookie; many servers refuse longer headers
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_MAX_AGE = re.compile(r"-?[0-9]{1,10}")

_domain_of = Domains().of


@dataclass(frozen=True, slots=True)
class _Cookie:
    name: str
    value: str
    domain: str
    is_host_only: bool
    path: str
    is_secure: bool
    expires: float

    @property
    def identity(self) -> tuple[str, str, str]:
        return self.name, self.domain, self.path

    def fits(self, url: URL, now: float) -> bool:
        """Return whether a request sends the cookie (5.4, step 1)."""
        host = _host(url)
        return (
            (host == self.domain or (not self.is_host_only and _is_within(host, self.domain)))
            and now < self.expires
            and (url.scheme == "https" or not self.is_secure)
            and _path_matches(url.raw_path, self.path)
        )


class ChainCookies:
    """The cookies of one chain of redirects within one registrable domain.

    Args:
        domain_of: function that returns the registrable domain of a host.
        clock: returns seconds since 1970.

    Attributes:
        changes: number of cookies that were set so far. A cookie that is set again with the same
            value does not count.
    """

    def __init__(
        self, domain_of: Callable[[str], str] = _domain_of, clock: Callable[[], float] = time
    ) -> None:
        self._domain_of = domain_of
        self._clock = clock
        self._domain: str | None = None
        self._cookies: dict[tuple[str, str, str], _Cookie] = {}  # oldest first
        self.changes = 0

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self._cookies)} cookies>"

    def header(self, url: URL) -> str:
        """Return the value of the header Cookie for a request; empty if no cookie fits.

        Cookies with longer paths come first, then older ones (5.4, step 2).
        """
        if not self._cookies or self._domain_of(_host(url)) != self._domain:
            return ""
        now = self._clock()
        fitting = [cookie for cookie in self._cookies.values() if cookie.fits(url, now)]
        parts: list[str] = []
        room = _MAX_HEADER_BYTES
        for cookie in sorted(fitting, key=_by_path):
            part = f"{cookie.name}={cookie.value}" if cookie.name else cookie.value
            room -= len(part.encode(errors="replace")) + 2
            if room >= 0:
                parts.append(part)
        return "; ".join(parts)

    def store(self, url: URL, headers: Iterable[str]) -> None:
        """Store the cookies of a response.

        The first response with a cookie decides the registrable domain of the chain; cookies of
        other domains are ignored.

        Args:
            url: URL of the request.
            headers: values of the headers Set-Cookie.
        """
        host, now = _host(url), self._clock()
        for text in headers:
            cookie = _parse(text, url, now, self._domain_of(host))
            if cookie is None or self._domain not in (None, self._domain_of(host)):
                continue
            self._domain = self._domain_of(host)
            self._put(cookie, now)

    def _put(self, cookie: _Cookie, now: float) -> None:
        before = self._cookies.get(cookie.identity)
        if cookie.expires <= now:
            if self._cookies.pop(cookie.identity, None) is not None:
                self.changes += 1
            return
        if before is None or before.value != cookie.value:
            self.changes += 1
        self._cookies[cookie.identity] = cookie  # a cookie that is replaced keeps its place (5.3)
        while len(self._cookies) > _MAX_COOKIES:
            del self._cookies[next(iter(self._cookies))]


def may_request_again(changes_before: Sequence[int], changes: int) -> bool:
    """Return whether a chain of redirects may request an address that it has requested before.

    It may do so once, if a cookie was set since then. Otherwise the response would be the same.

    Args:
        changes_before: `ChainCookies.changes` at each earlier request for this address.
        changes: its value now.
    """
    return not changes_before or (len(changes_before) == 1 and changes > changes_before[0])


def _parse(text: str, url: URL, now: float, registrable: str) -> _Cookie | None:
    """Parse a Set-Cookie header (5.2) and apply the rules for storing it (5.3).

    Args:
        text: value of the header.
        url: URL of the request.
        now: time of the response, seconds since 1970.
        registrable: registrable domain of the URL's host.
    """
    if len(text.encode(errors="replace")) > _MAX_BYTES or _CONTROL.search(text):
        return None
    pair, *rest = text.split(";")
    name, has_name, value = pair.partition("=")
    if not has_name:
        return None
    attributes = dict(filter(None, map(_attribute, rest)))  # the last of equal attributes counts
    host, domain = _host(url), attributes.get("domain", "").removeprefix(".").lower()
    if domain and not (_is_within(host, domain) and _is_within(domain, registrable)):
        return None  # the domain of another host, or a public suffix
    path = attributes.get("path", "")
    is_secure = "secure" in attributes
    if not name.strip() or (is_secure and url.scheme != "https"):
        return None  # browsers refuse both (RFC 6265bis, 5.7)
    return _Cookie(
        name=name.strip(),
        value=value.strip(),
        domain=domain or host,
        is_host_only=not domain,
        path=path if path.startswith("/") else _default_path(url.raw_path),
        is_secure=is_secure,
        expires=_expiry(attributes, now),
    )


def _attribute(text: str) -> tuple[str, str] | None:
    """Return name and value of an attribute; None if it is a Domain without value (5.2.3)."""
    name, _, value = text.partition("=")
    pair = name.strip().lower(), value.strip()
    return None if pair == ("domain", "") else pair


def _expiry(attributes: dict[str, str], now: float) -> float:
    """Return when a cookie expires; Max-Age counts before Expires (5.3, step 3)."""
    max_age = attributes.get("max-age", "")
    if _MAX_AGE.fullmatch(max_age):
        return now + int(max_age)
    expires = parse_http_date(attributes.get("expires", ""))
    return math.inf if expires is None else expires


def _default_path(path: str) -> str:
    """Return the path of a cookie without the attribute Path (5.1.4)."""
    return path.rpartition("/")[0] or "/"


def _path_matches(path: str, of_cookie: str) -> bool:
    """Return whether a cookie is sent with requests for a path (5.1.4)."""
    return path == of_cookie or path.startswith(of_cookie.removesuffix("/") + "/")


def _is_within(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")


def _host(url: URL) -> str:
    return (url.raw_host or "").lower()


def _by_path(cookie: _Cookie) -> int:
    return -len(cookie.path)
