"""Read whole topics with librdkafka, which shares no code with the job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, TopicPartition

from tests.three_brokers import quiet

Headers = tuple[tuple[str, bytes | None], ...]

_WAIT = 30.0  # longest wait for an answer of Kafka, in seconds


class Record(NamedTuple):
    """A record of a topic."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers

    @property
    def place(self) -> str:
        """Topic, partition and offset, as the job writes the origin of a page."""
        return f"{self.topic}/{self.partition}/{self.offset}"

    def header(self, name: str) -> str | None:
        """Return the last header with this name as text, or None."""
        values = [value for key, value in self.headers if key == name and value is not None]
        return values[-1].decode(errors="replace") if values else None


Topics = Mapping[str, list[Record]]


def reader(brokers: str) -> Consumer:
    """Return a consumer that commits nothing and reads only committed records."""
    return Consumer(
        quiet(
            {
                "bootstrap.servers": brokers,
                "group.id": "chaos-auditor",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "enable.partition.eof": True,
                "auto.offset.reset": "error",
                "fetch.message.max.bytes": 4_000_000,
                "topic.metadata.refresh.interval.ms": 2_000,
            }
        )
    )


def partitions_of(client: Consumer, topics: Iterable[str]) -> list[TopicPartition]:
    """Return all partitions of topics."""
    known = client.list_topics(timeout=_WAIT).topics
    return [
        TopicPartition(topic, partition, OFFSET_BEGINNING)
        for topic in topics
        for partition in sorted(known[topic].partitions)
    ]


def read_topics(brokers: str, topics: Iterable[str]) -> Topics:
    """Return all records that the topics contain now; those of a partition are in order."""
    topics = list(topics)
    found: dict[str, list[Record]] = {topic: [] for topic in topics}
    client = reader(brokers)
    try:
        given = partitions_of(client, topics)
        left = {(one.topic, one.partition) for one in given}
        client.assign(given)
        while left:
            for message in client.consume(500, timeout=1.0):
                error = message.error()
                if error is None:
                    found[message.topic()].append(record_of(message))
                elif error.code() == KafkaError._PARTITION_EOF:
                    left.discard((message.topic(), message.partition()))
                elif error.fatal():
                    raise KafkaException(error)
    finally:
        client.close()
    for records in found.values():
        records.sort(key=lambda one: (one.partition, one.offset))
    return found


def record_of(message: object) -> Record:
    """Return a message of librdkafka as a record."""
    return Record(
        message.topic(),  # type: ignore[attr-defined]
        message.partition(),  # type: ignore[attr-defined]
        message.offset(),  # type: ignore[attr-defined]
        message.key(),  # type: ignore[attr-defined]
        message.value(),  # type: ignore[attr-defined]
        tuple(message.headers() or ()),  # type: ignore[attr-defined]
    )
