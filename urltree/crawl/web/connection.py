"""A connection that limits the bytes around a body: interim responses and chunk framing.

    HTTP/1.1 100 Continue, again and again        1 x 1 x 1 x 1 x …
    └─ the final response never comes             └─ six bytes of chunk framing for each byte

The limit on the size of the body stops neither of these two responses. A CPU core parses only
4.5 MB of such data per second: one host that sent such data took half of a worker's CPU time and
delayed every other event of the worker by 60 ms (measured).
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.http import HttpProcessingError

# Bytes that a connection may receive for one response, in addition to twice the size of the body.
MAX_BESIDE = 256 * 1024


class BoundedConnection(ResponseHandler):
    """A connection that is aborted if a response has too many bytes around its body."""

    _came = 0

    @classmethod
    def maker(cls, loop: asyncio.AbstractEventLoop) -> partial[ResponseHandler]:
        """Return the factory that an aiohttp connector uses for its connections."""
        make: type[ResponseHandler] = cls
        return partial(make, loop=loop)

    def set_response_params(self, **parameters: Any) -> None:
        """Reset the counter of received bytes for the next response."""
        self._came = 0
        super().set_response_params(**parameters)

    def data_received(self, data: bytes) -> None:
        """Count and process received bytes; abort the connection if they are too many."""
        transport = self.transport
        if transport is None or transport.is_closing():
            return  # an earlier call has aborted the connection
        self._came += len(data)
        super().data_received(data)
        body = self._payload.total_bytes if self._payload is not None else 0
        if self._came > MAX_BESIDE + 2 * body:
            self._fail(f"{self._came} bytes were received for a body of {body} bytes")
            transport.abort()

    def _fail(self, message: str) -> None:
        if self._payload is not None:
            self._payload.set_exception(aiohttp.ClientPayloadError(message))
        self.set_exception(HttpProcessingError(code=400, message=message))
