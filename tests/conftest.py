"""What tests share: one Kafka a session, topic names of their own a test, figures at the end."""

from __future__ import annotations

import asyncio
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

# A shell lets what it starts in the background ignore SIGINT, and every child inherits that: tests
# that interrupt a process would wait for its end.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What is printed is what a terminal of 80 columns gets: CI systems force colours.
for variable in ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE"):
    os.environ.pop(variable, None)

# A busy machine is slow, and no test is wrong for it: hypothesis looks at the clock by default.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", parent=settings.get_profile("untimed"), max_examples=500)
settings.load_profile("untimed")

Record = Callable[[str], None]
_FIGURE = "figure"
_KAFKA = {"kafka", "secure_kafka", "own_kafka"}  # fixtures; tests that use one are marked `kafka`


@pytest.fixture(scope="session")
def kafka() -> Iterator[str]:
    """Brokers of a real Kafka: started by the first test that asks, or named by KAFKA_BROKERS."""
    with running() as brokers:
        yield brokers


@pytest.fixture(scope="session")
def secure_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureKafka]:
    """A Kafka of its own with TLS and SASL; started by the first test that asks."""
    with running_securely(tmp_path_factory.mktemp("secure-kafka")) as running_one:
        yield running_one


@pytest.fixture(scope="session")
def own_kafka() -> type[Kafka]:
    """The embedded Kafka's class, for tests that kill theirs or start one in a way of their own."""
    return Kafka


@pytest.fixture
def prefix(request: pytest.FixtureRequest) -> Iterator[str]:
    """Begins the names of a test's topics and groups, so that all tests share one Kafka.

    In the end its topics go: clients ask for the partitions of all that there are, and after 40
    tests the next one took five times as long as alone.
    """
    name = f"t{uuid.uuid4().hex[:10]}-"
    yield name
    if "kafka" in request.fixturenames:
        with suppress(KafkaError, SettingsError):  # those that stay do no harm
            asyncio.run(_delete_topics(request.getfixturevalue("kafka"), name))


async def _delete_topics(brokers: str, prefix: str) -> None:
    async with admin(Settings.model_validate({"brokers": brokers})) as client:
        gone = [topic for topic in await client.list_topics() if topic.startswith(prefix)]
        if gone:
            await client.delete_topics(gone)


@pytest.fixture
def record(record_property: Callable[[str, object], None]) -> Record:
    """Prints a line of figures at the end of the run, under "What must hold"."""
    return lambda line: record_property(_FIGURE, line)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes are numbered: compressed ones hold the time, and two processes must agree on names."""
    return argname if isinstance(val, bytes) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that use an embedded Kafka, and order the files, the longest first.

    The end of a run would wait for a long file that is begun last. `make test` keeps xdist from
    taking the files with the fewest tests last.
    """
    for item in items:
        if _KAFKA & set(getattr(item, "fixturenames", ())):
            item.add_marker("kafka")
    items.sort(key=lambda item: item.path.parent.name != "job")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The figures that the tests recorded, in whichever process they ran."""
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    figures = [
        line for report in reports for name, line in report.user_properties if name == _FIGURE
    ]
    if figures:
        terminalreporter.section("What must hold")
        for line in sorted(map(str, figures)):
            terminalreporter.write_line(line)
