"""A forgotten page that is read again is not published again, but a page published anew is."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from aiokafka import TopicPartition
from aiokafka.admin.records_to_delete import RecordsToDelete

from agents.commands.audit.command import account
from agents.commands.forget import forget, resolve
from agents.commands.reset import plan, reset
from agents.commands.state.dump import SOURCES, dump
from agents.commands.state.file import DumpReader, DumpRecord
from agents.commands.state.forgotten import without_forgotten
from agents.commands.state.restore import restore
from agents.commands.topics import apply
from agents.forgetting import changelog
from agents.kafka.client import admin
from agents.kafka.partitions import partition_of
from agents.settings.job import Settings
from models import clean_text, raw_html
from models.command import Forget, Marker
from models.dead_letter import DeadLetter, Record
from models.headers.names import COMMAND, ORIGIN
from tests.agents.limits import GUARD
from tests.agents.records import PARTITIONS, Publish, ReadAll, Run, Sent
from tests.agents.test_metrics import metric
from tests.agents.workers import BOTH, PATIENCE, started, work
from urltree.page import Page, Reason

PLACE = partition_of(b"example.org", PARTITIONS)


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """Return settings of workers with their own data directory."""
    return settings.model_copy(update={"data_dir": tmp_path, "commit_seconds": 0.3})


def page(path: str, host: str = "example.org", **changes: Any) -> Sent:
    """Return the record of a page with its host as the key."""
    url = f"https://www.{host}/{path}"
    value = raw_html.encode(Page(url=url, html=f"<p>Text of {path}</p><p>Imprint</p>"))
    return Sent("raw-html", host.encode(), value)._replace(**changes)


def forget_while_running(job: Settings, target: str) -> None:
    """Run `forget` for a page or domain while workers run."""

    async def scenario() -> None:
        async with started(job, *BOTH):
            done = await forget(job, await resolve(job, target), wait=PATIENCE)
            assert done.answered

    asyncio.run(scenario())


def reset_both(job: Settings) -> None:
    """Reset `extract` and `normalize`, so that both read their input again."""
    for stage in ("extract", "normalize"):
        asyncio.run(reset(job, asyncio.run(plan(job, stage))))


def since(before: Iterable[Any], now: Iterable[Any]) -> list[Any]:
    """Return the records that were added; records of several partitions have no common order."""
    places = {(record.partition, record.offset) for record in before}
    return [record for record in now if (record.partition, record.offset) not in places]


def urls(records: list[Any]) -> list[str]:
    """Return the URLs (without https://www.) of clean texts, without tombstones, in order."""
    texts = [clean_text.decode(record.value) for record in records if record.value is not None]
    return sorted(text["url"].removeprefix("https://www.") for text in texts)


@pytest.mark.kafka
def test_after_a_reset_nothing_of_a_forgotten_domain_is_published(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """After a reset, the pages before the command are read again, but none of them is published.

    This includes a page with a wrong key and a record that is not a page. A page that was published
    anew, in whichever partition, is processed. The audit counts every page.
    """
    elsewhere = (PLACE + 1) % PARTITIONS
    publish(page("a"), page("b"), page("a", "other.net"), page("w", key=None, partition=elsewhere))
    publish(page("invalid", value=b"<p>Text of invalid"))
    work(job)
    assert len(urls(read_all("clean-text"))) == 4
    forget_while_running(job, "example.org")
    publish(page("a"), page("v", key=None, partition=elsewhere))
    work(job)
    texts, letters = read_all("clean-text"), len(read_all("dead-letters"))
    reset_both(job)
    stages = work(job)
    again = since(texts, read_all("clean-text"))
    assert set(urls(again)) == {"other.net/a", "example.org/a", "example.org/v"}
    assert len(read_all("dead-letters")) == letters == 1
    # `normalize` reads the page with the wrong key three times: it has sent it again twice.
    assert [metric(stage, "forgotten_total") for stage in stages] == [5, 3]
    accounts = asyncio.run(account(job))
    assert (accounts.origins, accounts.missing) == (7, 0)
    for stage in SOURCES:
        if stage in ("normalize", "extract"):
            assert len({record.key for record in read_all(changelog(stage))}) == 1


@pytest.mark.kafka
def test_a_dead_letter_of_a_forgotten_page_is_not_published(
    job: Settings, publish: Publish, read_all: ReadAll, run: Run
) -> None:
    """A replayed dead letter of a forgotten page becomes no text and no dead letter.

    The dead letter of another page of the domain is processed.
    """
    first = publish(page("a"), page("b"))
    work(job)
    (document, _) = read_all("documents")
    forget_while_running(job, "https://www.example.org/a")
    for origin, sent, stage in (
        (first[0], page("a"), "normalize"),
        (first[0], Sent("documents", document.key, document.value), "extract"),
        (first[0], page("a", value=page("a").value[:-1]), "normalize"),
        (first[1], page("c"), "normalize"),
    ):
        topic = job.topic(sent.topic)
        letter = DeadLetter(
            origin, stage, Reason.INTERNAL, "m", topic, Record(sent.key, sent.value, ())
        ).to_record()
        publish(Sent("dead-letters", letter.key, letter.value, letter.headers))
        result = run("dead-letters", "replay", "--yes", origin)
        assert result.exit_code == 0, result.output
    texts, letters = read_all("clean-text"), len(read_all("dead-letters"))
    work(job)
    assert urls(since(texts, read_all("clean-text"))) == ["example.org/c"]
    # The record that is not a page could be of any page of the domain, so it is kept.
    assert len(read_all("dead-letters")) == letters + 1


@pytest.mark.thorough
@pytest.mark.kafka
def test_a_dump_from_before_the_command_does_not_bring_a_page_back(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """A dump that is older than the command is restored without the rows of the forgotten page.

    The 20th document of the domain has its first pages published again, but not the forgotten one.
    """
    publish(*[page(f"{number}") for number in range(19)])
    work(job)
    out = io.BytesIO()
    asyncio.run(dump(job, out))
    forget_while_running(job, "https://www.example.org/7")
    reset_both(job)
    reader = DumpReader(io.BytesIO(out.getvalue()))
    asyncio.run(restore(job, reader, ("normalize", "extract"), repartition=False))
    texts = read_all("clean-text")
    # Retention has removed the page and the command; only the dump and the markers are left.
    for topic in ("raw-html", "documents"):
        asyncio.run(truncate(job, topic))
    publish(page("20"), page("21"), page("22"))
    work(job)
    again = urls(since(texts, read_all("clean-text")))
    assert "example.org/20" in again
    assert "example.org/7" not in again
    publish(page("7"))
    work(job)
    assert urls(since(texts, read_all("clean-text"))).count("example.org/7") == 1


async def truncate(job: Settings, topic: str) -> None:
    """Delete all records of a topic, as Kafka's retention does."""
    async with admin(job) as client:
        name = job.topic(topic)
        places = {TopicPartition(name, p): RecordsToDelete(-1) for p in range(PARTITIONS)}
        await client.delete_records(places)


@pytest.mark.kafka
@pytest.mark.thorough
def test_a_new_topic_raw_html_begins_without_forgotten_pages(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """If raw-html is deleted and created anew, its first pages are not taken for forgotten ones."""
    publish(page("a"), page("b"))
    work(job)
    forget_while_running(job, "example.org")

    async def create_anew() -> None:
        async with admin(job) as client:
            await client.delete_topics([job.topic("raw-html")])
            async with asyncio.timeout(GUARD):
                while job.topic("raw-html") in await client.list_topics():  # noqa: ASYNC110
                    await asyncio.sleep(0.1)

    asyncio.run(create_anew())
    asyncio.run(apply(job))
    texts = read_all("clean-text")
    publish(page("a"))
    work(job)
    assert urls(since(texts, read_all("clean-text"))) == ["example.org/a"]


@pytest.mark.kafka
@pytest.mark.thorough
def test_a_command_of_the_release_before_is_carried_out(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """A command without offsets deletes rows and clean text, and no marker is stored for it."""
    publish(page("a"))
    work(job)
    command = b'{"schema":1,"domain":"example.org"}'
    publish(Sent("raw-html", b"example.org", command, [(COMMAND, b"forget")]))
    work(job)
    assert {record.key: record.value for record in read_all("clean-text")}.popitem()[1] is None
    assert read_all(changelog("normalize")) == read_all(changelog("extract")) == []
    accounts = asyncio.run(account(job))
    assert accounts.missing == 0


def waiting(offset: int, **changes: Any) -> DumpRecord:
    """Return a page of a dump that waits in raw-html."""
    sent = page("a")
    record = DumpRecord("raw-html", 0, offset, 0, sent.key, sent.value, ())
    return record._replace(**changes)


def test_a_restore_elsewhere_leaves_out_forgotten_pages_that_wait(prefix: str) -> None:
    """On another cluster, waiting pages before the command are not restored, nor are markers."""
    marker = Marker("f" * 32, (5,), 5).encode()
    rows = [
        DumpRecord(changelog(stage), 0, 1, 0, b"example.org\0", marker, ())
        for stage in ("normalize", "extract")
    ]
    command = waiting(4, value=Forget("example.org").encode(), headers=((COMMAND, b"forget"),))
    left = [
        command,
        waiting(5),
        waiting(3, key=b"other.net", value=page("a", "other.net").value),
        waiting(9, headers=((ORIGIN, b"b-raw-html/0/7"),)),
        waiting(2, topic="documents"),
    ]
    gone = [
        waiting(4),
        waiting(9, headers=((ORIGIN, b"b-raw-html/0/4"),)),
        waiting(3, value=b"invalid"),
    ]
    settings = Settings.model_validate({"prefix": prefix})
    assert list(without_forgotten(settings, "b-", [*rows, *gone, *left])) == left


def test_the_bytes_of_a_marker_are_pinned() -> None:
    """Markers outlive every release, so their bytes do not change."""
    stored = b'{"schema":1,"topic":"' + b"ab" * 16 + b'","before":[7,0,12],"at":9}'
    marker = Marker("ab" * 16, (7, 0, 12), 9)
    assert marker.encode() == stored
    assert Marker.decode(stored) == marker
    unknown = Marker(None, (), 0)
    assert Marker.decode(unknown.encode()) == unknown


@pytest.mark.parametrize(
    ("origin", "offset", "covered"),
    [
        ("raw-html/0/6", 90, True),
        ("raw-html/0/7", 90, False),
        ("raw-html/2/11", None, True),
        ("raw-html/3/0", 90, False),
        ("old-raw-html/0/3", 8, True),
        ("old-raw-html/0/3", 9, False),
        ("old-raw-html/0/3", None, False),
        ("nonsense", None, False),
    ],
)
def test_a_marker_covers_what_was_published_before(
    origin: str, offset: int | None, *, covered: bool
) -> None:
    """Offsets of raw-html decide; a page of another topic is judged by the offset of its record."""
    marker = Marker(None, (7, 0, 12), 9)
    assert marker.covers("raw-html", origin, offset) is covered


def test_two_commands_for_one_page_are_one_marker() -> None:
    """A marker covers what former commands covered, unless raw-html was created anew since."""
    first, second = Marker("a" * 32, (7, 0, 12), 9), Marker("a" * 32, (3, 8), 4)
    assert second.joined(first) == Marker("a" * 32, (7, 8, 12), 9)
    assert second.joined(None) == second
    anew = Marker("b" * 32, (1,), 1)
    assert anew.joined(first) == anew
