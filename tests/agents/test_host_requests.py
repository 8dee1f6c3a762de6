"""Requests for feeds and for robots.txt reach their hosts through the owner of each host alone."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from aiohttp import web
from faust.types import TP

from agents.fetch import Fetch
from agents.fetching import source_request
from agents.fetching.jobs import SmallJob
from agents.kafka.client import producer
from agents.kafka.partitions import partition_of, route_key
from agents.poll import Poll
from agents.polling import feed_queue
from agents.polling import service as polling_service
from agents.settings.job import Settings
from models.crawl import host_request as requests
from models.crawl import poll_outcome as outcomes
from models.crawl.feed import Feed
from models.crawl.host_request import HostRequest, Purpose
from tests.agents.feed_server import Clock, rss
from tests.agents.fetched import letters, pages_of, quick, reaching, wanted
from tests.agents.followed import (
    FEED,
    HOST,
    HOURS,
    SITE,
    FetchWithoutPages,
    follow,
    polled,
    publish,
    state_of,
    titles,
)
from tests.agents.pages_server import Answer, Web, html, redirect, serving, slowly, story
from tests.agents.records import PARTITIONS, ReadAll, Sent
from tests.agents.workers import has_partitions, idle, run, started, until
from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.poll.answer import PollAnswer
from urltree.crawl.decisions.poll.outcome import PollOutcome, PollResult

pytestmark = pytest.mark.kafka


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """Return settings that allow workers to connect to 127.0.0.1 and make their pauses short."""
    return quick(settings, tmp_path)


def asking(url: str, domain: str) -> Sent:
    """Return the record with which `poll` asks for a feed of SITE at a host of this domain."""
    request = HostRequest(
        purpose=Purpose.SOURCE, url=url, asked_at=time.time(), site=SITE, feed=url, sequence=1
    )
    return Sent("requests", domain.encode(), requests.encode(request))


async def send(job: Settings, *records: Sent) -> None:
    """Publish records in the partitions of their keys."""
    async with producer(job) as client:
        for record in records:
            to = partition_of(record.key or b"", PARTITIONS)
            await client.send_and_wait(job.topic(record.topic), record.value, record.key, to)


def parking(job: Settings, pages: Web) -> Settings:
    """Return settings with which pages that must wait for long are soon sent to Kafka again."""
    return reaching(job, pages, park_seconds=0.5)


def feed(*items: str, **headers: str) -> Answer:
    """Return a response with a feed."""
    return html(rss(*items).decode(), 200, Content_Type="application/rss+xml", **headers)


def answers(read_all: ReadAll) -> list[PollAnswer]:
    """Return all answers in the topic poll-outcomes."""
    found = [outcomes.decode(record.value) for record in read_all("poll-outcomes")]
    return [answer for answer in found if isinstance(answer, PollAnswer)]


def test_a_feed_goes_before_the_waiting_pages_of_its_host(job: Settings, read_all: ReadAll) -> None:
    """A request for a feed is the next one of its host, although 50 pages of the host wait."""
    pages, is_queued = Web(), asyncio.Event()

    async def held(request: web.Request) -> web.StreamResponse:
        await is_queued.wait()
        return await html(story(f"{HOST}/0", "0"))(request)

    pages.put(f"{HOST}/0", held)
    pages.put(f"{HOST}/rss", feed("a"))
    for number in range(1, 51):
        pages.page(f"{HOST}/{number}")

    async def through() -> None:
        async with serving(pages):
            await send(job, *(wanted(f"http://{HOST}/{n}") for n in range(51)))
            async with started(reaching(job, pages, host_pause=0.01), Fetch) as stages:
                jobs = stages[0].fetching._jobs  # type: ignore[attr-defined]
                await until(lambda: pages.times(f"{HOST}/0") == 1 and len(jobs) == 51)
                await send(job, asking(FEED, SITE))
                await until(lambda: any(isinstance(job, SmallJob) for job in jobs))
                is_queued.set()
                await idle(stages)

    run(through())
    assert pages.asked[:3] == [(HOST, "/robots.txt"), (HOST, "/0"), (HOST, "/rss")]
    assert len(pages_of(read_all)) == 51
    (answer,) = answers(read_all)
    assert [item.title for item in answer.items] == ["a"]


def test_feeds_and_pages_of_a_host_share_its_pause(job: Settings, read_all: ReadAll) -> None:
    """Two requests to a host never overlap, and the second one waits for the host's pause.

    It does not matter whether they are for pages, feeds or robots.txt.
    """
    pages = Web()
    pages.put(f"{HOST}/robots.txt", slowly(0.1, html("", 404)))
    for number in range(3):
        pages.put(f"{HOST}/{number}", slowly(0.1, html(story(f"{HOST}/{number}", "x"))))
        pages.put(f"{HOST}/rss{number}", slowly(0.1, feed("a")))

    async def through() -> None:
        async with serving(pages):
            for number in range(3):
                await send(
                    job,
                    wanted(f"http://{HOST}/{number}"),
                    asking(f"http://{HOST}/rss{number}", SITE),
                )
            settings = reaching(job, pages, host_pause=0.4, latency_factor=0.0)
            async with started(settings, Fetch) as stages:
                await idle(stages)

    run(through())
    at = pages.at[HOST]
    assert len(at) == 7
    assert all(later - before >= 0.49 for before, later in pairwise(at))
    assert pages.most_at_once[HOST] == 1
    assert len(answers(read_all)) == 3


def test_a_page_with_429_makes_the_feeds_of_its_host_wait(job: Settings) -> None:
    """While a host rests because of a page, its feeds are not requested, and their states stay.

    The feed is asked for again when the host may be asked, although nobody told it a new time.
    """
    pages, clock = Web(), Clock()
    pages.put(
        f"{HOST}/a", html("", 429, Retry_After="7200"), html(story(f"{HOST}/a", "Now it is there"))
    )
    pages.put(f"{HOST}/rss", feed("b"))

    async def through() -> None:
        makes = partial(Poll, clock=clock), partial(Fetch, clock=clock)
        async with serving(pages), started(reaching(job, pages), *makes) as [stage, _]:
            assert isinstance(stage, Poll)
            queue = stage.polling._queue
            await send(job, wanted(f"http://{HOST}/a"))
            await until(lambda: pages.times(f"{HOST}/a") == 1 and not pages.busy[HOST])
            await follow(job)
            await until(lambda: state_of(stage) is not None)
            await until(lambda: (queue.next_at(has_room=True) or 0.0) > clock() + HOURS)
            state = state_of(stage)
            assert state is not None
            assert (state.sequence, state.errors, state.last_poll) == (0, 0, None)
            assert pages.times(f"{HOST}/rss") == 0
            clock.ahead += 7_201
            await polled(stage, 1)

    run(through())
    assert pages.times(f"{HOST}/rss") == 1


def test_a_feed_with_429_makes_the_pages_of_its_host_wait(job: Settings, read_all: ReadAll) -> None:
    """While a host rests because of a feed, nothing else of the host is requested."""
    pages, clock = Web(), Clock()
    pages.put(f"{HOST}/rss", html("", 429, Retry_After="7200"))
    pages.page(f"{HOST}/a")

    async def through() -> None:
        make = partial(Fetch, clock=clock)
        async with serving(pages), started(parking(job, pages), make) as (stage,):
            await send(job, asking(FEED, SITE))
            await until(lambda: pages.times(f"{HOST}/rss") == 1 and not pages.busy[HOST])
            await send(job, wanted(f"http://{HOST}/a"))
            await until(lambda: stage.metrics.parked._value.get() >= 1)
            assert pages.asked == [(HOST, "/rss")]
            clock.ahead += 7_201
            await idle([stage])

    run(through())
    assert [page.url for page in pages_of(read_all)] == [f"http://{HOST}/a"]
    (answer,) = answers(read_all)
    assert (answer.outcome.status, answer.outcome.retry_after) == (429, 7_200.0)


def test_each_hop_of_a_redirect_is_sent_by_the_owner_of_its_host(
    job: Settings, read_all: ReadAll, tmp_path: Path
) -> None:
    """With two workers, each request of a chain over three domains comes from the host's owner."""
    pages, senders = Web(), defaultdict[str, set[str]](set)

    def noting(then: Answer) -> Answer:
        async def answer(request: web.Request) -> web.StreamResponse:
            senders[request.host].add(request.headers["User-Agent"].split("/")[-1].strip(")"))
            return await then(request)

        return answer

    chains = [[f"{letter}{number}.example" for letter in "abc"] for number in range(6)]
    for a, b, c in chains:
        pages.put(f"{a}/rss", noting(redirect(f"http://{b}/rss")))
        pages.put(f"{b}/rss", noting(redirect(f"http://{c}/rss")))
        pages.put(f"{c}/rss", noting(feed(c)))

    async def through() -> None:
        async with serving(pages):
            first = reaching(job, pages, contact="https://crawler.example/first")
            changes = {"data_dir": tmp_path / "second", "contact": "https://crawler.example/second"}
            second = first.model_copy(update=changes)
            async with started(first, Fetch) as (one,), started(second, Fetch) as (two,):
                await until(lambda: has_partitions(one) and has_partitions(two))
                await send(job, *(asking(f"http://{a}/rss", a) for a, _, _ in chains))
                await until(lambda: sum(map(len, senders.values())) == 18)
                await idle([one, two])
                topics = (job.topic("requests"), job.topic("fetches"))
                for host, names in senders.items():
                    at = partition_of(host.encode(), PARTITIONS)
                    owner = one if TP(topics[0], at) in one.app.consumer.assignment() else two
                    assert names == {"first" if owner is one else "second"}, host
                    assert TP(topics[1], at) in owner.app.consumer.assignment()

    run(through())
    assert {name for names in senders.values() for name in names} == {"first", "second"}
    found = {answer.outcome.feed: answer for answer in answers(read_all)}
    assert len(found) == len(chains)
    for a, _, c in chains:
        answer = found[f"http://{a}/rss"]
        assert answer.outcome.moved_to == f"http://{c}/rss"
        assert [item.title for item in answer.items] == [c]
    assert max(map(pages.times, (f"{host}/rss" for chain in chains for host in chain))) == 1


def test_a_robots_txt_at_another_host_is_asked_for_by_that_hosts_owner(
    job: Settings, read_all: ReadAll
) -> None:
    """A robots.txt that is redirected to another domain comes back through `requests`.

    The pages wait for it, and it applies to them. It is requested once.
    """
    pages = Web()
    pages.put("news.example/robots.txt", redirect("http://cdn.example/news/robots.txt"))
    pages.put("cdn.example/news/robots.txt", redirect("/rules", 302))
    pages.put("cdn.example/rules", html("User-agent: *\nDisallow: /private"))
    pages.page("news.example/a")
    pages.page("news.example/private")

    async def through() -> None:
        async with serving(pages):
            await send(job, *(wanted(f"http://news.example/{path}") for path in ("private", "a")))
            async with started(reaching(job, pages), Fetch) as stages:
                await idle(stages)

    run(through())
    assert [page.url for page in pages_of(read_all)] == ["http://news.example/a"]
    assert [reason for reason, _ in letters(read_all)] == ["robots"]
    assert pages.asked == [
        ("news.example", "/robots.txt"),
        ("cdn.example", "/news/robots.txt"),
        ("cdn.example", "/rules"),
        ("news.example", "/a"),
    ]
    keys = {record.key for record in read_all("requests")}
    assert keys == {b"cdn.example", b"news.example"}


def test_a_robots_txt_at_a_host_that_rests_is_not_waited_for_in_flight(
    job: Settings, read_all: ReadAll
) -> None:
    """If the other host rests, its owner answers so at once, and asks it for nothing.

    Otherwise the record would stay in flight as long as the host rests, and no offset after it
    would be committed. The pages are published when both hosts may be asked again.
    """
    pages, clock = Web(), Clock()
    pages.put("cdn.example/rss", html("", 429, Retry_After="7200"))
    pages.put("cdn.example/robots.txt", html("User-agent: *\nDisallow: /private"))
    pages.put("news.example/robots.txt", redirect("http://cdn.example/robots.txt"))
    pages.page("news.example/a")

    async def through() -> None:
        make = partial(Fetch, clock=clock)
        async with serving(pages), started(parking(job, pages), make) as (stage,):
            await send(job, asking("http://cdn.example/rss", "cdn.example"))
            await until(lambda: pages.times("cdn.example/rss") == 1)
            await idle([stage])
            await send(job, wanted("http://news.example/a"))
            await until(lambda: stage.metrics.parked._value.get() >= 1)
            assert pages.asked[1:] == [("news.example", "/robots.txt")]
            clock.ahead += 7_201
            await idle([stage])

    run(through())
    assert [page.url for page in pages_of(read_all)] == ["http://news.example/a"]
    assert pages.times("cdn.example/robots.txt") == 1


def test_a_lost_request_is_sent_again_and_an_old_one_is_dropped(
    job: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If no answer arrives, `poll` asks again; the owner drops and counts requests that are old."""
    pages = Web()
    pages.put(f"{HOST}/rss", feed("a"))
    for module in (feed_queue, polling_service):
        monkeypatch.setattr(module, "LOST_AFTER", 1.0)

    async def through() -> None:
        async with serving(pages), started(reaching(job, pages), Poll) as (stage,):
            assert isinstance(stage, Poll)
            sent = [0]
            deliver = stage.deliver

            async def counted(topic: str, *record: object) -> object:
                sent[0] += topic == "requests"
                return await deliver(topic, *record)  # type: ignore[arg-type]

            stage.deliver = counted  # type: ignore[assignment, method-assign]
            await follow(job)
            await until(lambda: sent[0] >= 2)
            state = state_of(stage)
            assert state is not None
            assert state.sequence == 0
            async with started(reaching(job, pages), FetchWithoutPages) as (fetch,):
                await polled(stage, 1)
                assert fetch.metrics.expired_requests._value.get() >= 1

    run(through())


def test_an_answer_in_parts_is_applied_once(
    job: Settings, monkeypatch: pytest.MonkeyPatch, read_all: ReadAll
) -> None:
    """All items of a large feed are sent once, and the state of the feed changes once."""
    monkeypatch.setattr(source_request, "PART_BYTES", 500)
    pages, clock = Web(), Clock()
    names = [f"item{number}" for number in range(30)]
    pages.put(f"{HOST}/rss", feed(*names, ETag='"1"'))

    async def through() -> None:
        makes = partial(Poll, clock=clock), partial(FetchWithoutPages, clock=clock)
        async with serving(pages), started(reaching(job, pages), *makes) as [stage, _]:
            await follow(job)
            state = await polled(stage, 1)
            assert (state.items, state.etag) == (30, '"1"')
            assert stage.metrics.polls.labels("items")._value.get() == 1

    run(through())
    assert sorted(map(str, titles(read_all))) == sorted(names)
    assert [answer.part for answer in answers(read_all)] == list(range(len(answers(read_all))))
    assert len(answers(read_all)) > 5


def test_the_rest_of_an_answer_is_not_taken_for_the_whole(job: Settings, read_all: ReadAll) -> None:
    """If a worker of poll stops between two parts, its successor applies only a whole answer.

    Each item is sent once nevertheless.
    """
    outcome = PollOutcome(
        site=SITE, feed=FEED, sequence=1, at=time.time(), result=PollResult.ITEMS, etag="old"
    )
    items = [FeedItem(f"http://{HOST}/{number}", str(number)) for number in range(6)]

    def parts(outcome: PollOutcome) -> list[PollAnswer]:
        whole = [(items[0:2], 0, False), (items[2:4], 1, False), (items[4:], 2, True)]
        return [
            PollAnswer(outcome=outcome, items=tuple(some), part=part, is_last=is_last)
            for some, part, is_last in whole
        ]

    async def answer(*answers: PollAnswer) -> None:
        key = route_key(SITE, PARTITIONS).key
        await send(job, *(Sent("poll-outcomes", key, outcomes.encode(a)) for a in answers))

    async def through() -> None:
        await follow(job)
        first, second, last = parts(outcome)
        async with started(job, Poll) as (stage,):
            assert isinstance(stage, Poll)
            queue = stage.polling._queue
            await until(lambda: queue.asked == 1)
            await answer(first, second)
            await until(lambda: stage.metrics.items._value.get() == 4)
            await idle([stage])
        async with started(job, Poll) as (stage,):
            assert isinstance(stage, Poll)
            await until(lambda: stage.polling._queue.asked == 1)
            await answer(last)
            await until(lambda: stage.metrics.items._value.get() == 2)
            await idle([stage])
            state = state_of(stage)
            assert state is not None
            assert (state.sequence, state.etag) == (0, None)
            await answer(*parts(replace(outcome, at=time.time(), etag="new")))
            state = await polled(stage, 1)
            assert state.etag == "new"

    run(through())
    assert sorted(map(str, titles(read_all))) == sorted(str(item.title) for item in items)


def test_a_host_to_which_many_feeds_redirect_gets_one_request_at_a_time(job: Settings) -> None:
    """40 feeds of 40 sites lead to one host; its owner sends one request after the other."""
    pages = Web()
    sites = [f"site{number}.example" for number in range(40)]
    for site in sites:
        pages.put(f"{site}/rss", redirect(f"http://hub.example/{site}", 302))
        pages.put(f"hub.example/{site}", slowly(0.02, feed(site)))

    async def through() -> None:
        async with serving(pages):
            settings = reaching(job, pages, host_pause=0.05, latency_factor=0.0)
            async with started(settings, Poll, FetchWithoutPages) as [stage, _]:
                for site in sites:
                    await publish(job, Feed(site=site, url=f"http://{site}/rss"))
                await until(lambda: stage.metrics.polls.labels("items")._value.get() == 40)

    run(through())
    assert set(pages.most_at_once.values()) == {1}
    at = pages.at["hub.example"]
    assert len(at) == 40
    assert all(later - before >= 0.06 for before, later in pairwise(at))
