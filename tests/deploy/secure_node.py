"""A node whose pods use a Kafka with TLS and SASL, by the rendered names and Secrets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from struct import unpack_from
from typing import Any, NamedTuple

import pytest
from aiokafka.coordinator.protocol import ConsumerProtocolMemberAssignment

from agents.kafka.client import admin, consumer, full_ranges, partitions, read_records
from agents.settings.job import Settings
from tests.deploy.kubelet import Node, missing
from tests.deploy.pod import Pod
from tests.deploy.pod_files import Secrets
from tests.job.harness import READS, Job
from tests.job.kafka_records import run
from tests.secure_kafka import SecureKafka, running_securely

# set of values with mutual TLS, SCRAM-SHA-512 and all four stages
VALUES = "everything"
PREFIX = "text-"  # `kafka.prefix` in this set of values
_SASL_SSL = 9093  # port of `kafka.brokers` in this set of values


@contextmanager
def secure_node(directory: Path, objects: list[dict[str, Any]]) -> Iterator[tuple[Node, Job]]:
    """Start the Kafka; yield a node without pods, and the job as an operator sees it.

    The operator uses the listener without TLS.
    """
    if reason := missing():
        pytest.skip(reason)
    for name in ("kafka", "node", "job"):
        (directory / name).mkdir()
    with running_securely(directory / "kafka") as kafka:
        port = int(kafka.brokers.rpartition(":")[2])
        doors = {_SASL_SSL: port, port: port}  # the broker advertises the second port
        node = Node(directory / "node", objects, _secrets(kafka), doors)
        try:
            yield node, Job(kafka.plain, PREFIX, directory / "job")
        finally:
            node.end()


def _secrets(kafka: SecureKafka) -> Secrets:
    """Return the Secrets that the rendered pods refer to."""
    return {
        "kafka-ca": {"ca.crt": kafka.ca_file.read_bytes()},
        "urltree-credentials": {"members": b"user:password"},
        "urltree-kafka": {"sasl": kafka.password_file.read_bytes()},
        "urltree-tls": {
            "tls.crt": kafka.cert_file.read_bytes(),
            "tls.key": kafka.key_file.read_bytes(),
        },
    }


class Group(NamedTuple):
    """The consumer group of a stage.

    Attributes:
        state: state of the group in Kafka; `Stable` if no rebalance is in progress.
        generation: number that each rebalance increases by one.
        shares: partitions of the stage's first input topic, by member id.
    """

    state: str
    generation: int
    shares: dict[str, list[int]]

    def of(self, pod: Pod) -> list[int]:
        """Return the partitions of a pod, whose member id begins with the pod's name."""
        return next((its for name, its in self.shares.items() if name.startswith(pod.name)), [])


def group(job: Job, stage: str) -> Group:
    """Return the consumer group of a stage; the data come from Kafka."""
    return run(_group(job.settings, job.settings.topic(f"urltree-{stage}"), READS[stage][0]))


async def _group(settings: Settings, name: str, topic: str) -> Group:
    async with admin(settings) as client:
        (answer,) = await client.describe_consumer_groups([name])
    (described,) = answer.to_object()["groups"]
    shares = {}
    for member in described["members"]:
        given = ConsumerProtocolMemberAssignment.decode(member["member_assignment"]).assignment
        shares[member["member_id"]] = sorted(dict(given).get(settings.topic(topic), ()))
    return Group(described["state"], await _generation(settings, name.encode()), shares)


async def _generation(settings: Settings, name: bytes) -> int:
    """Return the generation of a group, or -1 if Kafka has stored none.

    The generation is read from `__consumer_offsets`, because no response of Kafka contains it. The
    format is in Kafka's GroupMetadataKey.json and GroupMetadataValue.json, versions 0 to 3.
    """
    value = await _last(settings, b"\x00\x02" + len(name).to_bytes(2, "big") + name)
    if value is None:
        return -1
    version, length = unpack_from(">hh", value)  # the length is that of the next field
    assert version <= 3
    (generation,) = unpack_from(">i", value, 4 + length)
    return int(generation)


async def _last(settings: Settings, key: bytes) -> bytes | None:
    """Return the last value of a key in `__consumer_offsets`."""
    async with consumer(settings, exclude_internal_topics=False) as client:
        # lists of topics do not contain this internal topic
        await client._client.add_topic("__consumer_offsets")
        ranges = await full_ranges(client, await partitions(client, "__consumer_offsets"))
        values = [each.value async for each in read_records(client, ranges) if each.key == key]
    return values[-1] if values else None
