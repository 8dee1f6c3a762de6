"""The commands `deny`, `fetches purge` and `feeds remove` write the rules that workers follow."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

from agents.kafka.partitions import partition_of
from agents.kafka.topic_ids import topic_id
from agents.rules.topic import KnownRules, read_rules
from agents.settings.job import Settings
from models.crawl import fetch
from models.crawl.feed import Feed
from models.crawl.fetch import FetchRequest
from models.headers.names import ORIGIN
from tests.agents.records import PARTITIONS, Publish, ReadAll, Run, Sent
from tests.agents.test_audit_fetches import Commit, commit  # noqa: F401 - a fixture
from urltree.crawl.decisions.rules.rule import CrawlRule, RuleKey

pytestmark = pytest.mark.kafka

FEED = "https://example.org/feed"


def rules_of(job: Settings) -> dict[str, CrawlRule]:
    """Return the rules in force by key."""
    known: KnownRules = asyncio.run(read_rules(job))
    return {str(rule.key): rule for rule in known}


def wanted(url: str, *redirects: str, origin: str | None = None, feed: str | None = None) -> Sent:
    """Return the record of a page to fetch in partition 0."""
    value = fetch.encode(FetchRequest(url=url, redirects=redirects, feed=feed))
    headers = [] if origin is None else [(ORIGIN, origin.encode())]
    return Sent("fetches", b"example.org", value, headers, 0)


def printed(run: Run, *arguments: str, code: int = 0, **options: Any) -> Any:
    """Run a command with --json, and return what it prints."""
    result = run(*arguments, "--json", **options)
    assert result.exit_code == code, result.output
    return orjson.loads(result.stdout)


def test_rules_are_added_listed_checked_and_removed(job: Settings, run: Run) -> None:
    """`deny` writes each rule once, in normal form, and ends exactly the named ones."""
    targets = ("--host", "WWW.Example.org", "--domain", "example.net", "--path", "https://a.b/x/*")
    added = run("deny", "add", *targets, "--note", "mail of\x1b 3 May")
    assert added.exit_code == 0
    assert "denied: host www.example.org\n" in added.stdout
    assert "5 s" in added.stdout
    keys = ["deny host www.example.org", "deny domain example.net", "deny path a.b/x/*"]
    assert set(rules_of(job)) == set(keys)
    again = printed(run, "deny", "add", "--host", "www.example.org", "--host", "example.com")
    assert again == {"added": ["deny host example.com"], "there": [keys[0]]}
    assert rules_of(job)[keys[0]].note == "mail of\x1b 3 May"
    listed = run("deny", "list")
    assert "a.b/x/*" in listed.stdout
    assert "\x1b" not in listed.stdout
    assert "4 deny rules, 0 removed feeds, 0 purges" in listed.stdout
    assert len(printed(run, "deny", "list")["rules"]) == 4
    checked = printed(run, "deny", "check", "http://x.example.net:81/robots.txt")
    assert checked["rule"] == keys[1]
    assert printed(run, "deny", "check", "https://example.org/", code=1)["rule"] is None
    gone = printed(run, "deny", "remove", "--domain", "example.net", "--host", "b.c", code=1)
    assert gone == {"removed": [keys[1]], "unknown": ["deny host b.c"]}
    assert run("deny", "check", "https://example.net/").exit_code == 1
    assert run("deny", "remove", "--host", "example.com").exit_code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        *(("add",), ("remove",), ("add", "--domain", "org"), ("add", "--host", "a/b")),
        *(("add", "--path", "a.b"), ("check", "no address")),
        ("add", "--host", "a.b", "--note", "n" * 501),
    ],
)
def test_wrong_targets_are_wrong_use(job: Settings, run: Run, arguments: tuple[str, ...]) -> None:
    """A target that could not be obeyed is refused with exit code 2; nothing is written."""
    result = run("deny", *arguments)
    assert (result.exit_code, "Error: " in result.stderr) == (2, True)
    assert rules_of(job) == {}


def test_a_purge_counts_what_waits_and_covers_it(
    job: Settings,
    publish: Publish,
    run: Run,
    commit: Commit,  # noqa: F811 - a fixture
) -> None:
    """A purge counts each waiting page once, whose chain has an address of the target.

    Finished pages are not counted. A dry run writes nothing, and so does a refused question.
    """
    done, first, *_ = publish(
        wanted("https://a.example.org/done"),
        wanted("https://a.example.org/1"),
        wanted("https://example.net/2", "https://example.org/2"),
        wanted("https://example.net/3", feed=FEED),
        Sent("fetches", b"example.org", b"no JSON", (), 0),
    )
    publish(wanted("https://a.example.org/1", origin=first))
    commit(1)
    assert done.endswith("/0/0")
    for options, count in (
        (("--domain", "example.org"), 2),
        (("--host", "example.org"), 1),
        (("--host", "a.example.org", "--feed", "example.org/feed"), 2),
        (("--all",), 3),
    ):
        found = printed(run, "fetches", "purge", *options, "--dry-run")
        assert found == {"pages": count, "rules": []}
    assert run("fetches", "purge", "--all", input="n\n").exit_code == 1
    assert rules_of(job) == {}
    purged = run("fetches", "purge", "--domain", "example.org", "--yes")
    assert purged.exit_code == 0
    assert "2 waiting pages are removed (domain example.org)" in purged.stdout
    (rule,) = rules_of(job).values()
    assert rule.fetches is not None
    assert rule.fetches.topic == asyncio.run(topic_id(job, "fetches"))
    assert rule.fetches.before == (6, 0, 0, 0, 0, 0)
    undone = ("fetches", "purge", "--domain", "example.org", "--undo")
    assert printed(run, *undone)["removed"] == ["purge domain example.org"]
    assert rules_of(job) == {}
    assert run(*undone).exit_code == 1


@pytest.mark.parametrize(
    "arguments",
    [(), ("--all", "--host", "a.b"), ("--host", "a/b"), ("--feed", "ftp://a.b/")],
)
def test_a_purge_names_what_it_removes(run: Run, arguments: tuple[str, ...]) -> None:
    """A purge without a target, with --all and a target, or with a wrong target is wrong use."""
    assert run("fetches", "purge", *arguments, "--yes").exit_code == 2


def test_a_removed_feed_takes_its_waiting_pages_along(
    job: Settings, publish: Publish, run: Run, read_all: ReadAll
) -> None:
    """`feeds remove` writes up to which addition of the feed waiting pages are removed.

    An addition that follows has a higher offset, so its pages are not covered.
    """
    feeds = [Feed(site="example.org", url=f"{FEED}{number}") for number in range(3)]
    place = partition_of(b"example.org", PARTITIONS)
    added = [Sent("feeds", feed.key, feed.encode(), (), place) for feed in feeds]
    publish(*added, wanted("https://example.org/1"))
    assert run("feeds", "remove", "--site", "example.org", "--yes").exit_code == 0
    (again,) = publish(added[0])
    tombstones = [record.offset for record in read_all("feeds") if record.value is None]
    rules = rules_of(job)
    assert set(rules) == {f"remove feed example.org {feed.url}" for feed in feeds}
    for rule in rules.values():
        assert rule.feeds is not None
        assert rule.feeds[0] == asyncio.run(topic_id(job, "feeds"))
        assert 2 < rule.feeds[1] <= min(tombstones) < int(again.split("/")[2])
        assert rule.fetches is not None
        assert rule.fetches.before == (1, 0, 0, 0, 0, 0)


def test_a_password_in_the_address_of_a_feed_is_not_copied(
    job: Settings, publish: Publish, run: Run, read_all: ReadAll
) -> None:
    """A feed of an earlier release with a password in its address is removed without a rule."""
    feed = Feed(site="example.org", url="https://u:secret@example.org/feed")
    place = partition_of(b"example.org", PARTITIONS)
    publish(Sent("feeds", feed.key, feed.encode(), (), place))
    assert run("feeds", "remove", "--site", "example.org", "--yes").exit_code == 0
    assert [record.value for record in read_all("feeds")][1:] == [None]
    assert rules_of(job) == {}


def test_an_addition_between_the_removal_and_the_tombstone_is_covered(
    job: Settings, publish: Publish, run: Run, read_all: ReadAll, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If somebody adds the feed while it is removed, the removal covers this addition, too."""
    from agents.commands.feeds import followed  # noqa: PLC0415 - only this test replaces a part

    feed = Feed(site="example.org", url=FEED)
    place = partition_of(b"example.org", PARTITIONS)
    added = Sent("feeds", feed.key, feed.encode(), (), place)
    publish(added)
    send = followed._send

    async def late(settings: Settings, records: Any) -> Any:
        await asyncio.to_thread(publish, added)
        return await send(settings, records)

    monkeypatch.setattr(followed, "_send", late)
    assert run("feeds", "remove", FEED).exit_code == 0
    (tombstone,) = (record.offset for record in read_all("feeds") if record.value is None)
    (rule,) = rules_of(job).values()
    assert rule.key == RuleKey.parse(f"remove feed example.org {FEED}")
    assert rule.feeds is not None
    assert rule.feeds[1] == tombstone == 2
