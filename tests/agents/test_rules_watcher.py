"""A worker knows every rule before its first request, and follows the rules from then on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic

import pytest
from aiokafka.errors import KafkaConnectionError, TopicAuthorizationFailedError

from agents.commands.topics import apply
from agents.kafka.client import admin, consumer, partitions
from agents.kafka.partitions import partition_of
from agents.rules.topic import ends_of, read_rules, write_rules
from agents.rules.watcher import MAX_AGE, RulesWatcher
from agents.settings.job import Settings, SettingsError
from agents.telemetry.metrics import Metrics
from models.crawl.fetch import FetchRequest
from tests.agents.records import PARTITIONS, Publish, Sent
from tests.agents.transactional import send, transactional
from tests.agents.workers import run, until
from tests.conftest import Record
from urltree.crawl.decisions.rules.rule import CrawlRule, RuleKey
from urltree.crawl.decisions.rules.rules import Denied, Removed, WaitingPage

pytestmark = pytest.mark.kafka

DENY = "deny domain example.org"
URL = "https://www.example.org/a"
NO_RULES = (b"deny it", b"\xff", b"purge all -")


class Clock:
    """A clock that a test moves on, as a suspended worker sees it."""

    def __init__(self) -> None:
        self.skipped = 0.0

    def __call__(self) -> float:
        """Return the time in seconds."""
        return monotonic() + self.skipped


@asynccontextmanager
async def watching(
    job: Settings, metrics: Metrics | None = None, clock: Clock | None = None
) -> AsyncIterator[tuple[RulesWatcher, list[int]]]:
    """Run a watcher; yield it with the number of rules at each change."""
    failures: list[BaseException] = []
    changes: list[int] = []
    watcher = RulesWatcher(
        job,
        failures.append,
        metrics or Metrics(),
        lambda: changes.append(len(watcher.rules)),
        clock or Clock(),
    )
    await watcher.start()
    try:
        yield watcher, changes
    finally:
        await watcher.stop()
    assert failures == []


async def write(job: Settings, *texts: str, ended: tuple[str, ...] = ()) -> None:
    """Write rules, as the commands do."""
    ends = await ends_of(job, "fetches")
    rules = [CrawlRule(RuleKey.parse(text), fetches=ends) for text in texts]
    known = await read_rules(job)
    await write_rules(job, known, rules, [RuleKey.parse(text) for text in ended])


def test_all_rules_are_known_when_the_start_returns(job: Settings, publish: Publish) -> None:
    """The first verdict follows every rule of every partition; ended rules are not in force."""
    names = [f"deny host h{number}.example.org" for number in range(50)]
    values = [b"{}", None, b'{"schema":1}']
    publish(*(Sent("rules", name.encode(), value) for value in values[:2] for name in names))
    publish(*(Sent("rules", name.encode(), values[2]) for name in names[10:]))

    async def scenario() -> None:
        async with watching(job) as (watcher, _):
            assert watcher.is_current()
            denied = [watcher.verdict(f"http://h{n}.example.org/robots.txt") for n in range(50)]
            assert [n for n, verdict in enumerate(denied) if verdict is None] == list(range(10))
        assert not watcher.is_current()

    run(scenario())


def test_a_change_is_known_at_once(job: Settings, record: Record) -> None:
    """Workers hear of a rule, and of its end, without being asked; running requests can be ended.

    A change is followed in a fraction of the promised five seconds.
    """
    seconds = []

    async def scenario() -> None:
        async with watching(job) as (watcher, changes):
            for _ in range(5):
                assert watcher.verdict(URL) is None
                await write(job, DENY)
                began = asyncio.get_running_loop().time()
                await until(lambda: isinstance(watcher.verdict(URL), Denied))
                seconds.append(asyncio.get_running_loop().time() - began)
                await write(job, ended=(DENY,))
                await until(lambda: watcher.verdict(URL) is None)
            assert changes == [1, 0] * 5

    run(scenario())
    record(f"rules: known {max(seconds):.2f} s after Kafka confirmed them, at most, 5 times")


def test_no_request_begins_with_old_rules(job: Settings) -> None:
    """A worker that was suspended begins no request before it has asked Kafka again.

    So it knows a rule of the meantime before its next request.
    """
    clock = Clock()

    async def scenario() -> None:
        async with watching(job, clock=clock) as (watcher, _):
            await write(job, DENY)
            clock.skipped += MAX_AGE + 1
            assert not watcher.is_current()
            await asyncio.wait_for(watcher.until_current(), 30)
            assert isinstance(watcher.verdict(URL), Denied)

    run(scenario())


def test_rules_grow_old_while_kafka_does_not_answer(
    job: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without answers of Kafka the rules are not current; the watcher goes on once it answers."""
    clock = Clock()

    async def scenario() -> None:
        async with watching(job, clock=clock) as (watcher, _):
            client = watcher._connected()
            ask = client.end_offsets
            silent, asked = True, 0

            async def no_answer(places: list[object]) -> object:
                nonlocal asked
                asked += 1
                if silent:
                    raise KafkaConnectionError
                return await ask(places)

            monkeypatch.setattr(client, "end_offsets", no_answer)
            clock.skipped += MAX_AGE
            await until(lambda: asked > 1)
            assert not watcher.is_current()
            silent = False
            await asyncio.wait_for(watcher.until_current(), 30)

    run(scenario())


def test_a_record_that_is_no_rule_is_counted_and_ends_no_worker(
    job: Settings, publish: Publish
) -> None:
    """A record that cannot be read is counted and logged; all other rules are in force."""
    metrics = Metrics()
    publish(
        *(
            Sent("rules", key, b'{"schema":1}', (), 0)
            for key in (b"deny it", b"\xff", b"purge all -")
        ),
        Sent("rules", b"deny it", None, (), 0),
        Sent("rules", DENY.encode(), b"not JSON"),
    )

    async def scenario() -> None:
        async with watching(job, metrics) as (watcher, _):
            assert isinstance(watcher.verdict(URL), Denied)
            assert len(watcher.rules) == 1

    run(scenario())
    assert b"urltree_unreadable_rules_total 3.0" in metrics.text()
    assert b"urltree_rules 1.0" in metrics.text()


def test_a_rule_in_a_wrong_partition_ends_with_its_last_record(
    job: Settings, publish: Publish
) -> None:
    """A rule of another program lies in any partition; `write_rules` ends it in all of them."""
    home = partition_of(DENY.encode(), PARTITIONS)
    places = (home, (home + 1) % PARTITIONS)
    publish(*(Sent("rules", DENY.encode(), b'{"schema":1}', (), place) for place in places))
    publish(Sent("rules", DENY.encode(), None, (), home))

    async def scenario() -> None:
        async with watching(job) as (watcher, _):
            assert isinstance(watcher.verdict(URL), Denied)
            await write(job, ended=(DENY,))
            await until(lambda: watcher.verdict(URL) is None)

    run(scenario())


def test_a_purge_covers_the_records_that_were_there(job: Settings, publish: Publish) -> None:
    """A purge covers a page by the place of its first copy, and none that comes later.

    A page that was restored from another prefix is covered by its own place.
    """
    key = b"example.org"
    (first,) = publish(Sent("fetches", key, b"{}"))
    wanted = FetchRequest(url="https://example.net/x", redirects=(URL,))

    async def scenario() -> None:
        async with watching(job) as (watcher, _):
            await write(job, "purge domain example.org")
            (second,) = await asyncio.to_thread(publish, Sent("fetches", key, b"{}"))
            await until(lambda: isinstance(watcher.verdict_of_page(wanted, first), Removed))
            assert watcher.verdict_of_page(wanted, second) is None
            place = (int(first.split("/")[1]), 0)
            for old in ("other-fetches/0/99", "no origin"):
                assert isinstance(watcher.verdict_of_page(wanted, old, place), Removed)
                assert watcher.verdict_of_page(wanted, old, (place[0], 1)) is None
            assert watcher.verdict(URL) is None

    run(scenario())


def test_a_topic_that_was_created_anew_is_read_anew(job: Settings) -> None:
    """If `rules` is deleted and created again, its old rules are not in force any more.

    If `fetches` was, an old purge does not cover the records of the new topic.
    """

    async def anew(*names: str) -> None:
        topics = [job.topic(name) for name in names]
        async with admin(job) as client:
            await client.delete_topics(topics)
            while set(topics) & set(await client.list_topics()):  # noqa: ASYNC110 - no event exists
                await asyncio.sleep(0.05)
        await apply(job)

    async def scenario() -> None:
        page = WaitingPage((0, 0))
        await write(job, DENY, "purge all -")
        await anew("fetches")
        async with watching(job) as (watcher, _):
            assert watcher.verdict("https://example.net/", page) is None
            assert isinstance(watcher.verdict(URL), Denied)
            await anew("rules")
            await until(lambda: watcher.verdict(URL) is None)
            await asyncio.wait_for(watcher.until_current(), 30)
            await write(job, DENY)
            await until(lambda: isinstance(watcher.verdict(URL), Denied))

    run(scenario())


def test_a_lost_right_ends_the_worker(job: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the right to read rules, the worker ends; it does not go on with old rules."""
    failures: list[BaseException] = []

    async def scenario() -> None:
        watcher = RulesWatcher(job, failures.append)
        await watcher.start()

        async def no_right(*_places: object, **_options: object) -> object:
            raise TopicAuthorizationFailedError(job.topic("rules"))

        monkeypatch.setattr(watcher._connected(), "end_offsets", no_right)
        await until(lambda: bool(failures))
        await watcher.stop()

    run(scenario())
    assert isinstance(failures[0], TopicAuthorizationFailedError)


def test_a_worker_does_not_start_without_the_topic(settings: Settings) -> None:
    """If `rules` does not exist, the start fails and names the topic."""
    failures: list[BaseException] = []

    async def scenario() -> None:
        with pytest.raises(SettingsError, match=f"{settings.prefix}rules does not exist"):
            await RulesWatcher(settings, failures.append).start()
        assert failures == []

    run(scenario())


def test_a_rule_that_a_transaction_hides_is_reported(job: Settings) -> None:
    """A rule that workers cannot read yet is an error of the command, not a silent delay."""

    async def scenario() -> None:
        async with transactional(job) as out:
            await out.begin_transaction()
            await send(out, job, [Sent("rules", DENY.encode(), b"{}")])
            with pytest.raises(SettingsError, match="open transaction"):
                await write(job, DENY)
            await out.abort_transaction()

    run(scenario())


def test_removals_end_when_nothing_is_left_of_their_time(
    job: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Removals and purges end after some time by the broker's clock; deny rules remain."""

    async def scenario() -> None:
        await write(job, DENY, "purge all -")
        await write(job, "deny host example.net")
        assert len(list(await read_rules(job))) == 3
        monkeypatch.setattr("agents.rules.topic.KEEP_DAYS", -1)
        await write(job, "purge host example.net")
        assert {str(rule.key) for rule in await read_rules(job)} == {
            DENY,
            "deny host example.net",
            "purge host example.net",
        }

    run(scenario())


def test_there_is_a_limit_of_rules(job: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """More rules than the limit are refused before any is written; a removal is never refused."""
    monkeypatch.setattr("agents.rules.topic.MAX_RULES", 1)

    async def scenario() -> None:
        with pytest.raises(SettingsError, match="2 rules, more than 1"):
            await write(job, DENY, "deny host example.net")
        await write(job, DENY, "remove feed example.org https://example.org/feed")
        async with consumer(job) as client:
            places = await partitions(client, job.topic("rules"))
            assert sum((await client.end_offsets(places)).values()) == 2

    run(scenario())
