"""A Kafka of three brokers on loopback: replication 3, min.insync.replicas 2, without ZooKeeper.

    broker 1 ─┬─ PLAINTEXT   for everybody
              ├─ PROXIED     advertised at the port of a TCP proxy, for one client alone
              └─ CONTROLLER  one of three voters (KRaft)

Each broker is a process from the jars of the embedded Kafka, and also a controller. Kafka checks
ACLs, and allows everything on a resource without ACLs. Controllers log in, because Kafka's
authorizer answers nobody but super users until the controllers have elected a leader.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import uuid4

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from demo.broker import PATIENCE, KafkaBroker, Security, broker_properties
from demo.kafka_files import Installation, KafkaError

NODES = (1, 2, 3)
SESSION = 6  # seconds without a heartbeat after which the controller takes a broker's partitions

# Later lines of a properties file replace earlier ones, here those of `demo.broker`.
_CONFIG = """
node.id={number}
controller.quorum.voters={voters}
advertised.listeners=PLAINTEXT://127.0.0.1:{plain},PROXIED://127.0.0.1:{proxied}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,PROXIED:PLAINTEXT,CONTROLLER:SASL_PLAINTEXT
inter.broker.listener.name=PLAINTEXT
controlled.shutdown.enable=true
broker.session.timeout.ms={session}000
controller.quorum.election.timeout.ms=2000
controller.quorum.fetch.timeout.ms=4000
default.replication.factor=3
min.insync.replicas=2
offsets.topic.replication.factor=3
transaction.state.log.replication.factor=3
transaction.state.log.min.isr=2
share.coordinator.state.topic.replication.factor=3
share.coordinator.state.topic.min.isr=2
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
allow.everyone.if.no.acl.found=true
super.users=User:broker
sasl.mechanism.controller.protocol=PLAIN
listener.name.controller.sasl.enabled.mechanisms=PLAIN
listener.name.controller.plain.sasl.jaas.config=\
org.apache.kafka.common.security.plain.PlainLoginModule required \
username="broker" password="secret" user_broker="secret";
{more}
"""


class Node(KafkaBroker):
    """One of the three brokers.

    Attributes:
        number: node id.
        advertised: port that the broker advertises for the listener PROXIED; by default the port
            on which it listens.
    """

    def __init__(
        self, installation: Installation, directory: Path, number: int, more: str = ""
    ) -> None:
        heap = f"-XX:SharedArchiveFile={installation.archive}", "-Xlog:cds=off", "-Xlog:aot=off"
        super().__init__(
            installation,
            directory,
            options=(*heap, "-Xmx256m"),
            security=Security(("PROXIED",)),
        )
        self.number = number
        self.advertised = self.ports["PROXIED"]
        self.is_stopped = False
        self._more = more
        self._voters = ""

    @property
    def vote(self) -> str:
        """The broker as a voter of the controllers' quorum."""
        return f"{self.number}@127.0.0.1:{self._controller_port}"

    @property
    def is_running(self) -> bool:
        """Whether the process was started and has not ended."""
        return self._child is not None and self.exit_code() is None

    @property
    def release(self) -> Installation:
        """Files of Kafka with which the broker starts next."""
        return self._installation

    def run_with(self, installation: Installation) -> None:
        """Use another release of Kafka from the next start on."""
        archive = f"-XX:SharedArchiveFile={installation.archive}"
        self._installation = installation
        self._options = archive, *self._options[1:]

    def vote_among(self, voters: Iterable[str]) -> None:
        """Set the voters of the quorum; called once, before the first start."""
        self._voters = ",".join(voters)

    def freeze(self) -> None:
        """Stop the process with SIGSTOP."""
        os.kill(self.pid, signal.SIGSTOP)
        self.is_stopped = True

    def thaw(self) -> None:
        """Continue the stopped process."""
        os.kill(self.pid, signal.SIGCONT)
        self.is_stopped = False

    def end(self) -> None:
        """Shut the broker down in order, and keep its directory."""
        if self._child:
            self._child.stop(PATIENCE)
            self._child = None

    def log(self, lines: int = 20) -> str:
        """Return the last lines of the broker's log."""
        path = self.directory / "server.log"
        if not path.exists():
            return ""
        return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])

    def _properties(self, data: Path) -> str:
        config = _CONFIG.format(
            number=self.number,
            voters=self._voters,
            plain=self.ports["PLAINTEXT"],
            proxied=self.advertised,
            session=SESSION,
            more=self._more,
        )
        return broker_properties(data, self.ports, self._controller_port, config)

    def _format(self, data: Path, _: Path) -> None:
        """Copy the prepared data directory, with ids of its own for the broker and its directory.

        The controller registers no two brokers whose directories have the same id.
        """
        shutil.copytree(self._installation.formatted, data)
        directory_id = urlsafe_b64encode(uuid4().bytes).decode().rstrip("=")
        own = {"node.id": str(self.number), "directory.id": directory_id}
        properties = data / "meta.properties"
        lines = [line.partition("=") for line in properties.read_text().splitlines()]
        properties.write_text("".join(f"{k}{eq}{own.get(k, v)}\n" for k, eq, v in lines))


class ThreeBrokers:
    """Three brokers, which are killed at the end.

    Args:
        installation: files of Kafka for all brokers.
        directories: directory of each broker.
        advertised: port that each broker advertises for the listener PROXIED.
        more: more lines of the brokers' configuration.

    Attributes:
        nodes: the brokers.
    """

    def __init__(
        self,
        installation: Installation,
        directories: Sequence[Path],
        advertised: Sequence[int] = (),
        more: str = "",
    ) -> None:
        self.nodes = [
            Node(installation, directory, number, more)
            for number, directory in zip(NODES, directories, strict=True)
        ]
        voters = [node.vote for node in self.nodes]
        for node in self.nodes:
            node.vote_among(voters)
        for node, port in zip(self.nodes, advertised, strict=False):
            node.advertised = port

    @property
    def brokers(self) -> str:
        """Addresses of the listeners PLAINTEXT, separated by commas."""
        return ",".join(node.brokers for node in self.nodes)

    def start(self) -> None:
        """Start all brokers, and wait until each of them is registered.

        Raises:
            KafkaError: a broker ended, or the brokers are not ready in time.
        """
        for node in self.nodes:
            node.launch()
        for node in self.nodes:
            node.wait_ready()
        self.wait_all()

    def wait_all(self, patience: float = PATIENCE) -> None:
        """Wait until all three brokers are members of the cluster."""
        deadline = time.monotonic() + patience
        while len(self.alive()) < len(self.nodes):
            if time.monotonic() > deadline:
                logs = "\n".join(node.log() for node in self.nodes)
                raise KafkaError(f"only brokers {self.alive()} are registered; logs:\n{logs}")
            time.sleep(0.2)

    def alive(self) -> Sequence[int]:
        """Return the ids of the registered brokers; none if Kafka does not answer."""
        try:
            return sorted(self.admin().list_topics(timeout=5).brokers)
        except KafkaException:
            return ()

    def admin(self) -> AdminClient:
        """Return a client for administration, which logs nothing."""
        return AdminClient(quiet({"bootstrap.servers": self.brokers}))

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Kill all brokers; nobody needs their records any more."""
        for node in self.nodes:
            node.kill()


def quiet(config: Mapping[str, object]) -> dict[str, object]:
    """Return the configuration of a librdkafka client that logs no lost connections."""
    return {"log_level": 0, "error_cb": lambda _: None, **config}
