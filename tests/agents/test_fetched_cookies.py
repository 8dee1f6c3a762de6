"""Cookies of a chain of redirects, on a real Kafka: they open pages, and are in no record."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest
from aiohttp import web

from agents.fetch import Fetch
from agents.fetching import service
from agents.kafka.client import consumer, full_ranges, partitions, read_records
from agents.settings.job import Settings
from tests.agents.feed_server import Clock
from tests.agents.fetched import NEWS, fetch, letters, pages_of, quick, reaching, wanted
from tests.agents.pages_server import Web, html, redirect, serving, story
from tests.agents.records import Publish, ReadAll
from tests.agents.workers import PATIENCE, idle, run, started, until
from urltree.crawl.decisions.timing import HOUR

pytestmark = pytest.mark.kafka

COOKIE = "c00kie-7b1f"
STORY = story("news.example/a", "The article")


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """Return settings that allow workers to connect to 127.0.0.1 and make their pauses short."""
    return quick(settings, tmp_path)


def gate(pages: Web, body: str = STORY) -> None:
    """Prepare an article that is shown only with the cookie that another page sets."""

    async def article(request: web.Request) -> web.StreamResponse:
        if COOKIE in request.headers.get("Cookie", ""):
            return await html(body)(request)
        return await redirect("/consent", 302)(request)

    pages.put("news.example/a", article)
    agreed = html("", 302, Location="/a", Set_Cookie=f"agreed={COOKIE}; Path=/")
    pages.put("news.example/consent", agreed)


async def all_bytes(job: Settings) -> dict[str, bytes]:
    """Return the keys, values and headers of all records of the job, by topic."""
    found = {}
    async with consumer(job) as client:
        for topic in await client.topics():
            if not topic.startswith(job.prefix):
                continue
            ranges = await full_ranges(client, await partitions(client, topic))
            records = [record async for record in read_records(client, ranges)]
            found[topic] = b"".join(
                (r.key or b"") + (r.value or b"") + repr(r.headers).encode() for r in records
            )
    return found


def test_a_chain_may_set_a_cookie_and_come_back_once(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """The page is fetched with the cookie, which is in no record of any topic."""
    pages = Web()
    gate(pages)
    publish(wanted(f"{NEWS}/a"))
    fetch(job, pages)
    (page,) = pages_of(read_all)
    assert (page.html, page.response_url) == (STORY.encode(), None)
    assert pages.times("news.example/a") == 2
    found = asyncio.run(all_bytes(job))
    assert b"The article" in found[job.topic("raw-html")]
    assert not [topic for topic, data in found.items() if COOKIE.encode() in data]


def test_a_loop_is_a_loop_unless_a_cookie_was_set_since(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """A chain does not come back without a new cookie, nor with the same cookie a second time."""
    pages = Web()
    pages.put("plain.example/a", redirect("/b", 302))
    pages.put("plain.example/b", redirect("/a", 302))
    pages.put("same.example/a", redirect("/b", 302))
    pages.put("same.example/b", html("", 302, Location="/a", Set_Cookie="a=1; Path=/"))
    publish(wanted("http://plain.example/a"), wanted("http://same.example/a"))
    fetch(job, pages)
    assert sorted(letters(read_all)) == [
        ("redirect", "redirect loop: back to http://plain.example/a"),
        ("redirect", "redirect loop: back to http://same.example/a"),
    ]
    assert (pages.times("plain.example/a"), pages.times("same.example/a")) == (1, 2)


def test_a_worker_that_stops_between_redirects_loses_no_page(
    job: Settings, publish: Publish, read_all: ReadAll, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next worker has no cookies, so it begins the chain again."""
    monkeypatch.setattr(service, "_DRAIN", PATIENCE)
    pages = Web()
    gate(pages)
    publish(wanted(f"{NEWS}/a"))

    async def through() -> None:
        async with serving(pages):
            settings = reaching(job, pages, host_pause=2.0)
            async with started(settings, Fetch):
                await until(lambda: pages.times("news.example/consent") == 1)
            async with started(reaching(job, pages), Fetch) as stages:
                await idle(stages)

    run(through())
    assert letters(read_all) == []
    assert [page.html for page in pages_of(read_all)] == [STORY.encode()]
    assert pages.times("news.example/consent") == 2


def test_a_held_page_gets_its_cookies_again(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """A held page that needs a cookie is requested from the beginning of its chain."""
    pages, clock = Web(), Clock()
    gate(pages)
    publish(wanted(f"{NEWS}/a", title="Another title than that of the text"))

    async def through() -> None:
        make = partial(Fetch, clock=clock)
        async with (
            serving(pages),
            started(reaching(job, pages, park_seconds=0.5), make) as (stage,),
        ):
            await until(lambda: stage.metrics.held._value.get() == 1)
            clock.ahead = HOUR + 1
            await idle([stage])

    run(through())
    assert letters(read_all) == []
    assert [page.html for page in pages_of(read_all)] == [STORY.encode()]
    assert pages.times("news.example/consent") == 2
