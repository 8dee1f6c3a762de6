"""Fixtures and hooks of all tests: a shared Kafka, topics for each test, markers, figures."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from aiokafka.errors import KafkaError
from hypothesis import HealthCheck, settings

from agents.kafka.client import admin
from agents.settings.job import Settings, SettingsError
from demo.kafka import Kafka, running
from tests.secure_kafka import SecureKafka, running_securely

# A process that a shell starts in the background ignores SIGINT, and its children inherit that.
# Tests that interrupt a process would then wait for it forever.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# CI systems set these variables to force colours or a width. Without them, commands print the same
# text on every machine: 80 columns wide, and without colours.
for variable in ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE"):
    os.environ.pop(variable, None)

# By default hypothesis fails a slow example. With this profile, no test fails on a busy machine.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", parent=settings.get_profile("untimed"), max_examples=500)
settings.load_profile("untimed")

Record = Callable[[str], None]
_FIGURE = "figure"
_KAFKA = {"kafka", "secure_kafka", "own_kafka"}  # fixtures; tests that use one are marked `kafka`

# The files whose tests take longest. They run first, so that no process still works on one of them
# when the other process has finished.
_LONGEST = (
    "urltree_evaluation/test_gate_streams.py",
    "job/test_nothing_is_lost.py",
    "chaos/test_schedules.py",
    "job/test_feeds_lose_nothing.py",
    "deploy/test_rendered_lives.py",
    "job/test_interleavings.py",
    "job/test_commits.py",
    "job/test_misbehaving_web.py",
    "job/test_feed_interleavings.py",
    "demo/test_run.py",
    "agents/test_access.py",
    "agents/test_secure_kafka.py",
    "agents/test_reset.py",
    "agents/test_table.py",
    "agents/test_pipeline.py",
    "agents/test_operations.py",
    "agents/test_forget.py",
    "agents/test_forgotten_pages.py",
    "agents/test_poll_failures.py",
    "job/test_same_everywhere.py",
    "job/test_revision.py",
    "job/test_revisits.py",
)


@pytest.fixture(scope="session")
def kafka() -> Iterator[str]:
    """Yield the brokers of a Kafka that all tests share, or those that KAFKA_BROKERS names."""
    with running() as brokers:
        yield brokers


@pytest.fixture(scope="session")
def secure_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureKafka]:
    """Yield a Kafka with TLS and SASL that all tests share."""
    with running_securely(tmp_path_factory.mktemp("secure-kafka")) as running_one:
        yield running_one


@pytest.fixture(scope="session")
def own_kafka() -> type[Kafka]:
    """Return the class of the embedded Kafka, for tests that kill theirs or start one."""
    return Kafka


@pytest.fixture
def prefix(request: pytest.FixtureRequest) -> Iterator[str]:
    """Yield a prefix for the topics and groups of one test, because all tests share one Kafka.

    The topics are deleted at the end of the test. A client requests the partitions of all topics,
    so a test that ran after 40 other tests took five times as long when their topics were kept.
    """
    name = f"t{uuid.uuid4().hex[:10]}-"
    yield name
    if "kafka" in request.fixturenames:
        with suppress(KafkaError, SettingsError):  # topics that remain do no harm
            asyncio.run(_delete_topics(request.getfixturevalue("kafka"), name))


async def _delete_topics(brokers: str, prefix: str) -> None:
    async with admin(Settings.model_validate({"brokers": brokers})) as client:
        gone = [topic for topic in await client.list_topics() if topic.startswith(prefix)]
        if gone:
            await client.delete_topics(gone)


@pytest.fixture
def record(record_property: Callable[[str, object], None]) -> Record:
    """Return a function that prints a line at the end of the run, under "What must hold"."""
    return lambda line: record_property(_FIGURE, line)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Return the argument's name as the test id of a parameter that is bytes; pytest numbers them.

    Compressed bytes contain the time of their creation. If test ids contained them, the two
    processes of a run would collect tests with different ids.
    """
    return argname if isinstance(val, bytes) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that use an embedded Kafka, and order the files, the longest first."""
    ranks = {name: rank for rank, name in enumerate(_LONGEST)}
    for item in items:
        if _KAFKA & set(getattr(item, "fixturenames", ())):
            item.add_marker("kafka")
    items.sort(key=lambda item: ranks.get("/".join(item.path.parts[-2:]), len(ranks)))


def pytest_collection_finish() -> None:
    """Exclude the modules and tests that pytest has collected from garbage collections.

    Faust collects garbage whenever a table opens or closes or partitions move. With 3,770 tests in
    memory, 18 such collections in one test took 19.5 s on a busy machine. After `gc.freeze`, they
    took 1.3 s.
    """
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the figures that the tests recorded in all processes."""
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    figures = [
        line for report in reports for name, line in report.user_properties if name == _FIGURE
    ]
    if figures:
        terminalreporter.section("What must hold")
        for line in sorted(map(str, figures)):
            terminalreporter.write_line(line)
