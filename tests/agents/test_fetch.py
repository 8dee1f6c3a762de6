"""From fetches to raw-html on a real Kafka, from a web on loopback."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from agents.fetch import Fetch
from agents.kafka.partitions import partition_of
from agents.schemes import Schemes
from agents.settings import Settings
from models import fetch as fetches
from models import raw_html
from models.dead_letter import DeadLetter
from models.fetch import Fetch as Wanted
from models.headers import FETCHED_FOR, ORIGIN, header
from tests.agents.pages_server import Web, html, redirect, serving, slowly
from tests.agents.records import PARTITIONS, Publish, ReadAll, Sent
from tests.agents.workers import idle, run, started, until
from urltree.page import microseconds

pytestmark = pytest.mark.kafka

NEWS = "http://news.example"


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """Settings of workers that reach loopback, and do not wait long."""
    quick = {
        "data_dir": tmp_path,
        "commit_seconds": 0.3,
        "contact": "https://crawler.example/about",
        "allow_networks": Settings(allow_networks="127.0.0.1/32").allow_networks,
        "host_pause": 0.05,
        "header_seconds": 5.0,
    }
    return settings.model_copy(update=quick)


def wanted(url: str, key: str | None = None, **fields: Any) -> Sent:
    """A record of fetches under its domain."""
    fetch = Wanted(url=url, **fields)
    domain = Schemes(Settings()).domain(fetch.target)
    return Sent("fetches", (key or domain).encode(), fetches.encode(fetch))


def reaching(settings: Settings, pages: Web, **changes: Any) -> Settings:
    """Settings by which every address leads to this web."""
    return settings.model_copy(update={"connect_to": (f"::127.0.0.1:{pages.port}",), **changes})


def fetch(settings: Settings, pages: Web, **changes: Any) -> Fetch:
    """Run a worker until it has done all that there is."""
    found: list[Fetch] = []

    async def through() -> None:
        async with serving(pages), started(reaching(settings, pages, **changes), Fetch) as stages:
            found.extend(stage for stage in stages if isinstance(stage, Fetch))
            await idle(stages)

    run(through())
    return found[0]


def letters(read_all: ReadAll) -> list[tuple[str, str]]:
    """Reason and words of each dead letter."""
    found = [DeadLetter.from_record(r.key, r.value, r.headers) for r in read_all("dead-letters")]
    return [(str(letter.reason), letter.message) for letter in found]


def pages_of(read_all: ReadAll) -> list[Any]:
    """The pages of raw-html."""
    return [raw_html.decode(r.value, r.headers) for r in read_all("raw-html")]


def test_a_page_arrives_with_all_that_is_known_of_it(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """Its bytes, what its feed says, what its answer says, and where it was asked for."""
    pages = Web()
    body = '<html><head><link rel="canonical" href="/story"></head><body><p>Käse'
    pages.put("news.example/a", redirect("/b", 302))
    pages.put("news.example/b", redirect("/c?d=%20", 308))
    pages.put("news.example/c?d=%20", html(body, ETag='"1"', Last_Modified="yesterday"))
    known = {
        "feed": f"{NEWS}/feed",
        "title": "Käse",
        "description": "<p>Brie",
        "published": "2026-01-01T00:00:00Z",
    }
    (origin,) = publish(wanted(f"{NEWS}/a", meta={"team": "7", "http.etag": "mine"}, **known))
    stage = fetch(job, pages)
    (record,) = read_all("raw-html")
    page = raw_html.decode(record.value, record.headers)
    assert (record.key, record.partition) == (
        b"news.example",
        partition_of(b"news.example", PARTITIONS),
    )
    assert header(record.headers, FETCHED_FOR) == origin
    assert header(record.headers, ORIGIN) is None
    assert record.value == body.encode()
    assert (page.url, page.redirects, page.response_url) == (
        f"{NEWS}/a",
        (f"{NEWS}/b",),
        f"{NEWS}/c?d=%20",
    )
    assert {name: getattr(page, name) for name in known} == known
    assert (page.status, page.content_type) == (200, "text/html; charset=utf-8")
    assert page.meta["team"] == "7"
    assert page.meta["http.etag"] == "mine"
    assert page.meta["http.last-modified"] == "yesterday"
    assert page.meta["link.canonical"] == f"{NEWS}/story"
    assert page.fetched_at is not None
    assert microseconds(page.fetched_at)
    assert stage.metrics.pages._value.get() == 1
    assert pages.asked[0] == ("news.example", "/robots.txt")


def test_what_robots_txt_forbids_is_not_asked(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """It is asked once for all pages of its host, and kept for another worker."""
    pages = Web()
    pages.put("news.example/robots.txt", html("User-agent: urltree\nDisallow: /private"))
    pages.page("news.example/a")
    pages.page("news.example/private/b")
    publish(wanted(f"{NEWS}/a"), wanted(f"{NEWS}/private/b"))
    fetch(job, pages)
    publish(wanted(f"{NEWS}/private/c"))
    fetch(job, pages)
    assert [page.url for page in pages_of(read_all)] == [f"{NEWS}/a"]
    assert [reason for reason, _ in letters(read_all)] == ["robots", "robots"]
    assert pages.asked == [("news.example", "/robots.txt"), ("news.example", "/a")]


def test_a_redirect_to_another_domain_is_its_owners(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """It is sent on with its chain, and the page lies in that domain's partition."""
    pages = Web()
    pages.put("news.example/a", redirect("http://www.other.example/b"))
    pages.page("www.other.example/b")
    (origin,) = publish(wanted(f"{NEWS}/a", title="A"))
    stage = fetch(job, pages)
    (record,) = read_all("raw-html")
    page = raw_html.decode(record.value, record.headers)
    assert (record.key, header(record.headers, FETCHED_FOR)) == (b"other.example", origin)
    assert (page.url, page.redirects, page.title) == (f"{NEWS}/a", (), "A")
    assert page.response_url == "http://www.other.example/b"
    assert {r.key for r in read_all("fetches")} == {b"news.example", b"other.example"}
    assert stage.metrics.sent_on._value.get() == 1


def test_a_page_that_may_come_later_is_asked_again(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """503 with Retry-After: not before, with its attempt counted."""
    pages = Web()
    pages.put("news.example/a", html("", 503, Retry_After="1"), html("<p>Now it is there"))
    pages.page("news.example/b")
    publish(wanted(f"{NEWS}/a"), wanted(f"{NEWS}/b"))
    fetch(job, pages)
    assert sorted(page.url for page in pages_of(read_all)) == [f"{NEWS}/a", f"{NEWS}/b"]
    again = fetches.decode(read_all("fetches")[-1].value)
    assert (again.attempt, again.trouble) == (1, "status 503")
    asked = pages.at["news.example"]
    assert asked[2] - asked[1] >= 0.95  # robots.txt, /a, then Retry-After


def test_attempts_come_to_an_end(job: Settings, publish: Publish, read_all: ReadAll) -> None:
    """A dead letter says what the last one met."""
    pages = Web()
    pages.put("news.example/a", html("", 503, Retry_After="0"))
    publish(wanted(f"{NEWS}/a"))
    fetch(job, pages, fetch_attempts=3)
    assert pages.times("news.example/a") == 3
    assert letters(read_all) == [("unreachable", "status 503, the last of 3 attempts")]


@pytest.mark.parametrize(
    ("status", "answer"), [(503, "status 503"), (429, "status 429"), (500, "status 500")]
)
def test_without_an_answer_to_robots_txt_no_page_is_asked(
    job: Settings, publish: Publish, read_all: ReadAll, status: int, answer: str
) -> None:
    """The host is left alone, and the page waits; its last attempt says what was answered."""
    pages = Web()
    pages.put("news.example/robots.txt", html("", status))
    pages.page("news.example/a")
    publish(wanted(f"{NEWS}/a", attempt=5))
    stage = fetch(job, pages)
    assert pages.asked == [("news.example", "/robots.txt")]
    assert letters(read_all) == [("robots", f"robots.txt: {answer}, the last of 6 attempts")]
    assert stage.metrics.robots_fetches._value.get() == 1


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (html("", 404), "http-status"),
        (html("%PDF", Content_Type="application/pdf"), "not-html"),
        (html("<p>a</p>" * 200), "too-large"),
        (html("", 403, cf_mitigated="challenge"), "wall"),
        (redirect("https://consent.google.com/ml?continue=a"), "wall"),
        (redirect("/a"), "redirect"),
        (redirect("file:///etc/passwd"), "redirect"),
        (redirect("javascript:alert(1)"), "redirect"),
        (html(""), "empty"),
    ],
)
def test_what_is_no_page_is_a_dead_letter(
    job: Settings, publish: Publish, read_all: ReadAll, answer: Any, reason: str
) -> None:
    """At once, with its reason; and the next page of the host is fetched."""
    pages = Web()
    pages.put("news.example/a", answer)
    pages.page("news.example/b")
    publish(wanted(f"{NEWS}/a"), wanted(f"{NEWS}/b"))
    fetch(job, pages, max_page_bytes=1_000)
    assert [reason for reason, _ in letters(read_all)] == [reason]
    assert [page.url for page in pages_of(read_all)] == [f"{NEWS}/b"]


def test_redirects_come_to_an_end(job: Settings, publish: Publish, read_all: ReadAll) -> None:
    """As many as the setting says."""
    pages = Web()
    for number in range(5):
        pages.put(f"news.example/{number}", redirect(f"/{number + 1}"))
    publish(wanted(f"{NEWS}/0"))
    fetch(job, pages, max_redirects=3)
    assert letters(read_all) == [("redirect", "more than 3 redirects")]


@pytest.mark.parametrize("url", ["http://10.0.0.1/a", "http://[::1]/a", "http://localhost:9/a"])
def test_a_private_address_is_refused(
    job: Settings, publish: Publish, read_all: ReadAll, url: str
) -> None:
    """Before anything is sent there."""
    pages = Web()
    publish(wanted(url))
    fetch(job, pages, connect_to=(), allow_networks=())
    assert [reason for reason, _ in letters(read_all)] == ["refused-address"]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (Sent("fetches", b"news.example", b"no JSON"), "malformed"),
        (Sent("fetches", b"news.example", None), "malformed"),
        (wanted(f"{NEWS}/a", key="other.example"), "misplaced"),
        (Sent("fetches", b"", fetches.encode(Wanted(url="nothing"))), "bad-url"),
    ],
)
def test_a_record_at_fault_is_a_dead_letter(
    job: Settings, publish: Publish, read_all: ReadAll, record: Sent, reason: str
) -> None:
    """And nobody is asked for it."""
    pages = Web()
    publish(record)
    fetch(job, pages)
    assert [reason for reason, _ in letters(read_all)] == [reason]
    assert not pages.asked


def test_a_page_that_was_put_off_comes_again(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """Its turn is further off than it may wait here: it is sent again, its attempts the same."""
    pages = Web()
    pages.put("news.example/a", html("", 503, Retry_After="2"), html("<p>Now it is there"))
    pages.page("news.example/b")
    origins = publish(wanted(f"{NEWS}/a"), wanted(f"{NEWS}/b"))
    stage = fetch(job, pages, park_seconds=0.5)
    assert sorted(page.url for page in pages_of(read_all)) == [f"{NEWS}/a", f"{NEWS}/b"]
    assert stage.metrics.parked._value.get() >= 1
    records = read_all("fetches")
    attempts = {r.value: fetches.decode(r.value) for r in records}
    assert {f.attempt for f in attempts.values() if f.url.endswith("/b")} == {0}
    assert {header(r.headers, ORIGIN) or "" for r in records} == {"", *origins}
    assert pages.times("news.example/b") == 1


def test_a_slow_host_holds_up_itself_alone(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """Others are done while its first page is still on its way; one request a host at a time."""
    pages = Web()
    for number in range(20):
        pages.page(f"quick.example/{number}")
    for number in range(3):
        pages.put(f"slow.example/{number}", slowly(2.0, html("<p>slow")))
    urls = [f"http://slow.example/{n}" for n in range(3)]
    urls += [f"http://quick.example/{n}" for n in range(20)]
    publish(*map(wanted, urls))
    fetch(job, pages, latency_factor=0.0)
    assert sorted(page.url for page in pages_of(read_all)) == sorted(urls)
    assert max(pages.at["quick.example"]) < pages.at["slow.example"][2]
    assert set(pages.most_at_once.values()) == {1}


def test_a_host_rests_between_two_requests(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """As long as the setting says, robots.txt included; in the order of the records."""
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
    """What waits is sent again; what was published is committed."""
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
    """What was fetched and not committed is fetched again; each page is there."""
    pages = Web()
    urls = [f"{NEWS}/{number}" for number in range(6)]
    for url in urls:
        pages.page(url.removeprefix("http://"))
    pages.put("news.example/0", slowly(0.5, html("<p>0")))
    publish(*map(wanted, urls))

    async def through() -> None:
        async with serving(pages):
            settings = reaching(job, pages, host_pause=0.1)
            async with started(settings, Fetch) as (first,):
                assert isinstance(first, Fetch)
                await until(lambda: pages.times("news.example/3") == 1)
                first.app.before_wait = None  # as a crash: nothing is sent again or committed
                first.fetching.clear()
                first.delivery.clear()
            async with started(settings, Fetch) as stages:
                await idle(stages)

    run(through())
    assert {page.url for page in pages_of(read_all)} == set(urls)


def test_what_is_of_another_owner_by_now_is_dropped(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """After a revoke nothing is asked or sent of what was in memory."""
    pages = Web()
    pages.put("news.example/a", slowly(1.0, html("<p>a")))
    pages.page("news.example/b")
    publish(wanted(f"{NEWS}/a"), wanted(f"{NEWS}/b"))

    async def through() -> None:
        async with serving(pages), started(reaching(job, pages), Fetch) as (stage,):
            await until(lambda: pages.times("news.example/a") == 1)
            await stage._on_revoked(stage.app, set())
            await asyncio.sleep(1.5)

    run(through())
    assert not read_all("raw-html")
    assert pages.times("news.example/b") == 0
