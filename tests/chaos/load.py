"""The load of a schedule: producers by librdkafka, which know nothing of the job.

Each producer publishes its inputs evenly over the time of the load, and notes what Kafka confirms.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from importlib.util import find_spec

from confluent_kafka import KafkaError, Message, Producer

from tests.chaos.inputs import Input
from tests.chaos.plan import Keys, Profile
from tests.three_brokers import quiet

DELIVERY = 300.0  # seconds after which a producer gives up a record

_POLL = 0.05
_NEEDS_CRAMJAM = ("snappy", "lz4", "zstd")  # codecs that aiokafka reads only with this library


def missing_library(codec: str) -> str | None:
    """Return why the job cannot read a codec here, or None if it can."""
    if codec in _NEEDS_CRAMJAM and find_spec("cramjam") is None:
        return f"aiokafka reads {codec} only with the library cramjam, which is not installed"
    return None


class Load(threading.Thread):
    """One producer at work.

    Args:
        brokers: addresses of the brokers.
        topic: topic to which it publishes.
        profile: how it publishes.
        inputs: what it publishes, in order.
        seconds: time over which it publishes.

    Attributes:
        confirmed: inputs that Kafka has confirmed, by id.
        refused: reasons why Kafka did not take an input, by id.
    """

    def __init__(
        self, brokers: str, topic: str, profile: Profile, inputs: Sequence[Input], seconds: float
    ) -> None:
        super().__init__(name=profile.name)
        self._topic, self._profile = topic, profile
        self._inputs, self._seconds = inputs, seconds
        self.confirmed: dict[str, Input] = {}
        self.refused: dict[str, str] = {}
        codec = "none" if missing_library(profile.codec) else profile.codec
        murmur = profile.keys is not Keys.CRC32
        self._producer = Producer(
            quiet(
                {
                    "bootstrap.servers": brokers,
                    "acks": "all",
                    "enable.idempotence": profile.idempotent,
                    "compression.type": codec,
                    "linger.ms": profile.linger,
                    "message.max.bytes": 20_000_000,
                    "message.timeout.ms": int(1_000 * DELIVERY),
                    "partitioner": "murmur2_random" if murmur else "consistent_random",
                    # topics and leaders are asked for again soon after a broker is lost
                    "topic.metadata.refresh.fast.interval.ms": 100,
                }
            )
        )

    def run(self) -> None:
        """Publish all inputs, and wait until each is confirmed or refused."""
        started = time.monotonic()
        for number, one in enumerate(self._inputs):
            due = started + self._seconds * number / len(self._inputs)
            while (left := due - time.monotonic()) > 0:
                self._producer.poll(min(left, _POLL))
            self._publish(one)
        self._producer.flush(DELIVERY)

    def _publish(self, one: Input) -> None:
        def noted(error: KafkaError | None, _: Message) -> None:
            if error is None:
                self.confirmed[one.id] = one
            else:
                self.refused[one.id] = error.str()

        where = {} if one.partition is None else {"partition": one.partition}
        self._producer.produce(
            self._topic,
            value=one.value,
            key=one.key,
            headers=one.headers,
            on_delivery=noted,
            **where,
        )
