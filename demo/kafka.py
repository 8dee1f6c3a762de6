"""The embedded Apache Kafka: one real broker, which is its own controller (KRaft), on loopback.

with Kafka() as kafka:
    … kafka.brokers …          # "127.0.0.1:23412"
    kafka.kill()               # kill -9
    kafka.restart()            # same port, same records

Where KAFKA_BROKERS is set, `running()` gives that Kafka instead and starts none.
"""

from __future__ import annotations

import os
import random
import shutil
import socket
import struct
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from demo.child import Child
from demo.kafka_install import Installation, KafkaError, install

PATIENCE = 60.0  # seconds for a start; 2 are usual, CI machines share their disks
# Below the ports that systems give to outgoing connections: a client that keeps knocking while
# the broker is down would otherwise be given the broker's own port, and connect to itself.
_PORTS = range(20_000, 32_000)

_PROPERTIES = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller_port}
listeners=PLAINTEXT://127.0.0.1:{broker_port},CONTROLLER://127.0.0.1:{controller_port}
advertised.listeners=PLAINTEXT://127.0.0.1:{broker_port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={directory}

auto.create.topics.enable=false
message.max.bytes=20975616
replica.fetch.max.bytes=20975616
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1

broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=500
group.initial.rebalance.delay.ms=100
group.min.session.timeout.ms=1000
controlled.shutdown.enable=false
num.network.threads=2
num.io.threads=4
log.cleaner.dedupe.buffer.size=16777216
log.index.size.max.bytes=1048576
file.delete.delay.ms=1000
"""


def properties(directory: Path, *, broker_port: int, controller_port: int) -> str:
    """The broker's configuration file: 20 MiB records, little memory, no topics by accident."""
    return _PROPERTIES.format(
        directory=directory, broker_port=broker_port, controller_port=controller_port
    )


class Kafka:
    """A broker on free ports of 127.0.0.1; it dies with this process, even on kill -9.

    Args:
        directory: keeps records, configuration and log; a temporary one by default.
        installation: jars; installed where they are not yet.
        options: more options for Java.

    Attributes:
        brokers: `host:port`, the same after each restart.
    """

    def __init__(
        self,
        directory: Path | None = None,
        *,
        installation: Installation | None = None,
        options: Sequence[str] = (),
    ) -> None:
        self._installation = installation or install()
        self._options = options
        self._temporary = directory is None
        self.directory = directory or Path(tempfile.mkdtemp(prefix="urltree-kafka-"))
        self._port, self._controller_port = free_port(), free_port()
        self.brokers = f"127.0.0.1:{self._port}"
        self._child: Child | None = None

    @property
    def pid(self) -> int:
        """Process id of the running broker."""
        if self._child is None:
            raise KafkaError("the broker is not running")
        return self._child.pid

    def start(self) -> None:
        """Start and wait until the broker answers.

        Raises:
            KafkaError: it ended or did not answer in time; with the end of its log.
        """
        self.directory.mkdir(parents=True, exist_ok=True)
        data, config = self.directory / "data", self.directory / "server.properties"
        if not data.exists():
            shutil.copytree(self._installation.formatted, data)
        config.write_text(
            properties(data, broker_port=self._port, controller_port=self._controller_port)
        )
        archive = f"-XX:SharedArchiveFile={self._installation.archive}"
        options = self._options or (archive, "-Xlog:cds=off", "-Xlog:aot=off")
        command = self._installation.java(*options, "kafka.Kafka", str(config))
        self._child = Child(command, self.directory / "server.log")
        self._wait(self._child)

    def stop(self) -> None:
        """End the broker in order; a temporary directory goes with it."""
        if self._child:
            self._child.stop()
            self._child = None
        if self._temporary:
            shutil.rmtree(self.directory, ignore_errors=True)

    def kill(self) -> None:
        """Kill -9 the broker; its directory stays."""
        if self._child:
            self._child.kill()
            self._child = None

    def restart(self) -> None:
        """Start again on the same directory and port, after `kill` or while it runs."""
        if self._child:
            self._child.stop()
        self.start()

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

    def _wait(self, child: Child) -> None:
        deadline = time.monotonic() + PATIENCE
        while not answers(self.brokers):
            if child.poll() is not None:
                raise KafkaError(f"Kafka ended with {child.poll()}:\n{child.tail()}")
            if time.monotonic() > deadline:
                raise KafkaError(f"Kafka gave no answer in {PATIENCE:.0f} s:\n{child.tail()}")
            time.sleep(0.05)


@contextmanager
def running(directory: Path | None = None) -> Iterator[str]:
    """Brokers of the Kafka that KAFKA_BROKERS names, else of an embedded one in `directory`."""
    named = os.environ.get("KAFKA_BROKERS")
    if named:
        yield named
    else:
        with Kafka(directory) as kafka:
            yield kafka.brokers


def answers(brokers: str) -> bool:
    """Whether a broker answers a metadata request with itself, so that clients can work.

    An open port is not enough: the broker is listed only when its controller has let it in.
    """
    host, _, port = brokers.partition(":")
    # Metadata (api 3) version 1, correlation 1, no client id, zero topics
    request = struct.pack(">hhihi", 3, 1, 1, -1, 0)
    try:
        with socket.create_connection((host, int(port)), timeout=5) as connection:
            connection.sendall(struct.pack(">i", len(request)) + request)
            response = connection.makefile("rb").read(12)
    except OSError:
        return False
    return len(response) == 12 and struct.unpack(">iii", response)[2] > 0


def free_port() -> int:
    """A port of loopback that nobody listens on now."""
    for port in random.SystemRandom().sample(_PORTS, len(_PORTS)):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise KafkaError("no free port on 127.0.0.1")
