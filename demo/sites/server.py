"""The five sites over HTTP on loopback, told apart by the Host header."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from demo.sites.sample import Sample


@asynccontextmanager
async def serving(sample: Sample) -> AsyncIterator[int]:
    """Serve while the context lasts; gives the port.

    As behind a proxy that ends TLS, the scheme is in `X-Forwarded-Proto`, https where it is
    missing.
    """

    async def answer(request: web.Request) -> web.Response:
        site = sample.site(request.host)
        if site is None:
            return web.Response(status=421, text=f"no site called {request.host}")
        scheme = request.headers.get("X-Forwarded-Proto", "https")
        found = site.answer(scheme, request.raw_path)
        headers = {"Content-Type": found.content_type}
        if found.location:
            headers["Location"] = found.location
        return web.Response(status=found.status, body=found.body, headers=headers)

    application = web.Application()
    application.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    try:
        listener = web.TCPSite(runner, "127.0.0.1", 0)
        await listener.start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()
