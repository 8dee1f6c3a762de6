"""What pages of `fetches` become on a real Kafka: held, refused, revisited, reserved, and more."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agents.fetch import Fetch
from agents.kafka.client import producer
from agents.kafka.partitions import partition_of
from agents.settings.job import Settings
from models.crawl import fetch as fetches
from models.crawl import poll_outcome as outcomes
from tests.agents.feed_server import Clock
from tests.agents.fetched import NEWS, fetch, letters, pages_of, quick, reaching, reasons, wanted
from tests.agents.pages_server import Answer, Web, html, redirect, serving, story
from tests.agents.records import PARTITIONS, Publish, ReadAll, Sent
from tests.agents.workers import idle, run, started, until
from tests.urltree.crawl.web.certificates import Certificates
from urltree.crawl.decisions.host.page.validators import PageValidators
from urltree.crawl.decisions.poll.answer import PageReport
from urltree.crawl.decisions.poll.source_options import Content
from urltree.crawl.decisions.timing import DAY, HOUR

pytestmark = pytest.mark.kafka


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """Return settings that allow workers to connect to 127.0.0.1 and make their pauses short."""
    return quick(settings, tmp_path)


def page(address: str, **headers: Any) -> Answer:
    """Return a page that is not held."""
    return html(story(address, address), **headers)


def was_asked(pages: Web, address: str, times: int) -> bool:
    """Return whether an address was requested so many times."""
    return pages.times(address) == times


def test_the_next_worker_decides_about_held_pages(
    job: Settings, publish: Publish, read_all: ReadAll, tmp_path: Path
) -> None:
    """A worker holds two pages and is killed; with a third one, its successor finds the wall.

    The successor has no disk of its predecessor. The walls are not requested again. A held page
    that no other one confirms is published after an hour.
    """
    pages, clock = Web(), Clock()
    for number in range(3):
        pages.put(f"news.example/item-{number}", redirect("/sorry", 302))
    pages.put("news.example/sorry", html("<p>Sorry"))
    pages.put("calm.example/alone", html("<p>One short page"))
    publish(*(wanted(f"{NEWS}/item-{n}") for n in range(2)), wanted("http://calm.example/alone"))

    async def through() -> None:
        make = partial(Fetch, clock=clock)
        async with serving(pages):
            settings = reaching(job, pages, park_seconds=0.5)
            async with started(settings, make) as (first,):
                assert isinstance(first, Fetch)
                await until(lambda: first.metrics.held._value.get() == 3)
                await asyncio.sleep(1.0)
                first.app.before_wait = None  # as in a crash, nothing is sent again or committed
                first.fetching.clear()
                first.delivery.clear()
            other = settings.model_copy(update={"data_dir": tmp_path / "other"})
            async with started(other, make) as (second,):
                await publish_later(job, wanted(f"{NEWS}/item-2"))
                await until(lambda: pages.times("news.example/item-2") >= 1)
                clock.ahead = HOUR + 60
                await idle([second])

    run(through())
    assert [page.url for page in pages_of(read_all)] == ["http://calm.example/alone"]
    assert set(reasons(read_all).values()) == {"wall"}
    assert len(reasons(read_all)) == 3
    assert pages.times("calm.example/alone") == 2


async def publish_later(job: Settings, *records: Sent) -> None:
    """Publish records while workers run."""
    async with producer(job) as client:
        for topic, key, value, headers, _ in records:
            name, partition = job.topic(topic), partition_of(key or b"", PARTITIONS)
            await client.send_and_wait(name, value, key, partition, headers=list(headers))


def test_404_and_403_are_final_only_for_old_pages(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """A new page that is missing twice is published; one of a first poll is refused at once."""
    pages, clock = Web(), Clock()
    missing = html("", 404)
    pages.put("new.example/a", missing, html("", 403), page("new.example/a"))
    pages.put("old.example/a", missing, page("old.example/a"))
    pages.put("unknown.example/a", missing, page("unknown.example/a"))
    now = clock()
    publish(
        wanted("http://new.example/a", named_at=now),
        wanted("http://old.example/a", named_at=now, is_first_poll=True),
        wanted("http://unknown.example/a"),
    )

    async def through() -> None:
        make = partial(Fetch, clock=clock)
        async with (
            serving(pages),
            started(reaching(job, pages, park_seconds=0.5), make) as (stage,),
        ):
            for times, ahead in ((1, 7 * 60.0), (2, 2 * HOUR)):
                await until(partial(was_asked, pages, "new.example/a", times))
                clock.ahead = ahead
            await idle([stage])

    run(through())
    assert [page.url for page in pages_of(read_all)] == ["http://new.example/a"]
    assert reasons(read_all) == {
        "http://old.example/a": "http-status",
        "http://unknown.example/a": "http-status",
    }


def test_refusals_rest_the_host_and_missing_pages_do_not(job: Settings, publish: Publish) -> None:
    """The third 403 in a row rests a host, a 403 of a wall does so at once, and a 404 never."""
    pages = Web()
    for number in range(5):
        pages.put(f"refusing.example/{number}", html("", 403))
        pages.put(f"wall.example/{number}", html("", 403, cf_mitigated="challenge"))
        pages.put(f"missing.example/{number}", html("", 404))
    hosts = ("refusing", "wall", "missing")
    publish(*(wanted(f"http://{host}.example/{n}") for n in range(5) for host in hosts))

    async def through() -> None:
        async with serving(pages), started(reaching(job, pages), Fetch):
            await until(lambda: len(pages.at["missing.example"]) == 6)
            await until(lambda: len(pages.at["refusing.example"]) >= 4)
            await asyncio.sleep(1.0)

    run(through())
    assert {host: len(pages.at[f"{host}.example"]) - 1 for host in hosts} == {
        "refusing": 3,
        "wall": 1,
        "missing": 5,
    }


def test_a_bad_certificate_rests_only_https(
    job: Settings, publish: Publish, read_all: ReadAll, tmp_path: Path
) -> None:
    """Pages with https wait for a valid certificate; pages of the host with http are fetched."""
    pages, certificates = Web(), Certificates(tmp_path)
    for number in range(4):
        pages.page(f"expired.example/{number}")
    publish(*(wanted(f"https://expired.example/{n}") for n in range(4)))
    publish(*(wanted(f"http://expired.example/{n}") for n in range(4)))

    async def through() -> None:
        async with serving(pages, certificates.context()):
            settings = reaching(job, pages, fetch_ca_file=certificates.ca_file)
            async with started(settings, Fetch) as (stage,):
                await until(lambda: stage.metrics.pages._value.get() == 4)

    run(through())
    assert {page.url for page in pages_of(read_all)} == {
        f"http://expired.example/{n}" for n in range(4)
    }
    assert letters(read_all) == []


def test_a_revisit_asks_whether_the_page_has_changed(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """With validators an unchanged page gets 304 and ends in `unchanged`; else it is published.

    The validators are stored with `revisits: replace` only.
    """
    pages = Web()
    sent: list[str | None] = []

    async def tagged(request: Any) -> Any:
        sent.append(request.headers.get("If-None-Match"))
        if sent[-1] == '"1"':
            return await html("", 304)(request)
        return await page("news.example/a", ETag='"1"')(request)

    pages.put("news.example/a", tagged)
    for is_revisit, revisits in ((False, "skip"), (True, "replace"), (True, "replace")):
        publish(wanted(f"{NEWS}/a", is_revisit=is_revisit))
        fetch(job, pages, revisits=revisits)
    assert sent == [None, None, '"1"']
    assert len(read_all("raw-html")) == 2
    (unchanged,) = read_all("unchanged")
    assert unchanged.value is not None


def test_expired_rows_of_pages_are_swept_once_the_time_is_sure(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """Rows are deleted after 60 days, unless the clock of the worker is ahead of the broker's."""
    pages = Web()
    pages.put("news.example/a", page("news.example/a", ETag='"1"'))
    publish(wanted(f"{NEWS}/a"))

    async def work(days: float, **changes: Any) -> None:
        make = partial(Fetch, clock=Clock(days * DAY))
        async with serving(pages), started(reaching(job, pages, **changes), make) as (stage,):
            for number in range(2):
                pages.page(f"news.example/{number}")
                await publish_later(job, wanted(f"{NEWS}/{number}"))
                await idle([stage])

    run(work(-61.0, revisits="replace"))
    name = "urltree-fetch-page_validators-changelog"
    (row,) = read_all(name)
    assert PageValidators.decode(row.value).etag == '"1"'
    run(work(90.0))
    assert len(read_all(name)) == 1, "the clock is ahead of the broker's time"
    run(work(0.0))
    assert [record.value for record in read_all(name)] == [row.value, None]


def test_full_text_needs_no_request_unless_it_is_compared(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """`feed` publishes the item's own text; `auto` fetches the page and reports what it covers."""
    pages = Web()
    pages.page("auto.example/a")
    text = "<p>" + "The whole text of an item in its feed. " * 20
    common = {"site": "news.example", "feed": f"{NEWS}/feed", "feed_content": text, "title": "A"}
    publish(
        wanted("http://full.example/a", content=Content.FEED, **common),
        wanted("http://auto.example/a", content=Content.AUTO, **common),
    )
    fetch(job, pages)
    found = {page.url: page for page in pages_of(read_all)}
    assert found["http://full.example/a"].content_from == "feed"
    assert text.encode() in found["http://full.example/a"].html
    assert {host for host, _ in pages.asked} == {"auto.example"}
    (report,) = [outcomes.decode(record.value) for record in read_all("poll-outcomes")]
    assert isinstance(report, PageReport)
    assert (report.feed, len(report.coverage)) == (f"{NEWS}/feed", 1)


@pytest.mark.parametrize(("signals", "count"), [("noindex,noai,tdm", 1), ("", 4)])
def test_reservations_are_obeyed_if_they_are_set(
    job: Settings, publish: Publish, read_all: ReadAll, signals: str, count: int
) -> None:
    """Reserved pages become dead letters `reserved` only if the settings name their signals."""
    pages = Web()
    pages.put("a.example/a", page("a.example/a", X_Robots_Tag="noindex"))
    pages.put("b.example/a", html('<meta name="robots" content="noai">' + story("b", "b")))
    rule = '[{"location": "/", "tdm-reservation": 1}]'
    pages.put("c.example/.well-known/tdmrep.json", html(rule, Content_Type="application/json"))
    pages.page("c.example/a")
    pages.page("d.example/a")
    publish(*(wanted(f"http://{host}.example/a") for host in "abcd"))
    fetch(job, pages, obey_signals=tuple(filter(None, signals.split(","))))
    assert len(pages_of(read_all)) == count
    assert set(reasons(read_all).values()) == ({"reserved"} if signals else set())
    assert len(reasons(read_all)) == 4 - count


def test_credentials_go_only_to_their_origin_over_https(
    job: Settings, publish: Publish, read_all: ReadAll, tmp_path: Path
) -> None:
    """Pages get credentials if their record names them, and never after a redirect.

    The secret is in no record.
    """
    pages, certificates, folder = Web(), Certificates(tmp_path), tmp_path / "credentials"
    folder.mkdir()
    (folder / "agency").write_text("reader:s3cret-word\n")
    pages.put("paid.example/a", page("paid.example/a"))
    pages.put("paid.example/b", redirect("https://paid.example/c/b", 302))
    pages.put("paid.example/c/b", page("paid.example/c/b"))
    pages.put("paid.example/d", page("paid.example/d"))
    pages.put("other.example/e", page("other.example/e"))
    named = {"credentials": "agency", "feed": "https://paid.example/feed"}
    publish(
        wanted("https://paid.example/a", **named),
        wanted("https://paid.example/b", **named),
        wanted("https://paid.example/d", feed="https://paid.example/feed"),
        wanted("https://other.example/e", **named),
        wanted("http://paid.example/f", **named),
    )

    async def through() -> None:
        async with serving(pages, certificates.context()):
            settings = reaching(
                job, pages, fetch_ca_file=certificates.ca_file, credentials_dir=folder
            )
            async with started(settings, Fetch) as stages:
                await idle(stages)

    run(through())
    given = {address for address, headers in pages.requests if "Authorization" in headers}
    assert given == {"paid.example/a", "paid.example/b"}
    assert fetches.decode(read_all("fetches")[0].value).credentials == "agency"
    for topic in ("raw-html", "fetches", "dead-letters", "poll-outcomes"):
        for record in read_all(topic):
            assert b"s3cret" not in (record.value or b"") + repr(record.headers).encode()


def test_a_provider_gets_few_requests_at_once(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """Thirty hosts of one domain share its limit; they delay no host of another domain."""
    pages, most, busy = Web(), [0], [0]

    async def slow(request: Any) -> Any:
        busy[0] += 1
        most[0] = max(most[0], busy[0])
        try:
            await asyncio.sleep(0.15)
            return await page(request.host)(request)
        finally:
            busy[0] -= 1

    hosts = [f"blog{number}.provider.com" for number in range(30)]
    for host in hosts:
        pages.put(f"{host}/a", slow)
    pages.page("free.example/a")
    publish(*(wanted(f"http://{host}/a") for host in hosts), wanted("http://free.example/a"))
    overdue: list[float] = []

    async def through() -> None:
        async with serving(pages), started(reaching(job, pages), Fetch) as (stage,):
            assert isinstance(stage, Fetch)
            await until(lambda: pages.times("free.example/a") == 1)
            assert sum(path == "/a" for _, path in pages.asked) < len(hosts)
            overdue.append(stage.fetching._client.waiting)
            await idle([stage])

    run(through())
    assert most[0] <= 4
    assert overdue[0] > 0
    assert len(pages_of(read_all)) == 31
