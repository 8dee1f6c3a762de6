"""Bounds what comes over the wire beside a body: interim answers and chunks of a byte.

    HTTP/1.1 100 Continue, again and again        1 x 1 x 1 x 1 x …
    └─ no answer ever                             └─ six bytes of chunks for each of the body

Neither ends by the size of what is read, and a core parses 4.5 MB of them a second: one such host
took half of a worker's CPU, and all its other events waited 60 ms each (measured).
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.http import HttpProcessingError

MAX_BESIDE = 256 * 1024  # bytes; an answer may have as many more as its body has


class BoundedConnection(ResponseHandler):
    """A connection that ends where more comes beside a body than the body itself."""

    _came = 0

    @classmethod
    def maker(cls, loop: asyncio.AbstractEventLoop) -> partial[ResponseHandler]:
        """What a connector makes its connections with."""
        make: type[ResponseHandler] = cls
        return partial(make, loop=loop)

    def set_response_params(self, **parameters: Any) -> None:
        """Another answer begins."""
        self._came = 0
        super().set_response_params(**parameters)

    def data_received(self, data: bytes) -> None:
        """Take what came, and count it."""
        transport = self.transport
        if transport is None or transport.is_closing():
            return  # ended here
        self._came += len(data)
        super().data_received(data)
        body = self._payload.total_bytes if self._payload is not None else 0
        if self._came > MAX_BESIDE + 2 * body:
            self._fail(f"{self._came} bytes came for {body} of a body")
            transport.abort()

    def _fail(self, message: str) -> None:
        if self._payload is not None:
            self._payload.set_exception(aiohttp.ClientPayloadError(message))
        self.set_exception(HttpProcessingError(code=400, message=message))
