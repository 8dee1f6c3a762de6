"""The command `feeds add` requests pages as a worker does, and adds the feeds that it finds."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import orjson
import pytest

from models.crawl.feed import Feed, decode
from tests.agents.limits import environment
from tests.agents.records import ReadAll, Run
from urltree.crawl.decisions.poll.source_options import SourceKind

pytestmark = pytest.mark.kafka

RSS = (
    b'<rss version="2.0"><channel><title>News\x1b[2J [bold]</title>'
    b"<item><title>A</title><link>https://example.org/a</link></item></channel></rss>"
)
PAGES = {
    "/": b'<link rel="feed" href="/feed"><link rel="feed" title="\x1b[2J" href="/2">',
    "/feed": RSS.replace(b"\x1b", b"&#155;"),
    "/2": RSS.replace(b"\x1b", b""),
    "/city/": b"<!doctype html><a href=/a>After the flood</a>",
}


class Site(BaseHTTPRequestHandler):
    """Server of a few pages and feeds of example.org; other hosts have only a page without feeds.

    Attributes:
        agents: User-Agent headers of all requests.
    """

    agents: set[str | None]

    def do_GET(self) -> None:
        """Send one of the pages, or status 404."""
        has_pages = self.headers["Host"].endswith("example.org")
        self.agents.add(self.headers["User-Agent"])
        body = PAGES.get(self.path) if has_pages else b"<p>Hello"
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_: object) -> None:
        """Suppress the server's log."""


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Site]]:
    """Run the server, and set the environment so that the command's requests reach it."""
    Site.agents = set()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for name, seconds in environment().items():
        monkeypatch.setenv(name, seconds)
    monkeypatch.setenv("URLTREE_CONNECT_TO", f"::127.0.0.1:{server.server_port}")
    monkeypatch.setenv("URLTREE_ALLOW_NETWORKS", "127.0.0.0/8")
    monkeypatch.setenv("URLTREE_CONTACT", "https://example.com/us")
    monkeypatch.setenv("URLTREE_HOST_PAUSE", "0")
    yield Site
    server.shutdown()
    server.server_close()


def test_a_page_leads_to_its_feed(site: type[Site], run: Run, read_all: ReadAll) -> None:
    """`feeds add` adds the main feed of a page with the feed's title, and names the other feeds.

    All requests contain the contact address in their User-Agent.
    """
    done = run("feeds", "add", "http://www.example.org/", "--json")
    assert done.exit_code == 0
    report = orjson.loads(done.stdout)
    assert [feed["feed"] for feed in report["added"]] == ["http://www.example.org/feed"]
    assert [other["feed"] for other in report["others"]] == ["http://www.example.org/2"]
    (record,) = read_all("feeds")
    feed = decode(record.key, record.value)
    assert (feed.site, feed.url) == ("example.org", "http://www.example.org/feed")
    assert (feed.title or "").startswith("News")
    assert all("(+https://example.com/us)" in (agent or "") for agent in site.agents)


def test_all_feeds_of_a_page_are_followed_on_request(
    site: type[Site], run: Run, read_all: ReadAll
) -> None:
    """With --all, all feeds of a page are added; control characters in titles are not printed."""
    done = run("feeds", "add", "http://example.org/", "--all")
    assert done.exit_code == 0
    assert len(read_all("feeds")) == 2
    assert not [c for c in done.stdout if not c.isprintable() and c != "\n"]
    again = run("feeds", "add", "http://example.org/feed")
    assert "known before" in again.stdout
    assert site.agents


@pytest.mark.usefixtures("site")
def test_an_address_without_feed_stops_no_other(run: Run, read_all: ReadAll) -> None:
    """An address without a feed is reported with its reason; the other addresses are added.

    The exit code is then 1.
    """
    addresses = ("http://none.example/", "http://example.org/404", "http://example.org/feed")
    done = run("feeds", "add", *addresses, "--title", "Mine")
    assert done.exit_code == 1
    none = "http://none.example/: there is no feed at the address: this page names no feed"
    assert none in done.stderr
    assert "/404: the server answered with an error: HTTP status 404" in done.stderr
    (record,) = read_all("feeds")
    assert decode(record.key, record.value) == Feed(
        site="example.org", url="http://example.org/feed", title="Mine"
    )


@pytest.mark.usefixtures("site")
def test_a_private_address_is_not_asked(
    run: Run, read_all: ReadAll, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`feeds add` refuses private addresses, because it uses the same guard as workers."""
    monkeypatch.delenv("URLTREE_ALLOW_NETWORKS")
    done = run("feeds", "add", "http://example.org/")
    assert done.exit_code == 1
    assert "the address is private" in done.stderr
    assert read_all("feeds") == []


@pytest.mark.usefixtures("site")
def test_the_kind_of_a_source_is_stored(run: Run, read_all: ReadAll) -> None:
    """The record contains the kind of the source, and the report names it."""
    addresses = ("http://example.org/city/", "http://example.org/sitemap.xml")
    done = run("feeds", "add", addresses[0], "--kind", "section")
    assert done.stdout == f"added         section {addresses[0]}\n"
    assert run("feeds", "add", addresses[1], "--no-check", "--kind", "sitemap").exit_code == 0
    kinds = [decode(record.key, record.value).options.kind for record in read_all("feeds")]
    assert sorted(kinds) == [SourceKind.SECTION, SourceKind.SITEMAP]
