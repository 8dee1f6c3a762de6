"""The embedded Kafka keeps its records after kill -9, and ends when its parent ends."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from demo import kafka_files, kafka_install
from demo.kafka import Kafka, answers
from tests.job.harness import wait_until

PARENT = """
import sys
from pathlib import Path
from demo.kafka import Kafka
with Kafka(Path(sys.argv[1])) as kafka:
    print(kafka.brokers, flush=True)
    sys.stdin.read()
"""


async def _create(brokers: str, topic: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=brokers)
    await admin.start()
    try:
        await admin.create_topics([NewTopic(topic, 1, 1)])
    finally:
        await admin.close()


async def _send(brokers: str, topic: str, values: list[bytes]) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=brokers, max_request_size=20 << 20)
    async with producer:
        for value in values:
            await producer.send_and_wait(topic, value, partition=0)


async def _read(brokers: str, topic: str, count: int) -> list[bytes]:
    consumer = AIOKafkaConsumer(bootstrap_servers=brokers, enable_auto_commit=False)
    async with consumer:
        consumer.assign([TopicPartition(topic, 0)])
        await consumer.seek_to_beginning()
        return [(await consumer.getone()).value for _ in range(count)]


@pytest.mark.usefixtures("own_kafka")
def test_records_survive_kill_9_of_the_broker(tmp_path: Path) -> None:
    """A broker that was killed and restarted has the same port and the same records as before."""
    with Kafka(tmp_path) as kafka:
        before = kafka.brokers
        asyncio.run(_create(before, "t"))
        asyncio.run(_send(before, "t", [b"first", b"second"]))
        kafka.kill()
        assert not answers(before)
        kafka.restart()
        assert kafka.brokers == before
        assert asyncio.run(_read(before, "t", 2)) == [b"first", b"second"]


@pytest.mark.usefixtures("own_kafka")
def test_the_broker_dies_with_its_parent(tmp_path: Path) -> None:
    """Kill -9 of the process that started the broker leaves no broker behind."""
    command = [sys.executable, "-c", PARENT, str(tmp_path)]
    parent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert parent.stdin
    assert parent.stdout
    brokers = parent.stdout.readline().decode().strip()
    wait_until(lambda: answers(brokers), "the broker to answer")
    parent.kill()
    parent.wait()
    wait_until(lambda: not answers(brokers), "the broker to go")
    parent.stdin.close()
    parent.stdout.close()


@pytest.mark.kafka
def test_records_of_18_megabytes_pass(kafka: str, prefix: str) -> None:
    """The broker accepts records of the size in topics.yaml, if their topic allows this size."""

    async def run() -> None:
        admin = AIOKafkaAdminClient(bootstrap_servers=kafka)
        await admin.start()
        try:
            limit = {"max.message.bytes": str(20 << 20)}
            await admin.create_topics([NewTopic(prefix, 1, 1, topic_configs=limit)])
        finally:
            await admin.close()
        await _send(kafka, prefix, [b"x" * (18 << 20)])
        assert [len(value) for value in await _read(kafka, prefix, 1)] == [18 << 20]

    asyncio.run(run())


@pytest.mark.kafka
def test_no_topic_is_made_by_accident(kafka: str, prefix: str) -> None:
    """A request for a topic that does not exist does not create it."""

    async def run() -> list[str]:
        admin = AIOKafkaAdminClient(bootstrap_servers=kafka)
        await admin.start()
        try:
            await admin.describe_topics([prefix])
            return list(await admin.list_topics())
        finally:
            await admin.close()

    assert prefix not in asyncio.run(run())


def test_a_half_made_download_is_not_accepted(tmp_path: Path) -> None:
    """The check of the downloaded jars names each missing, unexpected and damaged jar."""
    good = kafka_install.install().directory / "jars"
    jars = tmp_path / "jars"
    shutil.copytree(good, jars)
    assert kafka_install.wrong_jars(jars) == []
    (jars / "lz4-java-1.8.0.jar").unlink()
    (jars / "re2j-1.8.jar").write_bytes(b"half")
    (jars / "other.jar").write_bytes(b"")
    assert sorted(kafka_install.wrong_jars(jars)) == [
        "lz4-java-1.8.0.jar is missing",
        "other.jar is unexpected",
        "re2j-1.8.jar has another checksum",
    ]


def test_a_cache_with_other_checksums_is_not_good(tmp_path: Path) -> None:
    """An installation is complete only if its checksums are those of this release.

    Otherwise the cache of an earlier release would be used.
    """
    installation = kafka_files.Installation(tmp_path)
    assert not installation.is_complete()
    installation.checked.write_bytes(b"0  another.jar\n")
    assert not installation.is_complete()
    installation.checked.write_bytes(kafka_files.JARS.read_bytes())
    assert installation.is_complete()


@pytest.mark.usefixtures("own_kafka")
def test_a_broker_that_cannot_start_says_why(tmp_path: Path) -> None:
    """If a broker cannot start, the error contains the end of the broker's log."""
    kafka = Kafka(tmp_path, options=("-Xmx1k",))
    with pytest.raises(kafka_files.KafkaError, match="Too small maximum heap"):
        kafka.start()
