"""The stage `fetch` on a real Kafka requests pages from a local server and publishes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.kafka.partitions import partition_of
from agents.settings.job import Settings
from models import raw_html
from models.crawl import fetch as fetches
from models.crawl.fetch import FetchRequest
from models.headers.names import FETCHED_FOR, ORIGIN, header
from tests.agents.fetched import NEWS, fetch, letters, pages_of, quick, reasons, wanted
from tests.agents.pages_server import Web, html, redirect, story
from tests.agents.records import PARTITIONS, Publish, ReadAll, Sent
from urltree.page import microseconds

pytestmark = pytest.mark.kafka


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """Return settings that allow workers to connect to 127.0.0.1 and make their pauses short."""
    return quick(settings, tmp_path)


def test_a_page_arrives_with_all_that_is_known_of_it(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """A fetched page has its bytes and the fields from its feed and from its response.

    A header contains the origin of the record in the topic fetches.
    """
    pages = Web()
    words = "Brie and other cheese " * 60
    body = f'<html><head><link rel="canonical" href="/story"></head><body><h1>Käse</h1><p>{words}'
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
    """A page that robots.txt forbids is not requested, and becomes a dead letter.

    robots.txt is requested once per host, even if it redirects, and stored for other workers.
    """
    pages = Web()
    pages.put("news.example/robots.txt", redirect("http://www.news.example/rules"))
    pages.put("www.news.example/rules", html("User-agent: urltree\nDisallow: /private"))
    pages.page("news.example/a")
    pages.page("news.example/private/b")
    publish(wanted(f"{NEWS}/a"), wanted(f"{NEWS}/private/b"))
    fetch(job, pages)
    publish(wanted(f"{NEWS}/private/c"))
    fetch(job, pages)
    assert [page.url for page in pages_of(read_all)] == [f"{NEWS}/a"]
    assert [reason for reason, _ in letters(read_all)] == ["robots", "robots"]
    assert pages.asked == [
        ("news.example", "/robots.txt"),
        ("www.news.example", "/rules"),
        ("news.example", "/a"),
    ]


def test_a_redirect_to_another_domain_is_its_owners(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """After a redirect to another domain, the record is sent to the partition of this domain.

    The worker that owns this domain fetches the page and publishes it with this key.
    """
    pages = Web()
    pages.put("news.example/a", redirect("http://www.other.example/a"))
    pages.page("www.other.example/a")
    (origin,) = publish(wanted(f"{NEWS}/a", title="A"))
    stage = fetch(job, pages)
    (record,) = read_all("raw-html")
    page = raw_html.decode(record.value, record.headers)
    assert (record.key, header(record.headers, FETCHED_FOR)) == (b"other.example", origin)
    assert (page.url, page.redirects, page.title) == (f"{NEWS}/a", (), "A")
    assert page.response_url == "http://www.other.example/a"
    assert {r.key for r in read_all("fetches")} == {b"news.example", b"other.example"}
    assert stage.metrics.sent_on._value.get() == 1


def test_a_page_that_may_come_later_is_asked_again(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """A page with status 503 is requested again after its Retry-After, as another attempt."""
    pages = Web()
    pages.put(
        "news.example/a",
        html("", 503, Retry_After="1"),
        html(story("news.example/a", "") + "<p>Now"),
    )
    pages.page("news.example/b")
    publish(wanted(f"{NEWS}/a"), wanted(f"{NEWS}/b"))
    fetch(job, pages)
    assert sorted(page.url for page in pages_of(read_all)) == [f"{NEWS}/a", f"{NEWS}/b"]
    again = fetches.decode(read_all("fetches")[-1].value)
    assert (again.attempt, again.trouble) == (1, "status 503")
    asked = pages.at["news.example"]
    # The requests are robots.txt, /a, and again /a after its Retry-After.
    assert asked[2] - asked[1] >= 0.95


def test_attempts_come_to_an_end(job: Settings, publish: Publish, read_all: ReadAll) -> None:
    """After the maximum number of attempts a page becomes a dead letter with the last error."""
    pages = Web()
    pages.put("news.example/a", html("", 503, Retry_After="0"))
    publish(wanted(f"{NEWS}/a"))
    fetch(job, pages, fetch_attempts=3)
    assert pages.times("news.example/a") == 3
    assert letters(read_all) == [
        ("unreachable", "given up after 3 attempts; the last one: status 503")
    ]


def test_without_an_answer_to_robots_txt_no_page_is_asked(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """While robots.txt cannot be read, no page of its host is requested.

    After all attempts, the page's dead letter contains the last error of robots.txt.
    """
    pages = Web()
    for status in (429, 500, 503):
        pages.put(f"{status}.example/robots.txt", html("", status))
        pages.page(f"{status}.example/a")
    publish(*(wanted(f"http://{status}.example/a", attempt=5) for status in (429, 500, 503)))
    stage = fetch(job, pages)
    assert {path for _, path in pages.asked} == {"/robots.txt"}
    assert sorted(letters(read_all)) == [
        ("robots", f"given up after 6 attempts; the last one: robots.txt: status {status}")
        for status in (429, 500, 503)
    ]
    assert stage.metrics.robots_fetches._value.get() == 3


NO_PAGES = [
    (html("", 404), "http-status"),
    (html("%PDF", Content_Type="application/pdf"), "not-html"),
    (html("<p>a</p>" * 200), "too-large"),
    (html("", 401, cf_mitigated="challenge"), "wall"),
    (redirect("https://consent.google.com/ml?continue=a"), "wall"),
    (redirect("/a"), "redirect"),
    (redirect("file:///etc/passwd"), "redirect"),
    (redirect("javascript:alert(1)"), "redirect"),
    (html(""), "empty"),
]


def test_what_is_no_page_is_a_dead_letter(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """A response that is not a page becomes a dead letter with its reason at once, without a retry.

    The next page of the same host is fetched.
    """
    pages = Web()
    hosts = [f"site{number}.example" for number in range(len(NO_PAGES))]
    for host, (answer, _) in zip(hosts, NO_PAGES, strict=True):
        pages.put(f"{host}/a", answer)
        pages.page(f"{host}/b")
    publish(*(wanted(f"http://{host}/{path}") for host in hosts for path in "ab"))
    stage = fetch(job, pages, max_page_bytes=1_000)
    assert reasons(read_all) == {
        f"http://{host}/a": reason for host, (_, reason) in zip(hosts, NO_PAGES, strict=True)
    }
    assert {page.url for page in pages_of(read_all)} == {f"http://{host}/b" for host in hosts}
    assert stage.metrics.walls.labels("cloudflare")._value.get() == 1
    assert max(map(pages.times, (f"{host}/a" for host in hosts))) == 1


def test_redirects_come_to_an_end(job: Settings, publish: Publish, read_all: ReadAll) -> None:
    """A page that is redirected more often than `max_redirects` becomes a dead letter."""
    pages = Web()
    for number in range(5):
        pages.put(f"news.example/{number}", redirect(f"/{number + 1}"))
    publish(wanted(f"{NEWS}/0"))
    fetch(job, pages, max_redirects=3)
    assert letters(read_all) == [("redirect", "the page was redirected more than 3 times")]


def test_a_private_address_is_refused(job: Settings, publish: Publish, read_all: ReadAll) -> None:
    """A page at a private address becomes a dead letter with the reason `refused-address`."""
    urls = ["http://10.0.0.1/a", "http://[::1]/a", "http://localhost:9/a"]
    publish(*map(wanted, urls))
    fetch(job, Web(), connect_to=(), allow_networks=())
    assert reasons(read_all) == dict.fromkeys(urls, "refused-address")


def test_a_record_at_fault_is_a_dead_letter(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """An invalid or misplaced record of fetches becomes a dead letter, without any request."""
    pages = Web()
    publish(
        Sent("fetches", b"news.example", b"no JSON"),
        Sent("fetches", b"news.example", None),
        wanted(f"{NEWS}/a", key="other.example"),
        Sent("fetches", b"", fetches.encode(FetchRequest(url="nothing"))),
    )
    fetch(job, pages)
    found = sorted(reason for reason, _ in letters(read_all))
    assert found == ["bad-url", "malformed", "malformed", "misplaced"]
    assert not pages.asked
