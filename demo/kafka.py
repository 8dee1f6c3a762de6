"""The embedded Apache Kafka, which is downloaded at its first use.

    with Kafka() as kafka:
        … kafka.brokers …          # "127.0.0.1:23412"
        kafka.kill()               # kill -9
        kafka.restart()            # same port, same records

If KAFKA_BROKERS is set, `running()` yields its value and starts no Kafka.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from demo.broker import PLAINTEXT_ONLY, KafkaBroker, Security, answers
from demo.kafka_files import KafkaError
from demo.kafka_install import install

__all__ = ["Kafka", "KafkaError", "Security", "answers", "running"]


class Kafka(KafkaBroker):
    """A broker of the installation in the cache; see `KafkaBroker` for the arguments."""

    def __init__(
        self,
        directory: Path | None = None,
        *,
        options: Sequence[str] = (),
        security: Security = PLAINTEXT_ONLY,
    ) -> None:
        super().__init__(install(), directory, options=options, security=security)


@contextmanager
def running(directory: Path | None = None) -> Iterator[str]:
    """Yield the brokers that KAFKA_BROKERS names, or else start a Kafka in `directory`."""
    named = os.environ.get("KAFKA_BROKERS")
    if named:
        yield named
    else:
        with Kafka(directory) as kafka:
            yield kafka.brokers
