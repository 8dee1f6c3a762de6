"""The ACLs of `deploy.tools.acls` on a Kafka that denies everything else: they suffice."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.extract import Extract
from agents.fetch import Fetch
from agents.normalize import Normalize
from agents.poll import Poll
from agents.stage import MakeStage, Stage
from tests.agents.feed_server import serving
from tests.agents.guarded import ACLS, OTHERS, ROLES, STAGES, USERS, GuardedJob, do, user_of
from tests.agents.workers import PATIENCE
from tests.guarded_kafka import Decision, Given, GuardedKafka, running_guarded

MAKES: dict[str, MakeStage] = {
    "poll": Poll,
    "fetch": Fetch,
    "normalize": Normalize,
    "extract": Extract,
}

# Commands in the order in which the test runs them: while stages run, and after their end
_FIRST = ("topics apply", "topics check")
_LAST = ("state dump", "reset", "state restore")


@pytest.fixture(scope="module")
def guarded_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuardedKafka]:
    """Yield a Kafka that denies everything that no ACL allows."""
    with running_guarded(tmp_path_factory.mktemp("guarded-kafka"), USERS) as running:
        yield running


@pytest.fixture
def guarded(guarded_kafka: GuardedKafka, prefix: str, tmp_path: Path) -> GuardedJob:
    """Return a job whose users have exactly the ACLs of the list."""
    job = GuardedJob(guarded_kafka, prefix, tmp_path)
    guarded_kafka.grant(one for role in ROLES for one in job.given(role))
    return job


def decision(given: Given) -> Decision:
    """Return the authorizer's decision that shows that a right was used."""
    operation = "".join(f"_{c}" if c.isupper() else c for c in given.acl.operation)
    resource = given.acl.resource[0].upper() + given.acl.resource[1:]
    name = user_of_resource(given)
    return Decision(given.user, True, operation.upper().lstrip("_"), resource, name)


def user_of_resource(given: Given) -> str:
    return given.pattern[1].removeprefix(given.prefix)


def test_with_exactly_these_rights_all_stages_commands_and_clients_work(
    guarded: GuardedJob,
) -> None:
    """Each role can do all its work, asks for nothing else, and uses each right that it has."""

    async def scenario() -> None:
        async with asyncio.timeout(4 * PATIENCE), serving() as web:
            guarded.web = web
            await guarded.run("topics apply", "topics", "apply")
            for role in _FIRST:
                await do(guarded, role)
            await guarded.publish([sent for stage in STAGES for sent in guarded.input(stage)])
            failures: list[BaseException] = []
            stages = [make(guarded.settings(s), failures.append) for s, make in MAKES.items()]
            for name in STAGES:
                await guarded.run(name, "topics", "check")
            await asyncio.gather(*(stage.app.start() for stage in stages))
            await until_all_used(guarded, failures)
            for role in OTHERS:
                if role not in (*_FIRST, *_LAST):
                    print("DO", role)
                    await do(guarded, role)
            await asyncio.gather(*(stage.app.stop() for stage in stages))
            assert not failures
            for role in _LAST:
                print("DO", role)
                await do(guarded, role)

    asyncio.run(scenario())
    decisions = guarded.kafka.decisions(guarded.prefix)
    missing = [one for role in OTHERS for one in unused(guarded, role)]
    assert not missing
    assert not {found for found in decisions if not found.is_allowed}


def unused(job: GuardedJob, role: str) -> list[Given]:
    """Return the rights of a role that were not used yet."""
    used = job.kafka.decisions(job.prefix)
    return [one for one in job.given(role) if not any(is_of(one, found) for found in used)]


def is_of(given: Given, found: Decision) -> bool:
    wanted = decision(given)
    return (
        found._replace(name="") == wanted._replace(name="")
        and (found.name == wanted.name or (given.acl.name == "USER" and found.name.startswith(wanted.name)))
    )


async def until_all_used(job: GuardedJob, failures: list[BaseException]) -> None:
    import time
    t=time.time()
    while left := [one for stage in STAGES for one in unused(job, stage)]:
        assert not failures, failures
        assert time.time()-t<40, left
        await asyncio.sleep(0.5)
