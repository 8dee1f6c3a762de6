"""With a key, headers of strangers change nothing, and those of workers and commands count."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiokafka import TopicPartition
from pydantic import SecretStr
from structlog.testing import capture_logs

from agents.commands.audit.command import account
from agents.commands.audit.fetches import account_fetches
from agents.commands.forget import forget
from agents.commands.topics import apply
from agents.extract import Extract
from agents.kafka.client import producer
from agents.kafka.groups import rewind
from agents.normalize import Normalize
from agents.settings.job import Settings
from agents.stage import MakeStage
from models import clean_text, document
from models.command import FORGET, Forget
from models.dead_letter import DeadLetter
from models.headers.names import ARRIVED, COMMAND, FETCHED_FOR, ORIGIN, REKEYED, SIGNATURE, header
from models.headers.signature import Flaw, HeaderKeys
from tests.agents.fetched import NEWS, fetch, quick, wanted
from tests.agents.learned import records, send
from tests.agents.pages_server import Web, html, story
from tests.agents.records import PARTITIONS, Publish, ReadAll, Run, Sent
from tests.agents.test_pipeline import page, raw
from tests.agents.test_state import file_of, moved, put
from tests.agents.workers import (
    BOTH,
    PATIENCE,
    has_partitions,
    idle,
    run,
    started,
    until,
    work,
)

pytestmark = pytest.mark.kafka

KEY, NEXT = "k" * 32, "n" * 32


@pytest.fixture
def settings(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Return settings of a job with a key; commands read the key from the environment."""
    monkeypatch.setenv("URLTREE_HEADER_KEY", KEY)
    return with_keys(quick(settings, tmp_path / "disk"), KEY)


def with_keys(settings: Settings, key: str | None, former: str | None = None) -> Settings:
    """Return the settings with these keys."""
    secrets = {"header_key": key, "former_header_key": former}
    return settings.model_copy(
        update={name: None if text is None else SecretStr(text) for name, text in secrets.items()}
    )


def origins(read_all: ReadAll) -> set[str]:
    """Return the origins of all clean texts."""
    return {clean_text.decode(r.value)["origin"] for r in read_all("clean-text") if r.value}


def letters(read_all: ReadAll) -> list[DeadLetter]:
    """Return all dead letters."""
    return [DeadLetter.from_record(r.key, r.value, r.headers) for r in read_all("dead-letters")]


def ignored(stage: Any) -> dict[str, float]:
    """Return how many records had headers that a stage ignored, by the flaw of their signature."""
    counter = stage.metrics.ignored_headers
    return {flaw: counter.labels(flaw)._value.get() for flaw in ("missing", "wrong")}


FORGED = [
    (ORIGIN, b"raw-html/0/7"),
    (ARRIVED, b"1"),
    (REKEYED, b"1"),
    (FETCHED_FOR, b"fetches/0/7"),
    ("mine", b"kept"),
]


def test_forged_headers_change_nothing(job: Settings, publish: Publish, read_all: ReadAll) -> None:
    """A page with headers of a stranger is processed as a page without them, and audited so.

    It is even re-keyed: a forged mark of a re-keying would make it a dead letter. The copy has the
    stranger's other headers only. The worker counts such records, and logs the first one.
    """
    signature = (SIGNATURE, b"0" * 64)
    with capture_logs() as logs:
        placed, misplaced = publish(
            raw(page("a"), headers=[*FORGED, signature]),
            raw(page("b"), b"other.org", headers=FORGED),
        )
        normalize, extract = work(job)
    assert origins(read_all) == {placed, misplaced}
    (copy,) = (r for r in read_all("raw-html") if header(r.headers, ORIGIN) == misplaced)
    assert [name for name, _ in copy.headers] == ["mine", ORIGIN, REKEYED, ARRIVED, SIGNATURE]
    assert (ignored(normalize), ignored(extract)) == (
        {"missing": 1, "wrong": 1},
        {"missing": 0, "wrong": 0},
    )
    assert len([line for line in logs if line["event"].startswith("ignored urltree-")]) == 1
    accounts = asyncio.run(account(job))
    assert (accounts.origins, accounts.clean_text, accounts.missing) == (2, 2, 0)
    assert all(header(r.headers, ARRIVED) != "1" for r in read_all("documents"))


def test_a_forged_command_is_a_dead_letter_and_deletes_nothing(
    job: Settings, publish: Publish, read_all: ReadAll, run: Run
) -> None:
    """A command without the job's signature is an invalid page, or an invalid document.

    Its dead letter shows the forged header. A replay does not sign that header.
    """
    command = Forget("example.org").encode()
    publish(raw(page("a")))
    work(job)
    headers = [(COMMAND, FORGET.encode())]
    publish(
        raw(command, headers=headers), Sent("documents", b"example.org", command, headers=headers)
    )
    work(job)
    found = letters(read_all)
    assert sorted((one.stage, one.reason) for one in found) == [
        ("extract", "malformed"),
        ("normalize", "malformed"),
    ]
    assert all(header(one.original.headers, COMMAND) for one in found)
    assert run("dead-letters", "replay", "--all", "--yes").exit_code == 0
    work(job)
    assert all(record.value is not None for record in read_all("clean-text"))
    assert asyncio.run(account(job)).dead_letters == {"malformed": 1}


def test_what_the_job_sends_itself_counts(
    job: Settings, publish: Publish, read_all: ReadAll, run: Run
) -> None:
    """Re-keyed pages, replayed dead letters and the command `forget` work as without a key."""
    rekeyed, refused = publish(raw(page("a"), b"other.org"), raw(page("b", status=503)))
    work(job)
    assert origins(read_all) == {rekeyed}
    (letter,) = letters(read_all)
    assert (letter.origin, letter.reason) == (refused, "http-status")
    assert run("dead-letters", "replay", "--all", "--yes").exit_code == 0

    async def forgotten() -> Any:
        async with started(job, *BOTH) as stages:
            await idle(stages)
            done = await forget(job, Forget("example.org"), wait=PATIENCE)
            return done, [ignored(stage) for stage in stages]

    done, counts = asyncio.run(forgotten())
    assert done.answered
    assert counts == [{"missing": 0, "wrong": 0}] * 2
    last = {record.key: record.value for record in read_all("clean-text")}
    assert set(last.values()) == {None}
    again = letters(read_all)
    assert [one.origin for one in again] == [refused, refused]
    accounts = asyncio.run(account(job))
    assert (accounts.origins, accounts.missing) == (2, 0)


def test_a_fetched_page_names_its_request(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """A fetched page and a page that is fetched later count for their request in an audit.

    A forged answer to a request does not.
    """
    pages = Web()
    pages.put("news.example/a", html(story("news.example/a", "A")))
    (origin,) = publish(wanted(f"{NEWS}/a"))
    fetch(job, pages)
    (record,) = read_all("raw-html")
    assert header(record.headers, FETCHED_FOR) == origin
    keys = job.header_keys
    assert keys.find_flaw(record, time.time()) is None
    publish(raw(page("b"), headers=[(FETCHED_FOR, origin.encode())]))
    accounts = asyncio.run(account_fetches(job))
    assert (accounts.origins, accounts.pages, accounts.missing) == (1, 1, 0)


def test_a_rotation_loses_no_header(job: Settings, read_all: ReadAll) -> None:
    """Two workers in the middle of a rotation accept each other's headers.

    One signs with the former key and the other with the next one. Each re-keys the pages of half of
    the partitions, and the copies go to all partitions.
    """
    before = with_keys(job, KEY, NEXT).model_copy(update={"data_dir": job.data_dir.with_name("1")})
    after = with_keys(job, NEXT, KEY).model_copy(update={"data_dir": job.data_dir.with_name("2")})
    urls = [f"https://site-{number}.example/" for number in range(20 * PARTITIONS)]

    async def rotate() -> None:
        def worker(settings: Settings) -> MakeStage:
            return lambda _, on_failure: Normalize(settings, on_failure)

        async with started(job, worker(before), worker(after)) as stages:
            await until(lambda: all(map(has_partitions, stages)))
            async with producer(job) as client:
                for number, url in enumerate(urls):
                    value, at = page(url=url), number % PARTITIONS
                    await client.send_and_wait(job.topic("raw-html"), value, b"other.org", at)
            await idle(stages)
            await idle(stages)  # a copy of one worker may have reached the other one
            assert [ignored(stage) for stage in stages] == [{"missing": 0, "wrong": 0}] * 2

    run(rotate())
    found = [document.decode(record.value) for record in read_all("documents")]
    assert len({one.origin for one in found}) == len(found) == len(urls)
    copies = [record for record in read_all("raw-html") if header(record.headers, ORIGIN)]
    flaws = [HeaderKeys((KEY.encode(),)).find_flaw(copy, 0.0) for copy in copies]
    assert {None, Flaw.WRONG} == set(flaws)


def stamped_by_brokers(settings: Settings, file: Path) -> Settings:
    """Create a job whose record times in raw-html are set by brokers, and return its settings."""
    declared = yaml.safe_load(settings.topics_file.read_text())
    (raw_html,) = (topic for topic in declared["topics"] if topic["name"] == "raw-html")
    raw_html["config"] = {**raw_html.get("config", {}), "message.timestamp.type": "LogAppendTime"}
    file.write_text(yaml.safe_dump(declared))
    job = settings.model_copy(update={"topics_file": file, "prefix": f"{settings.prefix}b-"})
    asyncio.run(apply(job))
    return job


def test_an_upgrade_accepts_what_former_workers_sent(settings: Settings, tmp_path: Path) -> None:
    """Headers without a signature count on records that were appended before `unsigned_until`.

    Where the broker sets the time of a record, that time decides. So a replay has the same result.
    """
    job = stamped_by_brokers(settings, tmp_path / "topics.yaml")
    name = job.topic("raw-html")
    headers = [(ORIGIN, f"{name}/0/1000".encode())]
    send(job, [raw(page("a"), headers=headers)])
    time.sleep(0.01)
    send(job, [raw(page("b"), headers=headers)])
    first, second = records(job, "raw-html")
    assert first.timestamp < second.timestamp
    until = datetime.fromtimestamp(second.timestamp / 1000, UTC).isoformat()
    work(job.model_copy(update={"unsigned_until": until}))
    texts = [clean_text.decode(record.value)["origin"] for record in records(job, "clean-text")]
    assert texts == [f"{name}/0/1000", f"{name}/{second.partition}/{second.offset}"]


def test_a_producers_time_does_not_prolong_an_upgrade(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """In a topic whose times come from producers, the time at which a record is read decides."""
    headers = [(ORIGIN, b"documents/0/1000"), (COMMAND, FORGET.encode())]
    value = Forget("example.org").encode()
    publish(Sent("documents", b"example.org", value, headers=headers))
    assert read_all("documents")[0].timestamp_type == 0
    over = job.model_copy(update={"unsigned_until": "2026-01-01T00:00:00Z"})
    work(over, Extract)
    assert [letter.reason for letter in letters(read_all)] == ["malformed"]
    during = job.model_copy(
        update={
            "unsigned_until": "2999-01-01T00:00:00Z",
            "data_dir": job.data_dir.with_name("later"),
        }
    )
    publish(Sent("documents", b"example.org", value, headers=headers))
    work(during, Extract)
    assert [record.value for record in read_all("clean-text")] == [None]


def test_a_dump_keeps_no_forged_header_and_a_restore_signs(job: Settings, publish: Publish) -> None:
    """A restore under another prefix signs the headers of waiting records for their new topic.

    Headers of strangers are removed when the dump is written, so that they are never signed.
    """
    origins_of_all = publish(
        raw(page("a"), headers=[*FORGED, (COMMAND, b"forget")]), raw(page("b"), b"other.org")
    )
    work(job, Normalize)
    begin = {TopicPartition(job.topic("raw-html"), at): 0 for at in range(PARTITIONS)}
    asyncio.run(rewind(job, "normalize", begin))
    other, file = moved(job), file_of(job)
    put(other, file)
    waiting = records(other, "raw-html")
    assert len(waiting) == 3
    assert {header(record.headers, ORIGIN) for record in waiting} == set(origins_of_all)
    assert not any(header(record.headers, COMMAND) for record in waiting)
    assert not any(other.header_keys.find_flaw(record, 0.0) for record in waiting)
    work(other)
    texts = records(other, "clean-text")
    assert {clean_text.decode(r.value)["origin"] for r in texts} == set(origins_of_all)
    assert records(other, "dead-letters") == []
