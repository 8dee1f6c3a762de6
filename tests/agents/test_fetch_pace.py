"""Pages are fetched at the pace of their hosts, and no page is lost if a worker fails."""

from __future__ import annotations

import asyncio
import socket
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from aiohttp import web

from agents.fetch import Fetch
from agents.fetching import service
from agents.settings.job import Settings
from models.crawl import fetch as fetches
from models.headers.names import ORIGIN, header
from tests.agents.feed_server import Clock
from tests.agents.fetched import NEWS, fetch, pages_of, quick, reaching, wanted
from tests.agents.pages_server import Web, html, serving, slowly, story
from tests.agents.records import Publish, ReadAll
from tests.agents.workers import PATIENCE, idle, run, started, until

pytestmark = pytest.mark.kafka


@pytest.fixture(autouse=True)
def _drained(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a stopping worker enough time to finish its requests, even on a slow machine."""
    monkeypatch.setattr(service, "_DRAIN", PATIENCE)


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """Return settings that allow workers to connect to 127.0.0.1 and make their pauses short."""
    return quick(settings, tmp_path)


def test_a_page_that_was_put_off_comes_again(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """A page that waits too long in a worker is sent to Kafka again, and is fetched later.

    A page that was not requested keeps its number of attempts.
    """
    pages, clock = Web(), Clock()
    pages.put(
        "news.example/a",
        html("", 503, Retry_After="7200"),
        html(story("news.example/a", "Now it is there")),
    )
    pages.page("news.example/b")
    origins = publish(wanted(f"{NEWS}/a"), wanted(f"{NEWS}/b"))

    async def through() -> None:
        make = partial(Fetch, clock=clock)
        async with (
            serving(pages),
            started(reaching(job, pages, park_seconds=0.5), make) as (stage,),
        ):
            await until(lambda: stage.metrics.parked._value.get() >= 1)
            clock.ahead += 7_200
            await idle([stage])

    run(through())
    assert sorted(page.url for page in pages_of(read_all)) == [f"{NEWS}/a", f"{NEWS}/b"]
    records = read_all("fetches")
    attempts = {r.value: fetches.decode(r.value) for r in records}
    assert {f.attempt for f in attempts.values() if f.url.endswith("/b")} == {0}
    assert {header(r.headers, ORIGIN) or "" for r in records} == {"", *origins}
    assert pages.times("news.example/b") == 1


def test_a_slow_host_holds_up_itself_alone(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """A slow host gets one request at a time, and does not delay the pages of other hosts."""
    pages = Web()
    for number in range(20):
        pages.page(f"quick.example/{number}")

    async def slow(request: web.Request) -> web.StreamResponse:
        await until(lambda: len(pages.at["quick.example"]) > 20)  # including robots.txt
        return await html(story(request.host + request.path, "slow"))(request)

    for number in range(3):
        pages.put(f"slow.example/{number}", slow)
    urls = [f"http://slow.example/{n}" for n in range(3)]
    urls += [f"http://quick.example/{n}" for n in range(20)]
    publish(*map(wanted, urls))
    fetch(job, pages, latency_factor=0.0)
    assert sorted(page.url for page in pages_of(read_all)) == sorted(urls)
    assert set(pages.most_at_once.values()) == {1}


def test_a_dead_host_costs_one_request_however_many_pages_wait(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """After one failed request to a dead host its other pages wait without further requests.

    The page of another host is fetched meanwhile.
    """
    pages = Web()
    pages.page("news.example/a")
    publish(*(wanted(f"http://dead.example/{number}") for number in range(30)))
    publish(wanted(f"{NEWS}/a"))

    async def through() -> None:
        with socket.socket() as taken:  # a port that is bound but not listening refuses connections
            taken.bind(("127.0.0.1", 0))
            dead = f"dead.example::127.0.0.1:{taken.getsockname()[1]}"
            await asked(dead)

    async def asked(dead: str) -> None:
        async with serving(pages):
            settings = reaching(job, pages)
            settings = settings.model_copy(update={"connect_to": (dead, *settings.connect_to)})
            async with started(settings, Fetch) as (stage,):
                troubles = stage.metrics.fetch_troubles.labels("connect")._value
                await until(lambda: troubles.get() > 0 and pages.times("news.example/a") == 1)
                await asyncio.sleep(1.0)
                assert troubles.get() == 1

    run(through())
    assert [page.url for page in pages_of(read_all)] == [f"{NEWS}/a"]
    tried = [fetches.decode(record.value) for record in read_all("fetches")]
    assert len({fetch.url for fetch in tried if fetch.attempt}) == 1


def test_a_host_rests_between_two_requests(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """Two requests to a host are at least `host_pause` apart, also after a request for robots.txt.

    The pages of a host are fetched in the order of their records.
    """
    pages = Web()
    for number in range(4):
        pages.page(f"news.example/{number}")
    publish(*(wanted(f"{NEWS}/{number}") for number in range(4)))
    fetch(job, pages, host_pause=0.4)
    at = pages.at["news.example"]
    assert len(at) == 5
    assert all(later - before >= 0.39 for before, later in pairwise(at))
    assert [page.url for page in pages_of(read_all)] == [f"{NEWS}/{n}" for n in range(4)]


def test_a_worker_that_stops_in_order_leaves_nothing_undone_and_asks_nothing_twice(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """After an orderly stop of a worker, no page is lost, and no page is requested again.

    The worker sends waiting pages to Kafka again, and the offsets of finished pages are committed.
    """
    pages = Web()
    urls = [f"{NEWS}/{number}" for number in range(12)]
    for url in urls:
        pages.page(url.removeprefix("http://"))
    publish(*map(wanted, urls))

    async def stopped_in_the_middle() -> None:
        settings = reaching(job, pages, host_pause=0.3)
        async with started(settings, Fetch):
            await until(lambda: pages.times("news.example/2") == 1)
        async with started(settings, Fetch) as stages:
            await idle(stages)

    async def through() -> None:
        async with serving(pages):
            await stopped_in_the_middle()

    run(through())
    assert sorted(page.url for page in pages_of(read_all)) == sorted(urls)
    assert all(pages.times(url.removeprefix("http://")) == 1 for url in urls)


def test_a_worker_that_crashed_is_followed_by_one_that_misses_nothing(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """After a crash no page is missing: pages that were not committed are fetched again."""
    pages = Web()
    urls = [f"{NEWS}/{number}" for number in range(6)]
    for url in urls:
        pages.page(url.removeprefix("http://"))
    pages.put("news.example/0", slowly(0.5, html(story("news.example/0", "0"))))
    publish(*map(wanted, urls))

    async def through() -> None:
        async with serving(pages):
            settings = reaching(job, pages, host_pause=0.1)
            async with started(settings, Fetch) as (first,):
                assert isinstance(first, Fetch)
                await until(lambda: pages.times("news.example/3") == 1)
                first.app.before_wait = None  # as in a crash, nothing is sent again or committed
                first.fetching.clear()
                first.delivery.clear()
            async with started(settings, Fetch) as stages:
                await idle(stages)

    run(through())
    assert {page.url for page in pages_of(read_all)} == set(urls)


def test_what_is_of_another_owner_by_now_is_dropped(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """After its partitions were revoked, a worker requests and publishes none of their pages."""
    pages, is_revoked = Web(), asyncio.Event()

    async def held(request: web.Request) -> web.StreamResponse:
        await is_revoked.wait()
        return await html(story("news.example/a", "a"))(request)

    pages.put("news.example/a", held)
    pages.page("news.example/b")
    publish(wanted(f"{NEWS}/a"), wanted(f"{NEWS}/b"))

    async def through() -> None:
        async with serving(pages), started(reaching(job, pages), Fetch) as (stage,):
            await until(lambda: pages.times("news.example/a") == 1)
            await stage._on_revoked(stage.app, set())
            is_revoked.set()
            await asyncio.sleep(1.5)

    run(through())
    assert not read_all("raw-html")
    assert pages.times("news.example/b") == 0


def test_a_host_is_asked_by_one_worker_when_another_joins(
    job: Settings, publish: Publish, read_all: ReadAll, tmp_path: Path
) -> None:
    """A second worker joins: no page is requested twice, and no host gets two requests at once."""
    pages = Web()
    hosts = [f"site{number}.example" for number in range(12)]
    addresses = [f"{host}/{number}" for number in range(8) for host in hosts]
    for address in addresses:
        pages.put(address, slowly(0.1, html(story(address, "slow"))))
    publish(*(wanted(f"http://{address}") for address in addresses))

    async def through() -> None:
        async with serving(pages):
            settings = reaching(job, pages, host_pause=0.3, fetches_at_once=12)
            other = settings.model_copy(update={"data_dir": tmp_path / "other"})
            async with started(settings, Fetch) as (first,):
                assert isinstance(first, Fetch)
                await until(lambda: pages.times(addresses[20]) == 1)
                first.fetching._settings = settings.model_copy(update={"fetches_at_once": 0})
                async with started(other, Fetch) as (second,):
                    first.fetching._settings = settings
                    await idle([first, second])
                    assert second.metrics.pages._value.get() > 0

    run(through())
    assert {page.url for page in pages_of(read_all)} == {f"http://{a}" for a in addresses}
    assert set(pages.most_at_once.values()) == {1}
    assert max(map(pages.times, addresses)) == 1
