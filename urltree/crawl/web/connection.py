"""A connection that limits the bytes around a body, and forgives what browsers forgive.

    HTTP/1.1 100 Continue, again and again        1 x 1 x 1 x 1 x …
    └─ the final response never comes             └─ six bytes of chunk framing for each byte

The limit on the size of the body stops neither of these two responses. A CPU core parses only
4.5 MB of such data per second: one host that sent such data took half of a worker's CPU time and
delayed every other event of the worker by 60 ms (measured).

    Content-Length: 12, Content-Length: 12        304 Not Modified, with a body
    └─ equal values count once                    └─ the body is dropped with the connection

aiohttp's parser refuses both. So the connection keeps the bytes of the headers until the parser has
accepted them. If the parser refuses them, a second parser gets the mended bytes.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.http import HttpProcessingError

# Bytes that a connection may receive for one response, in addition to twice the size of the body.
MAX_BESIDE = 256 * 1024

_END_OF_HEADERS = re.compile(rb"\r?\n\r?\n")
_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})")
_CONTENT_LENGTH = re.compile(rb"\r?\ncontent-length[ \t]*:([^\r\n]*)", re.IGNORECASE)
_WITHOUT_BODY = (204, 304)  # statuses whose response ends with its headers (RFC 9112, 6.3)


class BoundedConnection(ResponseHandler):
    """A connection that is aborted if a response has too many bytes around its body.

    Attributes:
        address: IP address to which the connection was made; None behind a proxy.
    """

    address: str | None = None
    _came = 0
    _lenient: _LenientParser | None = None

    @classmethod
    def maker(cls, loop: asyncio.AbstractEventLoop) -> partial[ResponseHandler]:
        """Return the factory that an aiohttp connector uses for its connections."""
        make: type[ResponseHandler] = cls
        return partial(make, loop=loop)

    def set_response_params(self, **parameters: Any) -> None:
        """Make a parser for the next response, and reset the counter of received bytes."""

        def make() -> Any:
            super(BoundedConnection, self).set_response_params(**parameters)
            parser, self._parser = self._parser, lenient  # type: ignore[assignment]
            return parser

        self._came = 0
        self._lenient = lenient = _LenientParser(make)
        lenient.start()

    def data_received(self, data: bytes) -> None:
        """Count and process received bytes; abort the connection if they are too many."""
        transport = self.transport
        if transport is None or transport.is_closing():
            return  # an earlier call has aborted the connection
        if data and self._is_over():
            # The bytes belong to no request. The next response would begin with them.
            self.force_close()
            transport.abort()
            return
        self._came += len(data)
        super().data_received(data)
        body = self._payload.total_bytes if self._payload is not None else 0
        if self._came > MAX_BESIDE + 2 * body:
            self._fail(f"{self._came} bytes were received for a body of {body} bytes")
            transport.abort()
        elif self._lenient is not None and self._lenient.has_undelivered_body:
            self.force_close()

    def _is_over(self) -> bool:
        """Return whether the response of the last request is complete."""
        return (
            self._lenient is not None
            and self._lenient.is_final
            and (self._payload is None or self._payload.is_eof())
        )

    def _fail(self, message: str) -> None:
        if self._payload is not None:
            self._payload.set_exception(aiohttp.ClientPayloadError(message))
        self.set_exception(HttpProcessingError(code=400, message=message))


class _LenientParser:
    """aiohttp's parser of one response, with a second chance for headers that it refuses.

    Args:
        make: function that returns a new parser.

    Attributes:
        is_final: whether the headers of the final response were parsed.
        has_undelivered_body: whether a response without body declared or had one, so that its bytes
            may still arrive.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._parser: Any = None
        self._head: list[bytes] = []
        self.is_final = False
        self.has_undelivered_body = False

    def start(self) -> None:
        """Make the first parser."""
        self._parser = self._make()

    def feed_data(self, data: bytes) -> Any:
        """Parse received bytes; return the messages, whether to upgrade, and unparsed bytes."""
        if self.is_final:
            return self._parser.feed_data(data)
        self._head.append(data)
        try:
            found = self._parser.feed_data(data)
        except Exception:
            mended = self._mended()
            if mended is None:
                raise
            self._parser = self._make()
            found = self._parser.feed_data(mended)
        for message, _ in found[0]:
            if message.code >= 200 or message.code == 101:
                self.is_final = True
                self._head.clear()
                if message.code in _WITHOUT_BODY:
                    length = message.headers.get("Content-Length", "0")
                    self.has_undelivered_body |= message.chunked or length != "0"
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._parser, name)

    def _mended(self) -> bytes | None:
        """Return the received bytes in a form that the parser accepts; None if there is none."""
        came, start = b"".join(self._head), 0
        while (end := _END_OF_HEADERS.search(came, start)) is not None:
            head, rest = came[start : end.start()], came[end.end() :]
            status = _STATUS.match(head)
            if status is None:
                return None
            if status[1].startswith(b"1") and status[1] != b"101":
                start = end.end()
                continue
            once = _with_one_length(head)
            if int(status[1]) in _WITHOUT_BODY:
                self.has_undelivered_body = True
                return once + b"\r\n\r\n"
            return None if once == head else once + b"\r\n\r\n" + rest
        return None


def _with_one_length(head: bytes) -> bytes:
    """Return headers in which equal repeated Content-Length headers stand once.

    The values may also be repeated in one header, as a list (RFC 9110, 8.6). Headers with different
    values are returned unchanged.
    """
    values = [
        value.strip() for match in _CONTENT_LENGTH.finditer(head) for value in match[1].split(b",")
    ]
    if len(values) < 2 or len(set(values)) > 1:
        return head
    return _CONTENT_LENGTH.sub(b"", head) + b"\r\nContent-Length: " + values[0]
