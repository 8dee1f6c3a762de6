"""What came of asking an address once: an answer, or trouble."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Trouble(StrEnum):
    """Why there is no answer; kept in a feed's state, counted, and written to dead letters."""

    DNS = "dns"  # the name does not resolve
    CONNECT = "connect"  # refused, reset, or not in time
    TLS = "tls"
    TIMEOUT = "timeout"  # headers, body, or all of it took too long
    PROTOCOL = "protocol"  # not HTTP, or HTTP/0.9
    TRUNCATED = "truncated"  # fewer bytes, chunks or compressed bytes than promised
    ENCODING = "encoding"  # Content-Encoding that we did not ask for, or bytes that are not it
    TOO_LARGE = "too-large"  # body after decompression
    HEADERS_TOO_LARGE = "headers-too-large"
    REFUSED_ADDRESS = (
        "refused-address"  # resolves to a private address, see `urltree.crawl.web.guard`
    )
    REDIRECT = "redirect"  # a loop, too many of them, or to what is no http address
    STATUS = "status"  # answered, with an error status
    NOT_A_FEED = "not-a-feed"
    TOO_SLOW = "too-slow"  # parsing took longer than it may

    @property
    def is_transient(self) -> bool:
        """Whether the same request may well succeed later. STATUS: depends on the status."""
        return self not in _FINAL


_FINAL = frozenset(
    {
        *(Trouble.TOO_LARGE, Trouble.HEADERS_TOO_LARGE, Trouble.REFUSED_ADDRESS),
        *(Trouble.REDIRECT, Trouble.NOT_A_FEED, Trouble.TOO_SLOW),
    }
)


class WebError(Exception):
    """There is no answer.

    Args:
        trouble: its class.
        message: for a person, with the figure that was exceeded.
    """

    def __init__(self, trouble: Trouble, message: str) -> None:
        super().__init__(message)
        self.trouble = trouble
        self.message = message

    def __reduce__(self) -> tuple[type[WebError], tuple[Trouble, str]]:
        return WebError, (self.trouble, self.message)


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response to one request; redirects are answers too, nobody has followed them.

    Attributes:
        url: that was asked.
        headers: names in lower case; what came several times is joined by ", ".
        body: decompressed; empty where it was not wanted (`urltree.crawl.web.client.get`).
        seconds: from the request to its headers: the host's latency.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float

    @property
    def is_redirect(self) -> bool:
        """Whether it points elsewhere."""
        return self.status in (301, 302, 303, 307, 308) and "location" in self.headers

    @property
    def is_permanent(self) -> bool:
        """Whether it says that the address has changed for good."""
        return self.status in (301, 308)
