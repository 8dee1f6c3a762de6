"""Options of a source: what is named changes, all else stays, and no output shows a password."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import orjson
import pytest

from agents.commands.feeds.options import make_feed, option_fields
from agents.commands.feeds.subscriptions import read_feed_list, write_json
from agents.kafka.partitions import partition_of
from agents.kafka.tables.table import row_key
from models.crawl.feed import Feed, decode
from tests.agents.records import PARTITIONS, Publish, ReadAll, Run, Sent
from urltree.crawl.decisions.poll.feed_state import FeedState
from urltree.crawl.decisions.poll.source_options import Content, SourceKind, SourceOptions

URL = "https://example.org/feed"
ALL = SourceOptions(
    kind=SourceKind.FEED,
    content=Content.AUTO,
    interval_min=600.0,
    interval_max=7200.0,
    is_paused=True,
    is_only_new=True,
    first_poll_max=0,
    credentials="example.org",
    are_credentials_for_pages=True,
)
NAMED = (
    *("--content", "auto", "--interval-min", "600", "--interval-max", "7200", "--pause"),
    *("--only-new", "--first-poll-max", "0", "--credentials", "example.org"),
    "--credentials-for-pages",
)


def last(read_all: ReadAll) -> Feed:
    """Return the feed in the last record of the topic feeds."""
    record = read_all("feeds")[-1]
    return decode(record.key, record.value)


@pytest.mark.kafka
def test_adding_again_changes_only_what_is_named(run: Run, read_all: ReadAll) -> None:
    """Every option can be set; adding the feed again changes the named options alone.

    A feed that is followed needs no request for that, and so no contact address.
    """
    first = ("--no-check", "--site", "example.org", "--title", "Mine", "--meta", "k=v", *NAMED)
    assert run("feeds", "add", URL, *first).exit_code == 0
    expected = Feed(site="example.org", url=URL, title="Mine", meta={"k": "v"}, options=ALL)
    assert last(read_all) == expected
    done = run("feeds", "add", URL, "--resume", "--interval-max", "none", "--json")
    assert done.exit_code == 0
    assert orjson.loads(done.stdout)["added"][0]["was_there"] is True
    fields = option_fields(expected)
    del fields["paused"], fields["interval_max"]
    assert option_fields(last(read_all)) == fields
    assert (last(read_all).title, last(read_all).meta) == ("Mine", {"k": "v"})
    off = (
        *("--not-only-new", "--first-poll-max", "none", "--no-credentials-for-pages"),
        *("--credentials", "none", "--interval-min", "none", "--content", "page", "--meta", "a=b"),
    )
    assert run("feeds", "add", URL, *off).exit_code == 0
    assert last(read_all) == Feed(site="example.org", url=URL, title="Mine", meta={"a": "b"})


@pytest.mark.kafka
def test_an_address_of_a_named_kind_is_followed_as_it_is(run: Run, read_all: ReadAll) -> None:
    """With --no-check, an address is followed as the kind that is named, without a request."""
    done = run("feeds", "add", "--no-check", "https://example.org/news", "--kind", "section")
    assert done.exit_code == 0
    assert "section https://example.org/news" in done.stdout
    assert last(read_all).options == SourceOptions(kind=SourceKind.SECTION)


@pytest.mark.kafka
def test_a_password_is_never_printed(run: Run, read_all: ReadAll, publish: Publish) -> None:
    """An address with a password is refused, and a record with one is only named without it.

    `remove` takes the address as it is shown.
    """
    typed = "https://me:s3cr3t@example.org/feed"
    listed = f'{typed}\nhttps://me:s3/cr3t@x y/\n{{"feed": "{typed}"}}\n{{"feed": "{typed}'
    others = Feed(site="example.org", url=typed)
    results = [
        run("feeds", "add", "--no-check", typed),
        run("feeds", "import", "-", input=listed),
        run("feeds", "import", "-", "--json", input=listed),
        run("feeds", "remove", typed),
        run("feeds", "remove", typed, "--json"),
    ]
    assert [result.exit_code for result in results] == [2, 1, 1, 1, 1]
    assert read_all("feeds") == []
    publish(Sent("feeds", others.key, others.encode()), Sent("feeds", b"a me:s3cr3t@x b", b"{}"))
    more = [run("feeds", name) for name in ("list", "export")]
    assert all("https://***@example.org/feed is not polled" in one.stderr for one in more)
    more.append(run("feeds", "remove", "https://***@example.org/feed"))
    assert [r.key for r in read_all("feeds") if r.value is None] == [others.key]
    for result in [*results, *more]:
        assert "s3" not in result.stdout + result.stderr
        assert "cr3t" not in result.stdout + result.stderr
    for result in results[:3]:
        assert "--credentials" in result.stdout + result.stderr


@pytest.mark.kafka
def test_children_of_an_index_are_counted_and_not_listed(publish: Publish, run: Run) -> None:
    """The states of sitemaps that the index of a site names are counted with the index."""
    index = make_feed("example.org", "https://example.org/sitemap.xml", {"kind": "sitemap"})
    own = Feed(site="example.org", url=URL)
    place = partition_of(b"example.org", PARTITIONS)
    feeds = (Sent("feeds", one.key, one.encode(), partition=place) for one in (index, own))
    publish(*feeds)
    for number in range(3):
        url = f"https://example.org/{number}.xml"
        row = FeedState(
            site="example.org", feed=url, url=url, parent=index.url, last_poll=time.time()
        )
        key = row_key("example.org", bytes([number]) * 16)
        publish(Sent("urltree-poll-feed_state-changelog", key, row.encode(), partition=place))
    rows = [orjson.loads(line) for line in run("feeds", "list", "--json").stdout.splitlines()]
    assert [(row["feed"], row["kind"], row["children"]) for row in rows] == [
        (URL, "feed", 0),
        (index.url, "sitemap", 3),
    ]


@pytest.mark.kafka
def test_options_of_an_import_are_those_of_its_lines_or_of_the_command(
    run: Run, read_all: ReadAll, tmp_path: Path
) -> None:
    """The options of `import` apply to feeds without own options; an export keeps all options."""
    lines = [
        {"feed": URL, "content": "feed", "interval_min": 60},
        {"feed": "https://example.org/s.xml", "kind": "sitemap"},
        {"feed": "https://example.org/t.xml", "kind": "sitemap", "content": "feed"},
        {"feed": "https://example.org/u.xml", "kind": "other"},
    ]
    file = tmp_path / "list"
    file.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    done = run("feeds", "import", str(file), "--interval-min", "300", "--pause", "--json")
    refused = orjson.loads(done.stdout)["refused"]
    assert [entry["address"][-5:] for entry in refused] == ["t.xml", "u.xml"]
    assert "--content feed needs a feed" in refused[0]["message"]
    assert {f.url: f.options for f in (decode(r.key, r.value) for r in read_all("feeds"))} == {
        URL: SourceOptions(content=Content.FEED, interval_min=60, is_paused=True),
        "https://example.org/s.xml": SourceOptions(
            kind=SourceKind.SITEMAP, interval_min=300, is_paused=True
        ),
    }
    exported = run("feeds", "export", "--json").stdout.splitlines()
    assert orjson.loads(exported[1])["kind"] == "sitemap"
    opml = run("feeds", "export")
    assert "s.xml" not in opml.stdout
    assert "1 source that is not a feed was left out" in opml.stderr


def test_a_list_in_json_has_every_option() -> None:
    """What `export --json` writes is read as it was, with all options."""
    feed = Feed(site="example.org", url=URL, title="T", meta={"a": "b"}, options=ALL)
    (entry,) = read_feed_list(write_json([feed]))
    fields = {"title": entry.title, "meta": entry.meta, **entry.options}
    assert make_feed(entry.site or "", entry.address, fields) == feed


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": "section", "content": "auto"}, "needs a feed"),
        ({"interval_min": 20.0, "interval_max": 10.0}, "is longer than"),
        ({"credentials_for_pages": True}, "needs --credentials NAME"),
    ],
)
def test_options_that_exclude_each_other_are_refused(fields: dict[str, Any], words: str) -> None:
    """Options that make no sense together are refused when a feed is added."""
    with pytest.raises(ValueError, match=words):
        make_feed("example.org", URL, fields)


def test_credentials_are_refused_for_http() -> None:
    """Credentials are never sent over http, so an http address with credentials is refused."""
    with pytest.raises(ValueError, match="needs an https address"):
        make_feed("example.org", "http://example.org/feed", {"credentials": "a"})
