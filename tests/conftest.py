"""What tests share: one Kafka a session, and topic names of their own a test."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from demo.kafka import running


@pytest.fixture(scope="session")
def kafka() -> Iterator[str]:
    """Brokers of a real Kafka: started by the first test that asks, or named by KAFKA_BROKERS."""
    with running() as brokers:
        yield brokers


@pytest.fixture
def prefix() -> str:
    """Begins the names of a test's topics and groups, so that all tests share one Kafka."""
    return f"t{uuid.uuid4().hex[:10]}-"
