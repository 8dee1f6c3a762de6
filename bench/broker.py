"""The Kafka that is measured with: an embedded one, or the one that KAFKA_BROKERS names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import psutil

from demo.kafka import Kafka


class Broker(NamedTuple):
    """A running Kafka.

    Attributes:
        process: None where it is not ours.
    """

    address: str
    process: psutil.Process | None


@contextmanager
def running() -> Iterator[Broker]:
    """A Kafka for one measurement."""
    named = os.environ.get("KAFKA_BROKERS")
    if named:
        yield Broker(named, None)
    else:
        with Kafka() as kafka:
            yield Broker(kafka.brokers, psutil.Process(kafka.pid))
