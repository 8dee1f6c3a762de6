"""aiohttp's pool of connections, restricted to the address that was chosen for a request."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import aiohttp
from aiohttp import hdrs
from aiohttp.abc import ResolveResult

from urltree.crawl.web.connection import BoundedConnection
from urltree.crawl.web.guard import Guard


class RoutedConnector(aiohttp.TCPConnector):
    """A connector that uses only the address which the guard's context names.

    A kept connection to another address of the host is not reused, so that the limit for an address
    is exact. Behind a proxy, the name of the proxy is resolved.

    Args:
        guard: guard whose context has the address of the current request.
        options: arguments of `aiohttp.TCPConnector`.
    """

    def __init__(self, guard: Guard, **options: Any) -> None:
        super().__init__(socket_factory=guard.socket, **options)
        self._guard = guard
        self._factory = BoundedConnection.maker(self._loop)

    async def _resolve_host(
        self, host: str, port: int, traces: Sequence[Any] | None = None
    ) -> list[ResolveResult]:
        target = self._guard.connecting().target
        return [target] if target is not None else await super()._resolve_host(host, port, traces)

    async def _get(self, key: Any, traces: list[Any]) -> Any:
        kept = self._conns.get(key)
        if not kept:
            return None
        target = self._guard.connecting().target
        address = None if target is None else target["host"]
        others = [one for one in kept if getattr(one[0], "address", None) != address]
        if not others:
            return await super()._get(key, traces)
        self._conns[key] = deque(one for one in kept if one not in others)
        try:
            return await super()._get(key, traces)
        finally:
            self._conns[key].extend(others)

    async def _create_connection(self, *arguments: Any, **options: Any) -> Any:
        connecting = self._guard.connecting()
        connection: Any = await super()._create_connection(*arguments, **options)
        connecting.is_connected = True
        connection.address = None if connecting.target is None else connecting.target["host"]
        return connection

    async def _start_tls_connection(self, *arguments: Any, **options: Any) -> Any:
        """Start TLS with the host, after the proxy has connected to it."""
        self._guard.connecting().is_tunnelled = True
        return await super()._start_tls_connection(*arguments, **options)

    def _update_proxy_auth_header_and_build_proxy_req(self, req: Any) -> Any:
        """Name the checked address in the request CONNECT, also in its header Host."""
        request = super()._update_proxy_auth_header_and_build_proxy_req(req)
        if req.is_ssl():
            request.headers[hdrs.HOST] = f"{req.url.host_subcomponent}:{req.url.port}"
        return request
