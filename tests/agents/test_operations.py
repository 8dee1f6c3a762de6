"""The commands in the runbook docs/operations.md have the effect that it describes."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiokafka.admin import NewPartitions
from aiokafka.admin.client import AIOKafkaAdminClient

from agents.commands.audit.command import account
from agents.commands.topics import apply, check_topics, find_differences
from agents.kafka.client import admin
from agents.kafka.groups import committed_offsets
from agents.kafka.partitions import partition_of
from agents.normalize import Normalize
from agents.rules.watcher import RulesWatcher
from agents.settings.job import Settings, SettingsError
from agents.settings.topics_file import declared_topics
from models.crawl import fetch as fetches
from models.crawl.feed import Feed
from models.crawl.fetch import FetchRequest
from models.dead_letter import DeadLetter
from models.dead_letter import Record as LetterRecord
from tests.agents.learned import SITES, TABLES, Rows, declare, page, pages, rows, send, values
from tests.agents.records import PARTITIONS, Publish, Run, Sent
from tests.agents.runbook import Runbook, ours
from tests.agents.workers import BOTH, idle, started, until, work
from tests.agents.workers import run as run_scenario
from tests.conftest import Record
from tests.job.state import partition_on_disk
from urltree.crawl.decisions.rules.rules import Denied, Removed

pytestmark = pytest.mark.kafka

Change = Callable[[AIOKafkaAdminClient], Awaitable[object]]


@pytest.fixture
def settings(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Return settings with a new data directory, which both workers and commands use."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")  # wide enough for every name
    monkeypatch.setenv("URLTREE_DATA_DIR", str(tmp_path / "disk"))
    return settings.model_copy(update={"data_dir": tmp_path / "disk", "commit_seconds": 0.3})


@pytest.fixture
def book(job: Settings, run: Run, tmp_path: Path) -> Runbook:
    """Return the runbook; the second job in its examples gets a prefix of this test."""
    return Runbook(run, tmp_path, {"b-": f"{job.prefix}b-"})


def beside(job: Settings, **changes: object) -> Settings:
    """Return the settings of the second job in the runbook, with its own data directory."""
    disk = job.data_dir.with_name("other")
    return job.model_copy(update={"prefix": f"{job.prefix}b-", "data_dir": disk, **changes})


def behind_the_back(job: Settings, change: Change) -> None:
    """Change topics without the job's commands, and wait until the brokers report the change."""

    async def changed() -> None:
        async with admin(job) as client:
            await change(client)
            while not await find_differences(client, declared_topics(job)):  # noqa: ASYNC110 - no event exists
                await asyncio.sleep(0.1)

    asyncio.run(changed())


def lose(job: Settings, topic: str) -> None:
    """Delete a topic of the job."""
    behind_the_back(job, lambda client: client.delete_topics([job.topic(topic)]))


def on_disk(job: Settings) -> Rows:
    """Return the rows of every table in the data directory of this job."""
    return {
        (name, key): value
        for name in TABLES
        for partition in range(PARTITIONS)
        for key, value in partition_on_disk(job.data_dir, name.split("-")[1], partition).items()
    }


def missing(job: Settings) -> int:
    """Return the number of pages that the audit counts as missing."""
    return asyncio.run(account(job)).missing


def test_a_lost_table_is_restored_from_a_dump(
    job: Settings, publish: Publish, book: Runbook, record: Record
) -> None:
    """A lost table is restored from a dump; pages that arrived after the dump are read again.

    The data directories of both stages are deleted too. The rows of `normalize` need no extra step.
    """
    kinds = (False, True)  # commands without and with kubectl

    async def back_up() -> None:
        async with started(job, *BOTH) as stages:
            await asyncio.to_thread(publish, *pages(1, 2))
            await idle(stages)
            await asyncio.to_thread(publish, *pages(3))
            for kind in kinds:
                await asyncio.to_thread(book.type, "Back up", on_kubernetes=kind)
            await asyncio.to_thread(publish, *pages(4))
            await idle(stages)

    asyncio.run(back_up())
    before = rows(job)
    lose(job, "urltree-extract-rows-changelog")
    shutil.rmtree(job.data_dir)
    for kind in kinds:
        book.type("Restore a table", on_kubernetes=kind)
    work(job)
    assert on_disk(job) == rows(job) == before
    assert missing(job) == 0
    record(f"runbook: a lost changelog, {len(before)} rows as before, 0 pages missing")


def test_lost_documents_and_texts_are_made_again(job: Settings, publish: Publish, run: Run) -> None:
    """A reset of `normalize` restores lost documents, even those that `extract` has not read.

    A reset of `extract` and then of `normalize` restores lost clean text.
    """
    publish(*pages(1))
    work(job)
    publish(*pages(2))
    work(job, Normalize)
    for lost, stages in (("documents", ["normalize"]), ("clean-text", ["extract", "normalize"])):
        lose(job, lost)
        assert run("topics", "apply").exit_code == 0
        for stage in stages:
            assert run("reset", stage, "--yes").exit_code == 0
        work(job)
        assert missing(job) == 0
        assert len({text["id"] for text in values(job, "clean-text")}) == 2 * len(SITES)


def test_a_lost_input_is_read_from_its_beginning(job: Settings, publish: Publish) -> None:
    """Deleting a topic deletes its committed offsets, so a new topic is read from its beginning."""
    publish(*pages(1))
    work(job, Normalize)
    assert asyncio.run(committed_offsets(job, "normalize", "raw-html"))
    lose(job, "raw-html")
    asyncio.run(apply(job))
    assert asyncio.run(committed_offsets(job, "normalize", "raw-html")) == {}


def test_a_lost_cluster_is_restored_from_a_dump(
    job: Settings, publish: Publish, book: Runbook, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dump restores the rows on another cluster, and pages that waited are processed there.

    Pages that are published again are duplicates.
    """
    known = pages(1, 2)
    publish(*known)
    work(job)
    before = rows(job)
    publish(*pages(3))
    book.type("Back up")
    other = beside(job)
    monkeypatch.setenv("URLTREE_PREFIX", other.prefix)
    book.type("Restore a cluster")
    assert rows(other) == before
    send(other, [*known, *pages(4)])
    work(other)
    found = asyncio.run(account(other))
    assert sum(found.duplicates.values()) == len(known)
    assert (found.clean_text, found.missing) == (len(SITES), 0)
    assert len(values(other, "clean-text")) == 2 * len(SITES)
    assert before.items() <= rows(other).items()
    record(
        f"runbook: a lost cluster, {len(before)} rows as before, {len(SITES)} pages that "
        f"waited done, {len(known)} of {len(known)} published again are duplicates"
    )


def test_a_job_moves_to_more_partitions(
    job: Settings, publish: Publish, book: Runbook, tmp_path: Path, record: Record
) -> None:
    """A job moves to topics with 12 partitions, even after an operator has added a partition.

    No worker starts with such topics. Workers that already run continue: they send records of the
    new partition to the partition of their domain. The test starts workers without this check.
    """
    name, known = job.topic("raw-html"), pages(1, 2)
    behind_the_back(job, lambda client: client.create_partitions({name: NewPartitions(7)}))
    assert asyncio.run(check_topics(job)) == [f"{name}: partitions should be 6, but is 7"]
    publish(*known[1:], known[0]._replace(partition=6))
    work(job)
    before, ids = rows(job), {text["id"] for text in values(job, "clean-text")}
    assert len(ids) == len(known)
    more = declare(job, 12, tmp_path / "topics-12.yaml")
    first, audit, dump, restore = ours("Repartition")
    assert book.typed(first).exit_code == book.typed(audit).exit_code == 0
    publish(page(SITES[0], 3)._replace(partition=6))
    assert book.typed(dump).exit_code == 0
    with pytest.raises(
        SettingsError, match="has 6 partitions, but the topics have 12; pass --repart"
    ):
        book.typed(restore.removesuffix(" --repartition"))
    assert book.typed(restore).exit_code == 0
    other = beside(job, topics_file=more)
    assert rows(other) == before
    send(other, [*known, *pages(4)])
    work(other)
    found = asyncio.run(account(other))
    assert (found.clean_text, found.missing) == (len(SITES), 0)
    assert {duplicate["id"] for duplicate in values(other, "duplicates")} == ids
    assert len(values(other, "clean-text")) == len(SITES) + 1
    record(
        f"runbook: 6 to 12 partitions, {len(before)} rows as before, {len(ids)} of "
        f"{len(known)} known pages are duplicates under their ids, 0 missing"
    )


def test_dead_letters_are_found_and_replayed(
    job: Settings, publish: Publish, book: Runbook
) -> None:
    """The runbook's commands find the dead letter of an invalid record and replay it."""
    origin, _ = publish(Sent("raw-html", b"example.org", b"{"), *pages(1)[:1])
    work(job)
    book = Runbook(book._run, Path.cwd(), {"raw-html/3/1042": origin, "too-large": "malformed"})
    listed = book.typed("python -m agents dead-letters list --reason malformed")
    assert origin in listed.stdout
    shown = book.typed("python -m agents dead-letters show raw-html/3/1042")
    assert "malformed" in shown.stdout
    replayed = book.typed("python -m agents dead-letters replay --reason too-large --rate 50")
    assert (replayed.exit_code, "1" in replayed.stdout) == (0, True)
    assert book.typed("python -m agents dead-letters replay raw-html/3/1042 --yes").exit_code == 0
    work(job)
    assert [letter["origin"] for letter in letters(book)] == [origin]


def letters(book: Runbook) -> list[Any]:
    """Return the last dead letters, as `dead-letters list` prints them."""
    found = book._run("dead-letters", "list", "--json").stdout
    last: list[Any] = orjson.loads(found)["last"]
    return last


def test_a_page_and_a_domain_are_forgotten_where_a_page_comes_through(
    job: Settings, publish: Publish, book: Runbook
) -> None:
    """The commands after an upgrade succeed, and `forget` deletes the rows of a page and a domain.

    All other rows remain.
    """

    async def scenario() -> None:
        async with started(job, *BOTH) as stages:
            await asyncio.to_thread(publish, page("example.org", "news/1"), page(SITES[0], 1))
            await idle(stages)
            await asyncio.to_thread(book.type, "Upgrade")
            await asyncio.to_thread(book.type, "Forget a page or a domain")

    asyncio.run(scenario())
    assert {key.partition(b"\0")[0] for _, key in rows(job)} == {SITES[0].encode()}


def test_when_an_owner_complains_the_commands_stop_all_requests(
    job: Settings, publish: Publish, book: Runbook
) -> None:
    """After the first command, workers that know the rules send nothing to the domain.

    After the next ones, its feeds and its queue are gone; the last ones allow requests again.
    """
    feed = Feed(site="example.org", url="https://example.org/feed")
    at = partition_of(b"example.org", PARTITIONS)
    wanted = FetchRequest(url="https://a.example.org/1", feed=feed.url)
    first = publish(
        Sent("fetches", b"example.org", fetches.encode(wanted)),
        Sent("feeds", feed.key, feed.encode(), (), at),
        page("example.org", "news/1"),
    )[0]
    asked = ("https://example.org/robots.txt", wanted.url, "http://b.example.org:81/")

    async def scenario() -> None:
        failures: list[BaseException] = []
        watcher = RulesWatcher(job, failures.append)
        await watcher.start()
        add, check, listed, remove, count, purge, forget, rules, end = ours("An owner complains")

        async def typed(*lines: str) -> list[str]:
            found = [await asyncio.to_thread(book.typed, line) for line in lines]
            assert [one.output for one in found if one.exit_code] == []
            return [one.stdout for one in found]

        await typed(add)
        await until(lambda: all(isinstance(watcher.verdict(url), Denied) for url in asked))
        letter = DeadLetter(
            first, "fetch", "denied", "m", "fetches", LetterRecord(b"example.org", b"{}", ())
        )
        await asyncio.to_thread(publish, Sent("dead-letters", *letter.to_record()))
        _, found = await typed(check, listed)
        assert first in found
        _, counted, _ = await typed(remove, count, purge)
        assert counted.startswith("1 waiting pages would be removed")
        async with started(job, *BOTH):
            await typed(forget)
        shown, _ = await typed(rules, end)
        assert "mail of 3 May from the owner" in shown
        assert "1 deny rules, 1 removed feeds, 1 purges" in shown
        await until(lambda: not any(map(watcher.verdict, asked)))
        assert isinstance(watcher.verdict_of_page(wanted, first), Removed)
        await watcher.stop()
        assert failures == []

    run_scenario(scenario())
