"""A server of the five sites on loopback, over HTTP and over TLS with its own CA."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.utils import formatdate
from hashlib import blake2b
from pathlib import Path

import trustme
from aiohttp import web

from demo.sites.press import Press
from demo.sites.sample import SiteSample
from demo.sites.site import SampleSite

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Served:
    """The addresses of the running server.

    Attributes:
        http, https: ports of 127.0.0.1.
        ca_file: PEM file of the certificate that signs the sites' certificates.
    """

    http: int
    https: int
    ca_file: Path

    @property
    def connect_to(self) -> str:
        """Rules that send all requests to this server, as in curl's option --connect-to."""
        return f":80:{LOOPBACK}:{self.http},:443:{LOOPBACK}:{self.https}"


@asynccontextmanager
async def serving(sample: SiteSample, press: Press, directory: Path) -> AsyncIterator[Served]:
    """Serve the sites until the context ends.

    Args:
        sample: sites with their feeds.
        press: decides which items are published.
        directory: directory for the CA's certificate.
    """
    ca = trustme.CA()
    ca_file = directory / "ca.pem"
    ca.cert_pem.write_to_path(str(ca_file))
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    ca.issue_cert(*(site.host for site in sample.sites)).configure_cert(tls)
    runner = web.AppRunner(_application(sample, press), access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, LOOPBACK, 0).start()
        await web.TCPSite(runner, LOOPBACK, 0, ssl_context=tls).start()
        http, https = (address[1] for address in runner.addresses)
        yield Served(http, https, ca_file)
    finally:
        await runner.cleanup()


def _application(sample: SiteSample, press: Press) -> web.Application:
    async def answer(request: web.Request) -> web.Response:
        site = sample.site(request.host)
        if site is None:
            return web.Response(status=421, text=f"This server has no site {request.host}")
        if request.scheme == "https" and request.raw_path == site.feed.path:
            return _feed(site, press, request)
        found = site.answer(request.scheme, request.raw_path)
        headers = {"Content-Type": found.content_type}
        if found.location:
            headers["Location"] = found.location
        return web.Response(status=found.status, body=found.body, headers=headers)

    application = web.Application()
    application.router.add_get("/{path:.*}", answer)
    return application


def _feed(site: SampleSite, press: Press, request: web.Request) -> web.Response:
    """Return the feed, or 304 if the ETag matches; Last-Modified is precise only to a second."""
    issue = press.issue(site.host)
    body = site.listing(issue.items)
    validators = {
        "ETag": f'"{blake2b(body, digest_size=8).hexdigest()}"',
        "Last-Modified": formatdate(issue.changed, usegmt=True),
    }
    if validators["ETag"] in request.headers.get("If-None-Match", ""):
        return web.Response(status=304, headers=validators)
    kind = f"{site.feed.media_type}; charset={site.charset}"
    return web.Response(body=body, headers={"Content-Type": kind, **validators})
