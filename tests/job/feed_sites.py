"""Web sites on loopback whose feeds grow while a test runs, and which record every request.

    site0.example …   three feeds each: RSS, Atom, JSON; a story's page, or a redirect, or a 404
                      optionally a sitemap, an index of sitemaps and a section page, too
    far0.example …    pages to which some stories redirect

All sites share one port, to which the setting `connect_to` leads the workers. The contact in the
User-Agent of a request names the worker that sent it.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from random import Random

from aiohttp import web

from demo.threaded_server import ThreadedServer
from models.crawl.feed import Feed
from tests.job.feed_formats import FORMATS, Story
from tests.job.pages import Site, sentence
from urltree.crawl.decisions.poll.source_options import SourceKind, SourceOptions

FAR = 10  # number of sites that only get redirected requests
LATENCY = (0.005, 0.03)  # shortest and longest time until a response, in seconds

OTHERS = {
    "news.xml": SourceKind.SITEMAP,
    "index.xml": SourceKind.SITEMAP,  # of child0.xml and child1.xml
    "section.html": SourceKind.SECTION,
}
_XML = "application/xml"
_AGENT = re.compile(r"\(\+(.*)\)")


class Kind(StrEnum):
    """How a site responds to a request for a story's link."""

    PAGE = "page"
    MOVED_FAR = "moved-far"  # redirected to another domain
    MOVED_NEAR = "moved-near"  # redirected to another host of the same domain
    MISSING = "missing"  # status 410: a page with 404 is asked for again for hours


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, with times by `time.monotonic`.

    Attributes:
        by: name of the worker that sent the request, from the contact in the User-Agent.
        start, end: times at which the site had read the request's headers, and at which the
            response was ready to be sent.
    """

    by: str
    host: str
    path: str
    status: int
    start: float
    end: float


class FeedSites(ThreadedServer):
    """Web sites with feeds; as a context manager, it serves them on a port.

    Args:
        number: number of sites with feeds.
        seed: seed of the random stories.
        all_kinds: whether the sites have sitemaps and section pages, too.

    Attributes:
        feeds: all feeds of the sites.
        stories: stories published so far, with the kind of response to their links.
        asked: all requests that were answered, in the order of the responses.
    """

    def __init__(self, number: int, seed: int = 1, *, all_kinds: bool = False) -> None:
        super().__init__()
        self.feeds = [
            Feed(site=f"site{n}.example", url=f"http://www.site{n}.example/feeds/{name}")
            for n in range(number)
            for name in FORMATS
        ]
        if all_kinds:
            self.feeds += [
                Feed(
                    site=f"site{n}.example",
                    url=f"http://www.site{n}.example/feeds/{name}",
                    options=SourceOptions(kind=kind),
                )
                for n in range(number)
                for name, kind in OTHERS.items()
            ]
        self.stories: dict[Story, Kind] = {}
        self.asked: list[Asked] = []
        self._since = datetime.now(UTC).replace(microsecond=0) - timedelta(days=1)
        self._random = Random(seed)
        self._listed: dict[str, list[Story]] = defaultdict(list)  # by URL of the feed
        self._kinds: dict[str, tuple[Story, Kind]] = {}  # by link of the story
        self.port = 0
        for feed in self.feeds:  # a section page needs a list from which its structure is learned
            for _ in range(5 if feed.options.kind is SourceKind.SECTION else 0):
                self._publish(feed, Kind.PAGE)

    def settings(self) -> dict[str, object]:
        """Return settings that connect workers to these sites only, with long timeouts."""
        return {
            "connect_to": f"::127.0.0.1:{self.port}",
            "requests_per_address": "1000",  # all sites are at one address
            "requests_per_domain_second": "1000",
            "allow_networks": "127.0.0.0/8",
            **dict.fromkeys(("connect_seconds", "header_seconds", "read_seconds"), 60),
        }

    def rules(self) -> list[str]:
        """Return the rules for the setting `connect_to`, one for each host."""
        sites = {feed.site for feed in self.feeds}
        hosts = [f"{host}.{site}" for site in sites for host in ("www", "go", "pages")]
        hosts += [f"pages.far{n}.example" for n in range(FAR)]
        return [f"{host}::127.0.0.1:{self.port}" for host in hosts]

    def publish(self, number: int) -> None:
        """Publish `number` stories, each in a random feed, and some in a second feed, too."""
        for _ in range(number):
            feed = self._random.choice(self.feeds)
            kind = self._random.choices(list(Kind), (86, 5, 5, 4))[0]
            is_feed = feed.options.kind is SourceKind.FEED
            if kind is Kind.MOVED_NEAR and not is_feed:
                kind = Kind.PAGE  # a sitemap may name only pages of its own host
            story = self._publish(feed, kind)
            if is_feed and self._random.random() < 0.1:
                other = self._random.choice(self.feeds)
                if other.options.kind is SourceKind.FEED and other != feed:
                    self._listed[other.url].append(story)

    def _publish(self, feed: Feed, kind: Kind) -> Story:
        story = self._story(len(self.stories), feed.site, kind)
        self.stories[story] = kind
        self._kinds[story.link] = story, kind
        self._listed[feed.url].append(story)
        return story

    def page_of(self, story: Story) -> str | None:
        """Return the final URL of a story's page, or None if it has no page."""
        return _place(story, self.stories[story])

    def listed(self) -> Counter[str]:
        """Return the number of feeds that list each link."""
        return Counter(story.link for stories in self._listed.values() for story in stories)

    def _source(self, url: str, headers: Mapping[str, str]) -> web.Response:
        folder, _, name = url.rpartition("/")
        index = self._listed[f"{folder}/index.xml"]
        stories = list(self._listed[url])
        match name:
            case "index.xml":
                return web.Response(text=_index(url, stories, self._since), content_type=_XML)
            case "child0.xml" | "child1.xml":
                text = _sitemap(index[int(name[5]) :: 2])
                return web.Response(text=text, content_type=_XML)
            case "news.xml":
                return web.Response(text=_news_sitemap(stories), content_type=_XML)
            case "section.html":
                return web.Response(text=_section(stories), content_type="text/html")
        return _feed(url, stories, headers)

    def _story(self, number: int, site: str, kind: Kind) -> Story:
        host = f"go.{site}" if kind is Kind.MOVED_NEAR else f"www.{site}"
        return Story(
            number=number,
            link=f"http://{host}/news/{number}.html",
            title=sentence(self._random, 5),
            published=datetime.now(UTC).replace(microsecond=0),
        )

    async def _close(self) -> None:
        await self._runner.cleanup()

    async def _listen(self) -> None:
        app = web.Application()
        app.router.add_get("/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, backlog=1_000)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def _answer(self, request: web.Request) -> web.Response:
        start = time.monotonic()
        host, path = request.host, request.path
        seconds = Random(f"{host}{path}{len(self.asked)}").uniform(*LATENCY)
        await asyncio.sleep(seconds)
        answer = self._response(host, path, request.headers)
        contact = _AGENT.search(request.headers.get("User-Agent", ""))
        by = contact[1] if contact else ""
        self.asked.append(Asked(by, host, path, answer.status, start, time.monotonic()))
        return answer

    def _response(self, host: str, path: str, headers: Mapping[str, str]) -> web.Response:
        url = f"http://{host}{path}"
        if path.startswith("/feeds/"):
            return self._source(url, headers)
        if url in self._kinds:
            story, kind = self._kinds[url]
            page = _place(story, kind)
            if page is None:
                return web.Response(status=410)
            if page != url:
                return web.Response(status=302, headers={"Location": page})
            return _page(host, story)
        if host.startswith("pages.") and path.removeprefix("/").isdigit():
            return _page(host, list(self.stories)[int(path.removeprefix("/"))])
        return web.Response(status=404)


_SITEMAPS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
_NEWS = 'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'


def _index(url: str, stories: Sequence[Story], since: datetime) -> str:
    """Return an index of two sitemaps; the date of each is another one after each new story."""
    rows = "".join(
        f"<sitemap><loc>{url.replace('index', f'child{child}')}</loc><lastmod>"
        f"{(since + timedelta(seconds=len(stories[child::2]))).isoformat()}</lastmod></sitemap>"
        for child in (0, 1)
    )
    return f"<sitemapindex {_SITEMAPS}>{rows}</sitemapindex>"


def _sitemap(stories: Sequence[Story]) -> str:
    rows = "".join(
        f"<url><loc>{story.link}</loc><lastmod>{story.published.isoformat()}</lastmod></url>"
        for story in stories
    )
    return f"<urlset {_SITEMAPS}>{rows}</urlset>"


def _news_sitemap(stories: Sequence[Story]) -> str:
    rows = "".join(
        f"<url><loc>{story.link}</loc><news:news><news:publication_date>"
        f"{story.published.isoformat()}</news:publication_date>"
        f"<news:title>{story.title}</news:title></news:news></url>"
        for story in stories
    )
    return f"<urlset {_SITEMAPS} {_NEWS}>{rows}</urlset>"


def _section(stories: Sequence[Story]) -> str:
    rows = "".join(
        f'<div class="teaser"><h2><a href="{story.link}">{story.title}</a></h2></div>'
        for story in reversed(stories)
    )
    return f"<html><body><main>{rows}</main></body></html>"


def _place(story: Story, kind: Kind) -> str | None:
    match kind:
        case Kind.PAGE:
            return story.link
        case Kind.MISSING:
            return None
        case Kind.MOVED_FAR:
            return f"http://pages.far{story.number % FAR}.example/{story.number}"
        case Kind.MOVED_NEAR:
            site = story.link.split("/")[2].removeprefix("go.")
            return f"http://pages.{site}/{story.number}"


def _feed(url: str, stories: Sequence[Story], headers: Mapping[str, str]) -> web.Response:
    write, content_type = FORMATS[url.rpartition("/")[2]]
    body = write(url, stories[::-1]).encode()
    tag = f'"{sha256(body).hexdigest()[:16]}"'
    if headers.get("If-None-Match") == tag:
        return web.Response(status=304, headers={"ETag": tag})
    return web.Response(body=body, headers={"ETag": tag, "Content-Type": content_type})


def _page(host: str, story: Story) -> web.Response:
    random = Random(story.number)
    html = Site(host, []).html("news", story.number, story.title, random)
    # `fetch` holds a page with fewer than 100 words, because it may be a wall.
    long = html.replace("</div><aside>", f"<p>{sentence(random, 100)}</p></div><aside>")
    return web.Response(text=long, content_type="text/html")
