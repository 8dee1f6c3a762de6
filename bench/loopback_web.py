"""A web server for all hosts, which runs as another process so that its CPU is not counted.

    /page/N   a page of a folder, which ends with a title of its own
    /304/N    a feed that never changes; a conditional request gets the status 304
    /200/N    a feed with the same items, but different bytes in each response

Usage: `python -m bench.loopback_web FOLDER PORT`. The server responds for every host name.
"""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path

from aiohttp import web

ITEMS = 20  # number of items of each feed
SUMMARY = "What has happened, in a few words, and why it matters to readers. " * 4
TAG = '"unchanged"'


def feed_xml(number: int, version: int = 0) -> str:
    """Return an RSS feed of about 9 KB."""
    items = "".join(
        f"<item><title>Story {n} of feed {number}</title>"
        f"<link>http://www.feed{number}.example/story/{n}.html</link>"
        f"<pubDate>Mon, 02 Mar 2026 {n:02}:00:00 GMT</pubDate>"
        f"<description>{SUMMARY}</description></item>"
        for n in range(ITEMS)
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel>'
        f"<title>Feed {number}</title><link>http://www.feed{number}.example/</link>"
        f"<description>Version {version}</description>{items}</channel></rss>"
    )


def page_title(number: int) -> str:
    """Return the title of a page. A page without the title of its item might be a wall."""
    return f"Report about {str(number).translate(_LETTERS)} and others"


_LETTERS = str.maketrans("0123456789", "ghijklmnop")


def application(folder: Path) -> web.Application:
    """Return the server's application."""
    pages = [file.read_bytes() for file in sorted(folder.iterdir())]
    versions = count()

    async def page(request: web.Request) -> web.Response:
        number = int(request.match_info["n"])
        body = pages[number % len(pages)] + f"<p>{page_title(number)}</p>".encode()
        return web.Response(body=body, headers={"Content-Type": "text/html; charset=utf-8"})

    async def quiet(request: web.Request) -> web.Response:
        if request.headers.get("If-None-Match") == TAG:
            return web.Response(status=304, headers={"ETag": TAG})
        text = feed_xml(int(request.match_info["n"]))
        return web.Response(text=text, content_type="application/rss+xml", headers={"ETag": TAG})

    async def lively(request: web.Request) -> web.Response:
        text = feed_xml(int(request.match_info["n"]), next(versions))
        return web.Response(text=text, content_type="application/rss+xml")

    app = web.Application()
    app.router.add_get("/page/{n}", page)
    app.router.add_get("/304/{n}", quiet)
    app.router.add_get("/200/{n}", lively)
    return app


if __name__ == "__main__":
    web.run_app(
        application(Path(sys.argv[1])),
        host="127.0.0.1",
        port=int(sys.argv[2]),
        access_log=None,
        print=lambda _: None,
    )
