"""Fetch the sample: over real HTTP, but to loopback whatever the address says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import urljoin, urlsplit

import aiohttp
from yarl import URL

from demo.sites import Request, Sample
from demo.sites.server import serving
from urltree.page import MAX_REDIRECTS, Page

_REDIRECTS = frozenset({301, 302, 303, 307, 308})


async def fetch(sample: Sample) -> AsyncIterator[Page]:
    """Serve the sites and fetch each request of the sample, one after the other."""
    async with serving(sample) as port, aiohttp.ClientSession() as session:
        for request in sample.requests:
            yield await _fetch(session, port, request)


async def _fetch(session: aiohttp.ClientSession, port: int, request: Request) -> Page:
    passed = [request.url]
    for _ in range(MAX_REDIRECTS):
        response, body = await _get(session, port, passed[-1])
        if response.status not in _REDIRECTS:
            break
        passed.append(urljoin(passed[-1], response.headers["Location"]))
    return Page(
        url=request.url,
        html=body,
        response_url=passed[-1] if len(passed) > 1 else None,
        content_type=response.headers["Content-Type"],
        status=response.status,
        title=request.title,
        published=request.published.isoformat() if request.published else None,
        fetched_at=request.fetched_at.isoformat(),
        redirects=tuple(passed[1:-1]),
    )


async def _get(
    session: aiohttp.ClientSession, port: int, url: str
) -> tuple[aiohttp.ClientResponse, bytes]:
    parts = urlsplit(url)
    target = f"{parts.path}?{parts.query}" if parts.query else parts.path
    async with session.get(
        URL(f"http://127.0.0.1:{port}{target}", encoded=True),
        headers={"Host": parts.netloc, "X-Forwarded-Proto": parts.scheme},
        allow_redirects=False,
    ) as response:
        return response, await response.read()
