"""`audit --fetches` counts each page to fetch as published, refused, waiting or missing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from aiokafka import TopicPartition
from aiokafka.structs import OffsetAndMetadata

from agents.commands.audit.command import account
from agents.commands.audit.fetches import FetchAccounts, FetchAudit, account_fetches
from agents.kafka.client import consumer
from agents.kafka.partitions import partition_of
from agents.settings.job import Settings
from models import raw_html
from models.crawl import fetch, unchanged
from models.crawl.fetch import FetchRequest
from models.crawl.unchanged import Unchanged
from models.dead_letter import DeadLetter, Record
from models.headers.names import FETCHED_FOR, ORIGIN
from tests.agents.records import PARTITIONS, Publish, Run, Sent
from tests.agents.workers import PATIENCE, until
from urltree.page import Page, Reason

pytestmark = pytest.mark.kafka

URL = "https://example.org/a"
HERE = partition_of(b"example.org", PARTITIONS)
THERE = (HERE + 1) % PARTITIONS

Commit = Callable[[int], None]


@pytest.fixture
def commit(job: Settings) -> Commit:
    """Return a function that commits the same offset in all partitions for the group of `fetch`."""

    async def send(offset: int) -> None:
        topic = job.topic("fetches")
        at = {TopicPartition(topic, p): OffsetAndMetadata(offset, "") for p in range(PARTITIONS)}
        async with consumer(job, group_id=job.topic("urltree-fetch")) as client:
            client.assign(list(at))
            await client.commit(at)

    return lambda offset: asyncio.run(send(offset))


def wanted(**changes: Any) -> Sent:
    """Return the record of a page to fetch, in the partition of example.org."""
    record = Sent("fetches", b"example.org", fetch.encode(FetchRequest(url=URL)), partition=HERE)
    return record._replace(**changes)


def again(origin: str, partition: int = HERE) -> Sent:
    """Return the record that a worker sends again: a copy with this origin in a header."""
    return wanted(headers=[(ORIGIN, origin.encode())], partition=partition)


def page(origin: str) -> Sent:
    """Return the record of the page that was fetched for this origin."""
    value = raw_html.encode(Page(url=URL, html="<p>Hello"))
    return Sent("raw-html", b"example.org", value, [(FETCHED_FOR, origin.encode())])


def dead(origin: str, reason: str = "robots") -> Sent:
    """Return the dead letter of the page to fetch with this origin."""
    letter = DeadLetter(origin, "fetch", reason, "m", "fetches", Record(None, b"{}", ()))
    return Sent("dead-letters", *letter.to_record())


def test_every_page_is_counted_by_what_became_of_it(
    publish: Publish, run: Run, commit: Commit
) -> None:
    """A page is missing if its record was committed and has neither a page nor a dead letter."""
    a, b, c = publish(wanted(), wanted(), wanted())
    publish(page(a), page(a), dead(b))
    commit(3)
    result = run("audit", "--fetches", "--json")
    assert result.exit_code == 1
    assert orjson.loads(result.stdout) == {
        "origins": 3,
        "pages": 1,
        "unchanged": 0,
        "dead_letters": {"robots": 1},
        "waiting": 0,
        "held": 0,
        "missing": 1,
        "first_missing": [c],
        "expired": 0,
        "left": 0,
    }
    assert f"1 missing:\n{'':9} {c}" in run("audit", "--fetches").stdout
    publish(page(c))
    assert run("audit", "--fetches").exit_code == 0


def test_what_is_not_committed_waits(job: Settings, publish: Publish, commit: Commit) -> None:
    """A page whose record is not committed is waiting, even if no worker has committed yet."""
    _, second, _ = publish(wanted(), wanted(), wanted())
    publish(page(second))
    assert asyncio.run(account_fetches(job)) == FetchAccounts(origins=3, pages=1, waiting=2)
    commit(1)
    accounts = asyncio.run(account_fetches(job))
    assert (accounts.waiting, accounts.missing) == (1, 1)


def test_a_page_waits_wherever_its_newest_copy_lies(
    job: Settings, publish: Publish, commit: Commit
) -> None:
    """A page is waiting until the newest copy of its record, in any partition, is committed."""
    a, b, c = publish(wanted(), wanted(), wanted())
    publish(again(a), again(b, THERE), again(c), again(c, THERE))
    commit(1)
    assert asyncio.run(account_fetches(job)) == FetchAccounts(origins=3, waiting=3)
    commit(3)
    found = asyncio.run(account_fetches(job))
    assert (found.waiting, found.first_missing) == (2, (b,))
    commit(5)
    assert asyncio.run(account_fetches(job)).missing == 3


def test_a_dead_letter_that_was_replayed_counts_as_its_page(
    job: Settings, publish: Publish, commit: Commit
) -> None:
    """A page with both a dead letter and a fetched page counts as fetched, in any order."""
    (origin,) = publish(wanted())
    publish(dead(origin), again(origin), page(origin), dead(origin))
    commit(2)
    assert asyncio.run(account_fetches(job)) == FetchAccounts(origins=1, pages=1)


def test_a_range_is_audited_alone_with_copies_from_anywhere(
    publish: Publish, run: Run, commit: Commit
) -> None:
    """If only a range is audited, a copy outside the range can still show that a page waits."""
    origins = publish(wanted(), wanted(), wanted(partition=THERE))
    publish(again(origins[1], THERE))
    commit(1)
    options = ("--partition", str(HERE), "--from", "1", "--to", "2", "--json")
    found = orjson.loads(run("audit", "--fetches", *options).stdout)
    assert (found["origins"], found["waiting"]) == (1, 1)


def test_waiting_ends_as_soon_as_all_are_settled(
    job: Settings, publish: Publish, commit: Commit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`account_fetches` waits until all pages that it read first are published or refused.

    Until then, some of these pages may be missing. Pages that arrive later are not counted.
    """
    kept, lost = publish(wanted(), wanted())
    looks: list[FetchAccounts] = []
    update = FetchAudit.update

    async def noted(audit: FetchAudit, *, grow: bool = True) -> FetchAccounts:
        looks.append(await update(audit, grow=grow))
        return looks[-1]

    async def both() -> FetchAccounts:
        looking = asyncio.create_task(account_fetches(job, wait=PATIENCE))
        await until(lambda: looks[:1] == [FetchAccounts(origins=2, waiting=2)])
        await asyncio.to_thread(publish, page(kept), wanted())
        await asyncio.to_thread(commit, 2)
        is_lost = FetchAccounts(origins=2, pages=1, missing=1, first_missing=(lost,))
        await until(lambda: looks[-1] == is_lost)
        await asyncio.to_thread(publish, page(lost))
        return await looking

    monkeypatch.setattr(FetchAudit, "update", noted)
    assert asyncio.run(both()) == FetchAccounts(origins=2, pages=2)


def test_neither_audit_counts_what_belongs_to_the_other(
    job: Settings, publish: Publish, commit: Commit
) -> None:
    """A dead letter counts only in the audit of the topic that its origin names.

    The records of both topics here have equal partitions and offsets on purpose.
    """
    (wish,) = publish(wanted())
    (came,) = publish(page(wish))
    assert wish.split("/")[1:] == came.split("/")[1:]
    publish(dead(wish, "unreachable"), dead(f"{job.prefix}poll-outcomes/{HERE}/0", "malformed"))
    commit(1)
    pages = asyncio.run(account(job))
    assert (pages.origins, pages.missing, pages.dead_letters) == (1, 1, {})
    assert asyncio.run(account_fetches(job)).dead_letters == {}
    publish(dead(came, "empty"))
    assert asyncio.run(account(job)).dead_letters == {"empty": 1}
    assert asyncio.run(account_fetches(job)) == FetchAccounts(origins=1, pages=1)


def test_every_way_to_end_is_accounted_for(publish: Publish, run: Run, commit: Commit) -> None:
    """Unchanged, denied, removed and reserved pages are settled, and none of them is missing.

    A page that was unchanged when it was asked for again is no page of raw-html. Its dead letter,
    if a replay came before, does not count.
    """
    origins = publish(*(wanted() for _ in range(5)))
    settled = [
        Sent(
            "unchanged",
            origin.encode(),
            unchanged.encode(Unchanged(url=URL, origin=origin, at="2026-05-03T10:00:00Z")),
        )
        for origin in origins[:2]
    ]
    reasons = (Reason.DENIED, Reason.REMOVED, Reason.RESERVED)
    publish(*settled, dead(origins[1], "unreachable"), Sent("unchanged", b"x", b"{}"))
    publish(*map(dead, origins[2:], reasons))
    commit(5)
    result = run("audit", "--fetches", "--json")
    found = orjson.loads(result.stdout)
    assert (result.exit_code, found["missing"], found["waiting"]) == (0, 0, 0)
    assert (found["origins"], found["unchanged"], found["pages"]) == (5, 2, 0)
    assert found["dead_letters"] == {"denied": 1, "removed": 1, "reserved": 1}
    assert "2 unchanged since the last visit" in run("audit", "--fetches").stdout


def test_pages_that_may_be_walls_are_counted_among_the_waiting(
    publish: Publish, run: Run, commit: Commit
) -> None:
    """A page whose newest copy is held waits; a page that was released before does not count."""
    held, released, other = publish(wanted(), wanted(), wanted())
    value = fetch.encode(FetchRequest(url=URL, held_since=1.0))
    publish(again(held)._replace(value=value), again(released)._replace(value=value))
    publish(again(released))
    commit(3)
    found = orjson.loads(run("audit", "--fetches", "--json").stdout)
    assert (found["waiting"], found["held"], found["first_missing"]) == (2, 1, [other])
    assert "2 waiting, 1 of them because they may be walls" in run("audit", "--fetches").stdout
