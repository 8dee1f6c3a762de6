"""The command `dead-letters` lists letters, shows them safely, and replays them exactly."""

from __future__ import annotations

import base64
from dataclasses import replace

import orjson
import pytest
from click.testing import CliRunner

from agents.commands.dead_letters.command import dead_letters
from agents.kafka.partitions import partition_of
from models import raw_html
from models.crawl import fetch
from models.crawl.feed import Feed
from models.crawl.fetch import FetchRequest
from models.dead_letter import DeadLetter, Record
from models.headers.names import ORIGIN, REKEYED
from tests.agents.records import PARTITIONS, Publish, ReadAll, Run, Sent
from urltree.page import Page

pytestmark = pytest.mark.kafka

URL = "http://www.example.org/a"


def dead(prefix: str, offset: int, reason: str, original: Record, topic: str = "raw-html") -> Sent:
    """Return the dead letter of the record at this offset of raw-html, partition 0."""
    origin = f"{prefix}raw-html/0/{offset}"
    stage = "normalize" if topic == "raw-html" else "extract"
    letter = DeadLetter(origin, stage, reason, f"message {offset}", prefix + topic, original)
    return Sent("dead-letters", *letter.to_record())


def original(url: str = URL, key: bytes | None = b"example.org") -> Record:
    """Return the record of a page as the stage has read it."""
    return Record(key, raw_html.encode(Page(url=url, html="<p>Hello")), ())


def test_letters_are_listed_by_filter_and_counted(prefix: str, publish: Publish, run: Run) -> None:
    """`dead-letters list` can filter letters by reason, stage and domain, and limit the number."""
    publish(
        dead(prefix, 1, "bad-url", original()),
        dead(prefix, 2, "empty", original("http://other.net/", None)),
        dead(prefix, 3, "too-large", Record(b"example.org", b"{}", ()), "documents"),
    )
    found = orjson.loads(run("dead-letters", "list", "--json").stdout)
    assert found["total"] == 3
    assert found["reasons"] == {"bad-url": 1, "empty": 1, "too-large": 1}
    for arguments, offsets in (
        (("--reason", "empty"), [2]),
        (("--stage", "extract"), [3]),
        (("--domain", "example.org"), [1, 3]),
        (("--domain", "other.net"), [2]),
        (("--limit", "1"), [3]),
    ):
        last = orjson.loads(run("dead-letters", "list", "--json", *arguments).stdout)["last"]
        assert [int(letter["origin"].split("/")[-1]) for letter in last] == offsets
    assert "message 1" in run("dead-letters", "list").stdout


def test_an_origin_is_listed_as_it_is(prefix: str, publish: Publish, run: Run) -> None:
    """Each origin is on one line of the list, however long it is, so that it can be copied.

    The first 200 characters of a message are not cut, either.
    """
    letter = DeadLetter(
        f"{prefix}raw-html/0/{10**18}", "normalize", "parts-failed", "m" * 200, "t", original()
    )
    longest = replace(letter, origin=f"{'t' * 249}/99999/{10**18}", message="short")
    publish(*[Sent("dead-letters", *one.to_record()) for one in (letter, longest)])
    lines = run("dead-letters", "list").stdout.splitlines()
    for one in (letter, longest):
        assert sum(one.origin in line.split() for line in lines) == 1
    assert any("m" * 200 in line for line in lines)


def test_the_last_letter_of_an_origin_counts(prefix: str, publish: Publish, run: Run) -> None:
    """A record with two dead letters is listed only with the reason of the last one."""
    publish(dead(prefix, 1, "empty", original()), dead(prefix, 1, "bad-url", original()))
    assert "No dead letters" in run("dead-letters", "list", "--reason", "empty").stdout
    assert orjson.loads(run("dead-letters", "list", "--json").stdout)["total"] == 1


def test_a_letter_is_shown_without_harm_to_the_terminal(
    prefix: str, publish: Publish, run: Run
) -> None:
    """Control characters in a dead letter are escaped on a terminal; JSON contains all bytes."""
    value = b"\x1b[2J\xff\x00[bold]" + b"x" * 5_000
    publish(dead(prefix, 1, "malformed", Record(None, value, (("a\x1b", b"\x07"),))))
    shown = run("dead-letters", "show", f"{prefix}raw-html/0/1")
    assert "\x1b" not in shown.stdout
    assert r"\x1b[2J\xff\x00[bold]xxx" in shown.stdout
    assert r"a\x1b: \x07" in shown.stdout
    found = orjson.loads(run("dead-letters", "show", f"{prefix}raw-html/0/1", "--json").stdout)
    assert base64.b64decode(found["value_base64"]) == value
    assert found["key_base64"] is None


def test_a_letter_that_is_none_is_not_shown(run: Run) -> None:
    """If no dead letter has the given origin, `dead-letters show` exits with code 1."""
    assert run("dead-letters", "show", "raw-html/0/1").exit_code == 1


def test_a_replay_restores_the_record_and_names_its_origin(
    prefix: str, publish: Publish, run: Run, read_all: ReadAll
) -> None:
    """A replay sends a record with unchanged key, value and headers to its original topic.

    A record with neither key nor value gets an empty key, or else aiokafka could not send it.
    """
    headers = (("url", b"u"), (REKEYED, b"1"), ("null", None), (ORIGIN, b"old"))
    publish(
        dead(prefix, 1, "bad-url", Record(b"example.org", b"\xff", headers)),
        dead(prefix, 2, "bad-url", Record(None, None, ())),
        dead(prefix, 3, "too-large", original(), "documents"),
    )
    result = run("dead-letters", "replay", "--all", "--yes", "--json")
    assert orjson.loads(result.stdout) == {"replayed": 3}
    assert {(r.key, r.value, r.headers) for r in read_all("raw-html")} == {
        (
            b"example.org",
            b"\xff",
            (("url", b"u"), ("null", None), (ORIGIN, f"{prefix}raw-html/0/1".encode())),
        ),
        (b"", None, ((ORIGIN, f"{prefix}raw-html/0/2".encode()),)),
    }
    assert [r.value for r in read_all("documents")] == [original().value]


def test_a_replay_takes_what_is_named_and_asks_before(
    prefix: str, publish: Publish, run: Run, read_all: ReadAll
) -> None:
    """A replay asks for confirmation, and sends only the chosen dead letters."""
    publish(*[dead(prefix, offset, "bad-url", original()) for offset in (1, 2)])
    wanted = f"{prefix}raw-html/0/2"
    assert run("dead-letters", "replay", wanted, input="n\n").exit_code == 1
    assert read_all("raw-html") == []
    result = run("dead-letters", "replay", wanted, input="y\n")
    assert "1 replayed" in result.stdout
    (sent,) = read_all("raw-html")
    assert sent.headers == ((ORIGIN, wanted.encode()),)


def test_a_replay_writes_to_no_other_topic(
    prefix: str, publish: Publish, run: Run, read_all: ReadAll
) -> None:
    """A replay refuses a forged dead letter that names a topic that no stage reads."""
    publish(dead(prefix, 1, "bad-url", original(), "clean-text"))
    assert run("dead-letters", "replay", "--all", "--yes").exit_code == 1
    assert read_all("clean-text") == []


def refused(prefix: str, topic: str, origin: Record) -> Sent:
    """Return the dead letter of `poll` or `fetch` for a record of partition 0."""
    stage = "fetch" if topic == "fetches" else "poll"
    letter = DeadLetter(f"{prefix}{topic}/0/7", stage, "unreachable", "m", prefix + topic, origin)
    return Sent("dead-letters", *letter.to_record())


def test_a_page_that_was_not_fetched_is_asked_for_anew(
    prefix: str, publish: Publish, run: Run, read_all: ReadAll
) -> None:
    """A replayed page is fetched from its first URL again, with the full number of attempts.

    The record goes to the partition of that URL's domain. It keeps its origin and the fields from
    its feed.
    """
    wanted = FetchRequest(url=URL, title="T", meta={"k": "v"})
    sent_on = replace(wanted, redirects=("http://other.net/",))
    tried = replace(
        sent_on, attempt=6, refusals=3, not_before=1e9, held_since=1e9, trouble="timeout"
    )
    first = (ORIGIN, f"{prefix}fetches/0/7".encode())
    publish(refused(prefix, "fetches", Record(b"other.net", fetch.encode(tried), (first,))))
    for domain, exit_code in (("example.org", 1), ("other.net", 0)):
        arguments = ("--stage", "fetch", "--domain", domain, "--yes")
        assert run("dead-letters", "replay", *arguments).exit_code == exit_code
    (sent,) = read_all("fetches")
    assert fetch.decode(sent.value) == wanted
    assert (sent.key, sent.headers) == (b"example.org", (first,))
    assert sent.partition == partition_of(b"example.org", PARTITIONS)


def test_what_cannot_be_read_is_replayed_as_it_was(
    prefix: str, publish: Publish, run: Run, read_all: ReadAll
) -> None:
    """A record that cannot be decoded is replayed unchanged: a later release may decode it."""
    publish(refused(prefix, "fetches", Record(b"k", b'{"schema": 2}', ())))
    assert run("dead-letters", "replay", "--all", "--yes").exit_code == 0
    assert [(r.key, r.value) for r in read_all("fetches")] == [(b"k", b'{"schema": 2}')]


def test_a_feed_is_replayed_where_its_site_is_read(
    prefix: str, publish: Publish, run: Run, read_all: ReadAll
) -> None:
    """A feed is replayed to the partition of its site, although its key also contains its URL.

    The option --domain selects the dead letters of `poll` by the site of their feed.
    """
    feed = Feed(site="example.org", url=URL)
    publish(refused(prefix, "feeds", Record(feed.key, feed.encode(), ())))
    arguments = ("--stage", "poll", "--domain", "example.org", "--yes")
    assert run("dead-letters", "replay", *arguments).exit_code == 0
    (sent,) = read_all("feeds")
    assert (sent.key, sent.partition) == (feed.key, partition_of(b"example.org", PARTITIONS))


def test_a_replay_needs_to_be_told_what() -> None:
    """Without origins, a filter or --all, `dead-letters replay` fails with a usage error."""
    assert CliRunner().invoke(dead_letters, ["replay"]).exit_code == 2
