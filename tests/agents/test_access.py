"""The rights of `agents.access.roles`, on a Kafka that denies everything that no ACL allows.

With exactly these rights everything works, and each right that is taken away lets something fail,
with a sentence that names it.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiokafka.errors import KafkaError

from agents.access.check import check_rights
from agents.access.roles import OF_USER
from agents.extract import Extract
from agents.fetch import Fetch
from agents.normalize import Normalize
from agents.poll import Poll
from agents.settings.job import SettingsError
from agents.stage import MakeStage, Stage
from tests.agents.feed_server import serving
from tests.agents.guarded import ACLS, OTHERS, ROLES, STAGES, USERS, GuardedJob, do, page
from tests.agents.records import Sent
from tests.agents.test_worker import PATIENCE, wait_for, worker
from tests.agents.workers import run, until
from tests.conftest import Record
from tests.guarded_kafka import Decision, Given, GuardedKafka, running_guarded

pytestmark = pytest.mark.kafka

MAKES: Mapping[str, MakeStage] = {
    "poll": Poll,
    "fetch": Fetch,
    "normalize": Normalize,
    "extract": Extract,
}
_BEFORE = ("topics apply", "topics check")  # roles that work before the stages run
_WITHOUT = ("state dump", "reset", "state restore")  # roles that work after the stages have stopped
_PAGES = 20


@pytest.fixture(scope="module")
def guarded_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuardedKafka]:
    """Yield a Kafka that denies everything that no ACL allows."""
    with running_guarded(tmp_path_factory.mktemp("guarded-kafka"), USERS) as running:
        yield running


@pytest.fixture
def job(guarded_kafka: GuardedKafka, prefix: str, tmp_path: Path) -> GuardedJob:
    """Return a job whose users have exactly the rights of the list."""
    made = GuardedJob(guarded_kafka, prefix, tmp_path)
    guarded_kafka.grant(one for role in ROLES for one in made.given(role))
    return made


@asynccontextmanager
async def running(job: GuardedJob, *names: str) -> AsyncIterator[list[BaseException]]:
    """Run stages, each as its own user; yield the errors that end them."""
    failures: list[BaseException] = []
    stages: list[Stage] = [MAKES[name](job.settings(name), failures.append) for name in names]
    await asyncio.gather(*(stage.app.start() for stage in stages))
    try:
        yield failures
    finally:
        await asyncio.gather(*(stage.app.stop() for stage in stages))


def test_with_exactly_these_rights_every_stage_command_and_client_works(
    job: GuardedJob, record: Record
) -> None:
    """Each role does all its work, uses each of its rights, and asks for no other."""

    async def scenario() -> None:
        async with serving() as job.web:
            await job.run("topics apply", "topics", "apply")
            for role in _BEFORE:
                await do(job, role)
            for stage in STAGES:
                await check_rights(job.settings(stage), stage)
                await job.run(stage, "topics", "check")
            await job.publish([sent for stage in STAGES for sent in job.input(stage)])
            async with running(job, *STAGES) as failures:
                await until(lambda: bool(failures) or not unused(job, *STAGES))
                for role in OTHERS:
                    if role not in (*_BEFORE, *_WITHOUT):
                        await do(job, role)
            assert not failures
            for role in _WITHOUT:
                await do(job, role)

    run(scenario())
    decisions = job.kafka.decisions(job.prefix)
    assert not unused(job, *ROLES)
    assert not [found for found in decisions if not found.is_allowed]
    count = sum(map(len, ACLS.values()))
    record(f"ACLs: {count} of {count} rights of {len(ROLES)} roles used, 0 requests denied")


def unused(job: GuardedJob, *roles: str) -> list[Given]:
    """Return the rights of these roles that the authorizer has not been asked for yet."""
    used = job.kafka.decisions(job.prefix)
    return [one for role in roles for one in job.given(role) if not any(map(shows(one), used))]


def shows(given: Given) -> Callable[[Decision], bool]:
    """Return a function that tells whether a decision shows that a right was used."""
    operation, kind = given.acl.operation, given.acl.resource
    wanted = "".join(f"_{c}" if c.isupper() else c for c in operation).upper().lstrip("_")
    name = given.pattern[1].removeprefix(given.prefix)

    def is_of(found: Decision) -> bool:
        return (
            found.is_allowed
            and (found.user, found.operation) == (given.user, wanted)
            and found.resource.lower() == kind.lower()
            and (found.name == name or (given.acl.name == OF_USER and found.name.startswith(name)))
        )

    return is_of


def words_of(given: Given) -> str:
    """Return the words that name a right in a sentence."""
    return f"{given.acl.operation} on the {given.acl.resource} {given.pattern[1]}"


@pytest.mark.thorough
@pytest.mark.parametrize("stage", STAGES)
def test_a_worker_names_each_right_that_it_lacks(job: GuardedJob, stage: str) -> None:
    """At its start a worker finds each right that is taken away, and names it."""
    asyncio.run(job.apply())
    for given in job.given(stage):
        job.kafka.revoke([given])
        with pytest.raises(SettingsError, match=words_of(given)):
            asyncio.run(check_rights(job.settings(stage), stage))
        job.kafka.grant([given])
    asyncio.run(check_rights(job.settings(stage), stage))


@pytest.mark.thorough
@pytest.mark.parametrize("stage", STAGES)
def test_each_right_taken_away_ends_a_worker(job: GuardedJob, stage: str, tmp_path: Path) -> None:
    """A running worker that loses a right to read or write ends with 70; it never only waits.

    A running worker does not use Describe, DescribeConfigs, or Read on its changelogs; the check at
    its next start finds them.
    """

    async def scenario() -> None:
        await job.apply()
        async with serving() as job.web:
            for given in job.given(stage):
                is_reading = given.acl.operation == "Read"
                if given.acl.operation in ("Describe", "DescribeConfigs") or (
                    is_reading and given.acl.name.endswith("-changelog")
                ):
                    continue
                code, said = await asyncio.to_thread(taken_away, job, stage, given, tmp_path)
                sentence = f"use the {given.acl.resource} {given.pattern[1]}"
                assert (code, sentence in said) == (70, True), (given, said)

    asyncio.run(scenario())


def taken_away(job: GuardedJob, stage: str, given: Given, data_dir: Path) -> tuple[int, str]:
    """Take a right away from a worker that is ready; return its exit code and its log."""
    fields = job.fields(stage) | {"instance_id": "one"}
    del fields["data_dir"]
    with worker(stage, data_dir, **fields) as (process, url):
        wait_for(f"{url}/readyz", 200)
        job.kafka.revoke([given])
        asyncio.run(job.publish(job.input(stage)))
        _, said = process.communicate(timeout=PATIENCE)
    job.kafka.grant([given])
    return process.returncode, said


@pytest.mark.thorough
@pytest.mark.parametrize("role", OTHERS)
def test_each_right_taken_away_ends_a_command_or_a_client(job: GuardedJob, role: str) -> None:
    """A command or a client without one of its rights fails, and the right is named."""

    async def scenario() -> None:
        await job.apply()
        async with serving() as job.web:
            await job.publish([sent for stage in STAGES for sent in job.input(stage)])
            async with running(job, *STAGES):
                await until(lambda: not unused(job, *STAGES))
                if role not in _WITHOUT:
                    await take_away(job, role)
            if role in _WITHOUT:
                await take_away(job, role)

    asyncio.run(scenario())


async def take_away(job: GuardedJob, role: str) -> None:
    """Take each right away in turn; the role fails, and the check names the right."""
    await do(job, role)
    for given in job.given(role):
        if given.acl.operation == "Create":
            await job.delete_topic(given.acl.name)
        await asyncio.to_thread(job.kafka.revoke, [given])
        async with asyncio.timeout(PATIENCE):
            with pytest.raises((KafkaError, SettingsError)) as caught:
                await do(job, role)
        if given.acl.name != OF_USER and "producer" not in role and role != "consumer":
            with pytest.raises(SettingsError, match=words_of(given)):
                await check_rights(job.settings(role), role)
        assert given.acl.operation == "Create" or caught.value
        await asyncio.to_thread(job.kafka.grant, [given])
        await job.apply()


@pytest.mark.parametrize(
    ("resource", "name", "operation"),
    [
        ("topic", "documents", "Write"),
        pytest.param("group", "urltree-normalize", "Read", marks=pytest.mark.thorough),
    ],
)
def test_a_right_that_is_taken_away_while_a_worker_runs_loses_no_page(
    job: GuardedJob, tmp_path: Path, resource: str, name: str, operation: str
) -> None:
    """The worker ends with 70, then refuses to start with 2, and later processes every page.

    Without Read on its group, a worker once waited for ever and logged nothing.
    """
    asyncio.run(job.apply())
    (given,) = (one for one in job.given("normalize") if one.acl == (resource, name, operation))
    fields = job.fields("normalize")
    del fields["data_dir"]
    fields["instance_id"] = "one"  # the next worker need not wait for the end of the session
    pages = [Sent("raw-html", b"example.org", page(f"{number}")) for number in range(_PAGES)]
    with worker("normalize", tmp_path, **fields) as (process, url):
        wait_for(f"{url}/readyz", 200)
        asyncio.run(job.publish(pages[:10]))
        job.kafka.revoke([given])
        asyncio.run(job.publish(pages[10:]))
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 70
        assert f"Kafka does not allow this client to use the {resource} {given.pattern[1]}" in said
    with worker("normalize", tmp_path, **fields) as (process, _):
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 2
        assert words_of(given) in said
        assert "Traceback" not in said
    job.kafka.grant([given])
    with worker("normalize", tmp_path, **fields) as (process, url):
        wait_for(f"{url}/readyz", 200)
        found = asyncio.run(job.wait_for_records("documents", _PAGES))
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
    assert len({record.value for record in found}) == _PAGES
