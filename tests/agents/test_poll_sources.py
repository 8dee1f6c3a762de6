"""Real workers follow sources of all kinds: which pages are new, and which requests are sent."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agents.kafka.client import producer
from agents.kafka.partitions import route_key
from agents.settings.job import Settings
from models.crawl import fetch as fetches
from models.crawl import poll_outcome
from models.crawl.feed import Feed
from models.headers.names import REASON, header
from tests.agents.feed_server import Clock, FeedServer, serving
from tests.agents.followed import (
    ANOTHER_POLL,
    HOST,
    SITE,
    follow,
    polled,
    polling,
    publish,
    state_of,
)
from tests.agents.records import PARTITIONS, ReadAll
from tests.agents.workers import run, until
from urltree.crawl.decisions.poll.answer import PageReport
from urltree.crawl.decisions.poll.source_options import Content, SourceKind, SourceOptions

pytestmark = pytest.mark.kafka

SECRET = "s3cret"  # noqa: S105 - a test's own
BODY = "&lt;p&gt;" + "A full text of the article with many words. " * 20 + "&lt;/p&gt;"


@pytest.fixture
def job(job: Settings, tmp_path: Path) -> Settings:
    """Return settings of a job whose worker has its own data directory."""
    return job.model_copy(update={"data_dir": tmp_path, "commit_seconds": 0.3})


def feed(*items: str) -> bytes:
    """Return an RSS feed with these items, which are XML."""
    listed = "".join(f"<item>{item}</item>" for item in items)
    return f'<rss version="2.0"><channel><title>News</title>{listed}</channel></rss>'.encode()


def entry(path: str, title: str, guid: str = "", more: str = "") -> str:
    """Return an item of HOST."""
    own = f'<guid isPermaLink="false">{guid}</guid>' if guid else ""
    return f"<title>{title}</title><link>http://{HOST}/{path}</link>{own}{more}"


def sitemap(**pages: datetime | None) -> bytes:
    """Return a sitemap with pages of HOST and their dates."""
    rows = "".join(
        f"<url><loc>http://{HOST}/{name}</loc>{_lastmod(at)}</url>" for name, at in pages.items()
    )
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'.encode()


def index(**children: datetime | None) -> bytes:
    """Return an index of sitemaps of HOST and their dates."""
    rows = "".join(
        f"<sitemap><loc>http://{HOST}/{name}.xml</loc>{_lastmod(at)}</sitemap>"
        for name, at in children.items()
    )
    name = "sitemapindex"
    return f'<{name} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</{name}>'.encode()


def _lastmod(at: datetime | None) -> str:
    return "" if at is None else f"<lastmod>{at.isoformat(timespec='seconds')}</lastmod>"


def section(*slugs: str) -> bytes:
    """Return a section page with headlines, and with navigation that is no article."""
    listed = "".join(
        f'<div class="teaser"><h2><a href="/news/2026/{slug}.html">A long headline about the '
        f"{slug} of this year</a></h2></div>"
        for slug in slugs
    )
    menu = '<nav><a href="/sport">Sport</a> <a href="/culture">Culture</a></nav>'
    return f"<html><body>{menu}<main>{listed}</main></body></html>".encode()


def links(read_all: ReadAll) -> list[str]:
    """Return the paths of the pages in the topic fetches, in order."""
    urls = (fetches.decode(record.value).url for record in read_all("fetches"))
    return [url.split("/", 3)[3] for url in urls]


def at(path: str) -> str:
    """Return an address of HOST."""
    return f"http://{HOST}/{path}"


async def add(job: Settings, path: str, **options: Any) -> None:
    """Follow a source of HOST with these options."""
    await follow(job, at(path), options=SourceOptions(**options))


async def report(job: Settings, path: str, **shown: Any) -> None:
    """Publish what pages have shown about a source, as `fetch` does."""
    own = PageReport(site=SITE, feed=at(path), at=0.0, **shown)
    partition, key = route_key(SITE, PARTITIONS)
    async with producer(job) as client:
        value = poll_outcome.encode(own)
        await client.send_and_wait(job.topic("poll-outcomes"), value, key, partition)


async def deny(job: Settings, path: str, *, ends: bool = False) -> None:
    """Publish a rule that denies a path of HOST, or its end."""
    key = f"deny path {HOST}/{path}$".encode()
    partition = route_key(key.decode(), PARTITIONS).partition
    async with producer(job) as client:
        value = None if ends else b'{"schema":1}'
        await client.send_and_wait(job.topic("rules"), value, key, partition)


def test_an_item_is_fetched_once_however_it_is_named(job: Settings, read_all: ReadAll) -> None:
    """Guids of two feeds may be equal, feeds may share an article, and a feed may always change.

    A record of the topic feeds with a password becomes a dead letter without the password.
    """

    async def scenario() -> None:
        clock = Clock()
        async with serving() as server, polling(job, server, clock) as stage:
            server.put(f"{HOST}/one", feed(entry("one-1", "First", "1"), entry("x", "X", "2")))
            server.put(f"{HOST}/two", feed(entry("two-1", "Other", "1"), entry("y", "Y", "2")))
            shared = [f"shared{number}" for number in range(5)]
            for number, name in enumerate(shared):
                server.put(f"{HOST}/{name}", feed(entry("article", "The article", f"g{number}")))
            await follow(job, f"http://user:{SECRET}@{HOST}/rss")
            for name in ("one", "two", *shared, "volatile"):
                server.put(f"{HOST}/volatile", volatile(0))
                await follow(job, at(name))
            for name in ("one", "two", *shared):
                await polled(stage, 1, at(name))
            for poll in range(1, 6):
                await polled(stage, poll, at("volatile"))
                server.put(f"{HOST}/volatile", volatile(poll))
                clock.ahead += ANOTHER_POLL if poll < 5 else 0.0

    def volatile(poll: int) -> bytes:
        names = ("Storm at sea", "New bridge opened", "Council votes today", "Museum is closed")
        return feed(
            *(
                entry(f"v{number}?sid=f3b{poll:08x}{poll * 7919:08x}", f"{name} ({poll} comments)")
                for number, name in enumerate(names)
            )
        )

    run(scenario())
    paths = [path.partition("?")[0] for path in links(read_all)]
    assert sorted(paths) == [*("article", "one-1", "two-1"), *(f"v{n}" for n in range(4)), "x", "y"]
    (letter,) = read_all("dead-letters")
    assert header(letter.headers, REASON) == "malformed"
    for topic in ("dead-letters", "requests", "fetches", "poll-outcomes"):
        for record in read_all(topic):
            assert SECRET not in repr((record.key, record.value, record.headers))


def test_sitemaps_and_section_pages_are_followed(job: Settings, read_all: ReadAll) -> None:
    """Of an index, only the sitemap with another date is asked again, and only new pages are sent.

    A sitemap without dates, and a section page, give what is new since the first look. Section
    pages obey robots.txt.
    """

    async def scenario() -> None:
        clock = Clock()
        async with serving() as server, polling(job, server, clock) as stage:
            await scene(server, stage, clock)

    async def scene(server: FeedServer, stage: Any, clock: Clock) -> None:
        now = datetime.now(UTC)
        old, hour = now - timedelta(days=30), timedelta(hours=1)
        server.put(f"{HOST}/index.xml", index(a=now - hour, b=now - 2 * hour), ETag="1")
        server.put(f"{HOST}/a.xml", sitemap(old=old, recent=now - hour))
        server.put(f"{HOST}/b.xml", sitemap(other=now - 2 * hour))
        server.put(f"{HOST}/undated.xml", sitemap(u1=None, u2=None, u3=None))
        server.put(f"{HOST}/section", section("harvest", "election", "reform"))
        closed = "closed.example.org"
        server.put(f"{closed}/robots.txt", b"User-agent: *\nDisallow: /")
        for name in ("index.xml", "undated.xml"):
            await add(job, name, kind=SourceKind.SITEMAP)
        await add(job, "section", kind=SourceKind.SECTION)
        options = SourceOptions(kind=SourceKind.SECTION)
        await follow(job, f"http://{closed}/section", options=options)
        for name in ("index.xml", "a.xml", "b.xml", "undated.xml", "section"):
            await polled(stage, 1, at(name))
        assert (await polled(stage, 1, f"http://{closed}/section")).errors == 1
        assert server.asked(f"{closed}/section") == []

        later = now + timedelta(seconds=ANOTHER_POLL)
        server.put(f"{HOST}/index.xml", index(a=later, b=now - 2 * hour), ETag="2")
        server.put(f"{HOST}/a.xml", sitemap(old=old, recent=now - hour, fresh=later))
        server.put(f"{HOST}/undated.xml", sitemap(u1=None, u2=None, u3=None, u4=None))
        server.put(f"{HOST}/section", section("flood", "harvest", "election", "reform"))
        clock.ahead += ANOTHER_POLL
        for name in ("index.xml", "a.xml", "undated.xml", "section"):
            await polled(stage, 2, at(name))
        server.put(f"{HOST}/section", section("bridge", "flood", "harvest", "election"))
        server.put(f"{HOST}/index.xml", index(a=later, b=now - 2 * hour), ETag="2")
        clock.ahead += ANOTHER_POLL
        for name in ("index.xml", "undated.xml", "section"):
            await polled(stage, 3, at(name))
        assert len(server.asked(f"{HOST}/a.xml")) == 2
        assert len(server.asked(f"{HOST}/b.xml")) == 1

        await publish(job, Feed(site=SITE, url=at("index.xml")), remove=True)
        gone = [at(name) for name in ("index.xml", "a.xml", "b.xml")]
        await until(lambda: not any(state_of(stage, url) for url in gone))

    run(scenario())
    first = ["news/2026/election.html", "news/2026/harvest.html", "news/2026/reform.html"]
    new = ["news/2026/bridge.html", "news/2026/flood.html"]
    assert sorted(links(read_all)) == sorted([*first, *new, "recent", "other", "fresh", "u4"])


def test_options_reports_and_rules_decide_what_is_sent(  # noqa: PLR0915 - one start of workers
    job: Settings, read_all: ReadAll
) -> None:
    """Options apply from the next poll on; reports and rules of the operator change what is new."""

    async def scenario() -> None:
        clock = Clock()
        async with serving() as server, polling(job, server, clock) as stage:
            await scene(server, stage, clock)

    async def scene(server: FeedServer, stage: Any, clock: Clock) -> None:
        two = [entry(f"p{number}", f"Page {word}") for number, word in enumerate(("one", "two"))]
        text = "<description>Short</description>"
        full = f'<content:encoded xmlns:content="http://purl.org/rss/1.0/modules/content/">{BODY}'
        whole = [
            entry(f"full{number}", f"Full {number}", "", f"{text}{full}</content:encoded>")
            for number in range(6)
        ]
        for name, items in (("new", two), ("most", two), ("paused", [entry("held", "Held")])):
            server.put(f"{HOST}/{name}", feed(*(item.replace("/p", f"/{name}") for item in items)))
        server.put(f"{HOST}/rules", feed(entry("denied", "Denied"), entry("free", "Free")))
        server.put(f"{HOST}/full", feed(*whole[:5]))
        await deny(job, "denied")
        await until(lambda: stage.crawl_rules.verdict(at("denied")) is not None)
        await add(job, "new", is_only_new=True)
        await add(job, "most", first_poll_max=1)
        await add(job, "paused", is_paused=True)
        await add(job, "rules", interval_min=60.0, interval_max=120.0)
        await add(job, "full", content=Content.AUTO)
        for name in ("new", "most", "rules", "full"):
            await polled(stage, 1, at(name))
        state = state_of(stage, at("rules"))
        assert state is not None
        assert state.last_poll is not None
        assert 60.0 <= state.next_due - state.last_poll <= 120.0
        assert server.asked(f"{HOST}/paused") == []
        assert state.items == 1  # not the denied one

        await report(job, "full", coverage=(0.95, 0.99, 0.3))
        await report(job, "full", coverage=(1.0, 0.91))
        await report(job, "rules", dropped=(at("free"),), walls=2)
        await until(
            lambda: (found := state_of(stage, at("rules"))) is not None and found.walls == 2
        )
        await deny(job, "denied", ends=True)
        await until(lambda: stage.crawl_rules.verdict(at("denied")) is None)
        await add(job, "paused")
        server.put(f"{HOST}/full", feed(whole[5], *whole[:5]))
        server.put(f"{HOST}/new", feed(entry("newest", "Newest"), entry("new0", "Page one")))
        clock.ahead += ANOTHER_POLL
        await polled(stage, 1, at("paused"))
        for name in ("new", "rules"):
            await polled(stage, 2, at(name))
        state = await polled(stage, 2, at("full"))
        assert (state.content_decided, state.coverage) == (Content.FEED, ())

    run(scenario())
    paths = links(read_all)
    assert paths.count("denied") == 1
    assert paths.count("free") == 2
    assert {"newest", "held"} <= set(paths)
    assert not {"new0", "new1"} & set(paths)
    assert len({"most0", "most1"} & set(paths)) == 1
    found = [fetches.decode(record.value) for record in read_all("fetches")]
    both = {page.url: page.content for page in found if "/full" in page.url and page.feed_content}
    assert both == {
        **{at(f"full{number}"): Content.AUTO for number in range(5)},
        at("full5"): Content.FEED,
    }
    assert read_all("dead-letters") == []
