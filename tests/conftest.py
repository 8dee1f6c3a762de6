"""What tests share: one Kafka a session, and topic names of their own a test."""

from __future__ import annotations

import signal
import uuid
from collections.abc import Iterator

import pytest

from demo.kafka import running

# A shell lets what it starts in the background ignore SIGINT, and every child inherits that: tests
# that interrupt a process would wait for its end.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def kafka() -> Iterator[str]:
    """Brokers of a real Kafka: started by the first test that asks, or named by KAFKA_BROKERS."""
    with running() as brokers:
        yield brokers


@pytest.fixture
def prefix() -> str:
    """Begins the names of a test's topics and groups, so that all tests share one Kafka."""
    return f"t{uuid.uuid4().hex[:10]}-"
