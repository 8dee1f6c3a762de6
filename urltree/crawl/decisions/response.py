"""The result of one HTTP request: a response, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Trouble(StrEnum):
    """The reason why a request failed.

    The value is stored in the feed's state, counted in metrics and written to dead letters.
    """

    DNS = "dns"  # the name does not resolve
    CONNECT = "connect"  # the connection was refused, was reset, or timed out
    TLS = "tls"  # invalid certificate or failed handshake of an https host
    TIMEOUT = "timeout"  # headers, body, or the whole response took too long
    PROTOCOL = "protocol"  # the response is not valid HTTP, or is HTTP/0.9
    TRUNCATED = "truncated"  # the body, or its compressed data, ends too early
    ENCODING = "encoding"  # a Content-Encoding that was not requested, or invalid compressed data
    TOO_LARGE = "too-large"  # the decompressed body exceeds its limit
    HEADERS_TOO_LARGE = "headers-too-large"
    REFUSED_ADDRESS = (
        "refused-address"  # a private address, or a port of another protocol (`web/guard.py`)
    )
    REDIRECT = "redirect"  # a loop, too many redirects, or a target that is not an HTTP URL
    STATUS = "status"  # the response has an error status
    NOT_A_FEED = "not-a-feed"
    TOO_SLOW = "too-slow"  # parsing exceeded its time limit
    CREDENTIALS = "credentials"  # the file of the credentials is missing or invalid; no request

    @property
    def is_transient(self) -> bool:
        """Whether the same request may succeed later.

        The value is True for STATUS, although some status codes are final.
        """
        return self not in _FINAL


_FINAL = frozenset(
    {
        *(Trouble.TOO_LARGE, Trouble.HEADERS_TOO_LARGE, Trouble.REFUSED_ADDRESS),
        *(Trouble.REDIRECT, Trouble.NOT_A_FEED, Trouble.TOO_SLOW, Trouble.CREDENTIALS),
    }
)


class WebError(Exception):
    """A request without a usable response.

    Args:
        trouble: class of the failure.
        message: explanation for people; if a limit was exceeded, it contains this limit.
    """

    def __init__(self, trouble: Trouble, message: str) -> None:
        super().__init__(message)
        self.trouble = trouble
        self.message = message

    def __reduce__(self) -> tuple[type[WebError], tuple[Trouble, str]]:
        return WebError, (self.trouble, self.message)


@dataclass(frozen=True, slots=True)
class Response:
    """The HTTP response to one request. A redirect is returned as a response and is not followed.

    Attributes:
        url: address that was requested, without user name and password.
        status: status code.
        headers: header fields by lower-case name; repeated fields are joined by ", ".
        body: decompressed body; empty if the caller refused to read it (argument `wants` of
            `WebClient.get`).
        seconds: latency in seconds, from the request until all headers were read.
        is_cut: whether the body was longer than `max_bytes`, and `body` is only its beginning
            (argument `cut` of `WebClient.get`).
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float
    is_cut: bool = False

    @property
    def is_redirect(self) -> bool:
        """Whether the response is a redirect with a Location header."""
        return self.status in (301, 302, 303, 307, 308) and "location" in self.headers

    @property
    def is_permanent(self) -> bool:
        """Whether the status declares a permanent change of address."""
        return self.status in (301, 308)
