"""A connection that limits the bytes around a body: interim responses and one-byte chunks.

    HTTP/1.1 100 Continue, again and again        1 x 1 x 1 x 1 x …
    └─ the final response never comes             └─ six bytes of chunk framing for each byte

The limit on the body's size stops neither. A core parses 4.5 MB of such data a second: one such
host took half of a worker's CPU and delayed all its other events by 60 ms each (measured).
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.http import HttpProcessingError

# Bytes that may be received in addition to a body; as many more are allowed as the body has.
MAX_BESIDE = 256 * 1024


class BoundedConnection(ResponseHandler):
    """A connection that is closed when it receives more bytes around a body than the body has."""

    _came = 0

    @classmethod
    def maker(cls, loop: asyncio.AbstractEventLoop) -> partial[ResponseHandler]:
        """Return the factory that an aiohttp connector uses for its connections."""
        make: type[ResponseHandler] = cls
        return partial(make, loop=loop)

    def set_response_params(self, **parameters: Any) -> None:
        """Start counting for another response."""
        self._came = 0
        super().set_response_params(**parameters)

    def data_received(self, data: bytes) -> None:
        """Process received bytes and count them."""
        transport = self.transport
        if transport is None or transport.is_closing():
            return  # the connection was aborted below
        self._came += len(data)
        super().data_received(data)
        body = self._payload.total_bytes if self._payload is not None else 0
        if self._came > MAX_BESIDE + 2 * body:
            self._fail(f"{self._came} bytes were received for {body} bytes of a body")
            transport.abort()

    def _fail(self, message: str) -> None:
        if self._payload is not None:
            self._payload.set_exception(aiohttp.ClientPayloadError(message))
        self.set_exception(HttpProcessingError(code=400, message=message))
