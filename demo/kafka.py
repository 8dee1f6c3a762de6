"""The embedded Apache Kafka: one real broker, which is its own controller (KRaft), on loopback.

with Kafka() as kafka:
    … kafka.brokers …          # "127.0.0.1:23412"
    kafka.kill()               # kill -9
    kafka.restart()            # same port, same records

Where KAFKA_BROKERS is set, `running()` gives that Kafka instead and starts none.
"""

from __future__ import annotations

import os
import shutil
import socket
import struct
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from demo.child import Child
from demo.kafka_install import Installation, KafkaError, install
from demo.ports import free_ports

PATIENCE = 300.0  # seconds for a start; 2 are usual, and 10 where others use the machine
# Seconds of silence after which the controller takes all partitions from the broker. A machine that
# stood still for 5 s did that to a broker with 3: clients found none. One that is started again
# waits until its former session is over, so that one is short.
_SESSION, _SESSION_AGAIN = 120, 3

_PROPERTIES = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller_port}
listeners={listeners},CONTROLLER://127.0.0.1:{controller_port}
advertised.listeners={listeners}
controller.listener.names=CONTROLLER
listener.security.protocol.map={protocols},CONTROLLER:PLAINTEXT
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

broker.session.timeout.ms={session}000
broker.heartbeat.interval.ms=500
group.initial.rebalance.delay.ms=100
group.min.session.timeout.ms=1000
controlled.shutdown.enable=false
num.network.threads=2
num.io.threads=4
log.cleaner.dedupe.buffer.size=16777216
log.index.size.max.bytes=1048576
file.delete.delay.ms=1000
{config}
"""


@dataclass(frozen=True)
class Security:
    """What a broker offers beside PLAINTEXT.

    Attributes:
        listeners: security protocols, such as SASL_SSL.
        config: lines of its configuration for them.
        scram: users of SCRAM-SHA-512, password by name.
        options: for Java.
    """

    listeners: Sequence[str] = ()
    config: str = ""
    scram: Mapping[str, str] = field(default_factory=dict)
    options: Sequence[str] = ()


NOTHING_MORE = Security()


def properties(directory: Path, ports: Mapping[str, int], controller: int, config: str = "") -> str:
    """The broker's configuration file: 20 MiB records, little memory, no topics by accident."""
    return _PROPERTIES.format(
        directory=directory,
        session=_SESSION_AGAIN if directory.exists() else _SESSION,
        listeners=",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items()),
        protocols=",".join(f"{name}:{name}" for name in ports),
        controller_port=controller,
        config=config,
    )


class Kafka:
    """A broker on free ports of 127.0.0.1; it dies with this process, even on kill -9.

    Args:
        directory: keeps records, configuration and log; a temporary one by default.
        installation: jars; installed where they are not yet.
        options: more options for Java.
        security: what it offers beside PLAINTEXT.

    Attributes:
        brokers: `host:port` for PLAINTEXT, the same after each restart.
        ports: of each listener, by security protocol.
    """

    def __init__(
        self,
        directory: Path | None = None,
        *,
        installation: Installation | None = None,
        options: Sequence[str] = (),
        security: Security = NOTHING_MORE,
    ) -> None:
        self._installation = installation or install()
        self._options = options
        self._temporary = directory is None
        self.directory = directory or Path(tempfile.mkdtemp(prefix="urltree-kafka-"))
        self._security = security
        names = ("PLAINTEXT", *security.listeners)
        self._controller_port, *others = free_ports(1 + len(names))
        self.ports = dict(zip(names, others, strict=True))
        self.brokers = f"127.0.0.1:{self.ports['PLAINTEXT']}"
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
        more = self._security.config
        config.write_text(properties(data, self.ports, self._controller_port, more))
        if not data.exists():
            self._format(data, config)
        archive = f"-XX:SharedArchiveFile={self._installation.archive}"
        options = self._options or (archive, "-Xlog:cds=off", "-Xlog:aot=off")
        options = *options, *self._security.options, "kafka.Kafka", str(config)
        self._child = Child(self._installation.java(*options), self.directory / "server.log")
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

    def _format(self, data: Path, config: Path) -> None:
        """Users are written by formatting, which takes a second; else a formatted copy will do."""
        if users := self._security.scram.items():
            scram = (f"--add-scram=SCRAM-SHA-512=[name={n},password={p}]" for n, p in users)
            self._installation.format(config, *scram)
        else:
            shutil.copytree(self._installation.formatted, data)

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
