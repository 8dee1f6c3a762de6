"""The commands `feeds list|remove|import|export`, and the records that `feeds add` publishes."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import orjson
import pytest
import xxhash

from agents.commands.feeds.list import span
from agents.kafka.partitions import partition_of
from agents.kafka.tables.table import row_key
from agents.settings.job import SettingsError
from models.crawl.feed import Feed, decode
from tests.agents.records import PARTITIONS, Publish, ReadAll, Run, Sent
from urltree.crawl.decisions.poll.feed_state import FeedState, FeedStatus

URL = "https://example.org/feed"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-5, "0 s"), (90, "90 s"), (900, "15 min"), (21_600, "6 h"), (259_200, "3 d")],
)
def test_a_time_is_one_number(seconds: float, text: str) -> None:
    """A time span is printed as one number with one unit, which is short enough for a column."""
    assert span(seconds) == text


def state(feed: Feed, **changes: Any) -> Sent:
    """Return the record of a feed's state as the stage `poll` writes it to the changelog.

    By default its last poll was answered a minute ago.
    """
    fields = {"site": feed.site, "feed": feed.url, "url": feed.url, "last_poll": time.time() - 60}
    row = FeedState(**{**fields, **changes})
    key = row_key(feed.site, xxhash.xxh3_128_digest(feed.url.encode()))
    place = partition_of(feed.site.encode(), PARTITIONS)
    return Sent("urltree-poll-feed_state-changelog", key, row.encode(), partition=place)


def follow(feed: Feed) -> Sent:
    """Return the record of the topic feeds that adds a feed."""
    place = partition_of(feed.site.encode(), PARTITIONS)
    return Sent("feeds", feed.key, feed.encode(), partition=place)


def listed(run: Run, *options: str) -> list[dict[str, Any]]:
    """Run `feeds list --json`, and return its decoded lines."""
    result = run("feeds", "list", "--json", *options)
    assert result.exit_code == 0
    return [orjson.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.kafka
def test_an_address_is_followed_in_the_partition_of_its_site(run: Run, read_all: ReadAll) -> None:
    """The record of a feed is published to the partition of its site, not of its address.

    The worker that owns the site reads this partition.
    """
    added = run(
        *("feeds", "add", "blog.Example.org/a b", "http://cdn.example.net/x", "--no-check"),
        *("--site", "example.org", "--title", " My\n news ", "--meta", "k=v=w", "--json"),
    )
    assert added.exit_code == 0
    assert orjson.loads(added.stdout)["added"][0] == {
        "site": "example.org",
        "feed": "https://blog.example.org/a%20b",
        "title": "My news",
        "kind": "feed",
        "was_there": False,
    }
    first, second = read_all("feeds")
    assert decode(second.key, second.value) == Feed(
        site="example.org", url="http://cdn.example.net/x", title="My news", meta={"k": "v=w"}
    )
    assert {first.partition, second.partition} == {partition_of(b"example.org", PARTITIONS)}


@pytest.mark.kafka
@pytest.mark.parametrize(
    "arguments",
    [
        *(("ftp://example.org/",), ("https://u:p@example.org/",), ("",), ()),
        (URL, "--site", "www.example.org"),
        (URL, "--meta", "k"),
        (URL, "--meta", "k=" + "v" * 9_000),
    ],
)
def test_what_workers_would_refuse_is_wrong_use(
    arguments: tuple[str, ...], run: Run, read_all: ReadAll
) -> None:
    """For arguments that workers would refuse, `feeds add` exits with 2 and publishes nothing."""
    result = run("feeds", "add", "--no-check", *arguments)
    assert result.exit_code == 2
    assert "Error: " in result.stderr
    assert read_all("feeds") == []


@pytest.mark.kafka
def test_feeds_are_removed_by_address_or_by_site(
    publish: Publish, run: Run, read_all: ReadAll
) -> None:
    """`feeds remove` publishes a tombstone with the key and the partition of each removed feed.

    The other feeds remain, and an unknown address causes exit code 1.
    """
    feeds = [Feed(site="example.org", url=f"{URL}{n}") for n in range(3)]
    other = Feed(site="example.net", url="https://example.net/")
    publish(*map(follow, [*feeds, other]))
    gone = run("feeds", "remove", f"{URL}0", "example.org/feed9", "--json")
    assert gone.exit_code == 1
    assert orjson.loads(gone.stdout) == {
        "removed": [{"site": "example.org", "feed": f"{URL}0"}],
        "unknown": ["example.org/feed9"],
    }
    assert run("feeds", "remove", f"{URL}0").exit_code == 1
    assert run("feeds", "remove", "--site", "example.org", input="n\n").exit_code == 1
    assert run("feeds", "remove", "--site", "example.org", "--yes").exit_code == 0
    assert [row["feed"] for row in listed(run)] == [other.url]
    ended = [record for record in read_all("feeds") if record.value is None]
    assert {r.key for r in ended} == {feed.key for feed in feeds}
    assert {r.partition for r in ended} == {partition_of(b"example.org", PARTITIONS)}


@pytest.mark.kafka
def test_the_list_says_how_each_feed_fares(publish: Publish, run: Run) -> None:
    """`feeds list` shows the last state of each feed; a feed that was never polled is `new`.

    Removed feeds are not listed.
    """
    now = time.time()
    feeds = [Feed(site="example.org", url=f"{URL}{n}", title="T") for n in range(3)]
    removed = Feed(site="example.org", url=f"{URL}/removed")
    good = {"last_success": now - 7_200, "next_due": now + 20_700, "interval": 1_800.0, "items": 7}
    publish(*map(follow, feeds), state(feeds[0], errors=9), state(removed))
    publish(
        state(feeds[0], **good, gaps=(3_600.0,) * 6, newest=now - 21_600, title="Own"),
        state(
            feeds[1], errors=3, trouble="status", message="HTTP\n500", status=FeedStatus.QUARANTINED
        ),
    )
    first, second, third = listed(run)
    assert (first["status"], first["title"], first["items"]) == ("active", "Own", 7)
    assert first["items_a_day"] == pytest.approx(12, rel=0.01)
    assert first["last_success"].endswith("+00:00")
    assert (second["errors"], second["trouble"], second["message"]) == (3, "status", "HTTP\n500")
    assert (third["status"], third["title"]) == ("new", "T")
    assert listed(run, "--errors") == listed(run, "--status", "quarantined") == [second]
    assert [row["feed"] for row in listed(run, "--limit", "1")] == [feeds[0].url]
    assert listed(run, "--site", "example.net") == []
    shown = run("feeds", "list").stdout
    assert "2 h" in shown
    assert "6 h" in shown  # correct for up to 15 minutes after the test began
    assert "3 polls failed: the server answered with an error: HTTP 500" in shown
    assert "3 feeds: 1 active, 1 new, 1 quarantined" in shown


@pytest.mark.kafka
def test_what_feeds_say_does_no_harm_to_a_terminal(publish: Publish, run: Run) -> None:
    """Control characters and markup in a feed's error message have no effect on the terminal."""
    feed = Feed(site="example.org", url=URL)
    publish(follow(feed), state(feed, errors=1, trouble="x", message="\x1b[2J[bold]\u202e"))
    shown = run("feeds", "list").stdout
    assert "\x1b" not in shown
    assert r"\x1b[2J[bold]\u202e" in shown


@pytest.mark.kafka
def test_a_list_is_imported_once_and_exported_as_it_was(
    run: Run, read_all: ReadAll, tmp_path: Path
) -> None:
    """An import adds new feeds and reports invalid entries; a second import changes nothing.

    An export of the feeds can be imported again.
    """
    file = tmp_path / "mine.opml"
    file.write_text(
        f'<opml><body><outline text="News"><outline text="A &amp; B" xmlUrl="{URL}"/></outline>'
        f'<outline text="x" xmlUrl="ftp://example.org/"/><outline xmlUrl="HTTPS://example.org:443/feed"/>'
        "</body></opml>"
    )
    done = run("feeds", "import", str(file), "--json")
    assert done.exit_code == 1
    report = orjson.loads(done.stdout)
    assert (report["added"], report["there"]) == (1, 1)
    assert [entry["address"] for entry in report["refused"]] == ["ftp://example.org/"]
    exported = run("feeds", "export").stdout
    again = run("feeds", "import", "-", input=exported)
    assert again.exit_code == 0
    assert "0 added, 1 known before, 0 refused" in again.stdout
    (record,) = read_all("feeds")
    assert decode(record.key, record.value) == Feed(
        site="example.org", url=URL, title="A & B", meta={"feed.categories": "News"}
    )
    lines = run("feeds", "export", str(tmp_path / "lines"), "--json")
    assert lines.exit_code == 0
    assert orjson.loads((tmp_path / "lines").read_bytes())["site"] == "example.org"


@pytest.mark.kafka
def test_a_file_that_is_no_list_adds_nothing(run: Run) -> None:
    """The import of a file without a feed exits with code 1."""
    assert run("feeds", "import", "-", input="# nothing\n").exit_code == 1


@pytest.mark.kafka
def test_records_of_others_in_feeds_are_named_and_passed(publish: Publish, run: Run) -> None:
    """`feeds list` reports an invalid record in the topic, and still lists all feeds."""
    publish(Sent("feeds", b"x", b"{}"), follow(Feed(site="example.org", url=URL)))
    result = run("feeds", "list")
    assert "should be SITE URL" in result.stderr
    assert "1 feeds: 1 new" in result.stdout


@pytest.mark.kafka
def test_nobody_is_asked_without_a_contact_address(run: Run) -> None:
    """Without the setting `contact`, `feeds add` sends no request.

    Owners of sites must be able to contact the sender of the requests.
    """
    with pytest.raises(SettingsError, match="contact"):
        run("feeds", "add", URL)
