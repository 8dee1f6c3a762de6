"""The Kafka broker of a benchmark: an embedded one, or the one at the address KAFKA_BROKERS."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import psutil

from demo.kafka import Kafka


class MeasuredBroker(NamedTuple):
    """A running Kafka broker.

    Attributes:
        address: address of the broker, as `host:port`.
        process: process of the embedded broker; None if KAFKA_BROKERS names another one.
    """

    address: str
    process: psutil.Process | None


@contextmanager
def running_broker() -> Iterator[MeasuredBroker]:
    """Yield a Kafka broker for one measurement, and then stop it if it is embedded."""
    named = os.environ.get("KAFKA_BROKERS")
    if named:
        yield MeasuredBroker(named, None)
    else:
        with Kafka() as kafka:
            yield MeasuredBroker(kafka.brokers, psutil.Process(kafka.pid))
