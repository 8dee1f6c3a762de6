"""A Kafka broker on loopback that is its own controller (KRaft)."""

from __future__ import annotations

import shutil
import socket
import struct
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from demo.child import ChildError, ChildProcess
from demo.kafka_files import Installation, KafkaError
from demo.ports import free_ports

PATIENCE = 300.0
"""Longest duration of a start in seconds. Usually it takes 2 s, and 10 s on a busy machine."""

# Session timeouts in seconds: the controller takes all partitions from a broker that sends no
# heartbeat for this time. With 3 s, a broker on a machine that paused for 5 s lost its partitions,
# and clients found no partitions. A broker that starts again must wait until its former session
# has ended. So the second timeout, for a broker that has data already, is short.
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
    """The security of a broker's listeners other than PLAINTEXT.

    Attributes:
        listeners: security protocols, such as SASL_SSL.
        config: lines of the broker's configuration for these listeners.
        scram: passwords of SCRAM-SHA-512 users by their names.
        options: options for Java.
    """

    listeners: Sequence[str] = ()
    config: str = ""
    scram: Mapping[str, str] = field(default_factory=dict)
    options: Sequence[str] = ()


PLAINTEXT_ONLY = Security()


def broker_properties(
    directory: Path, ports: Mapping[str, int], controller: int, config: str = ""
) -> str:
    """Return the broker's configuration.

    The broker accepts records of up to 20 MiB and creates no topic automatically.
    """
    return _PROPERTIES.format(
        directory=directory,
        session=_SESSION_AGAIN if directory.exists() else _SESSION,
        listeners=",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items()),
        protocols=",".join(f"{name}:{name}" for name in ports),
        controller_port=controller,
        config=config,
    )


class KafkaBroker:
    """A broker on free ports of 127.0.0.1. It ends when this process ends, even after kill -9.

    Args:
        installation: files of Kafka.
        directory: directory for records, configuration and log; a temporary one by default.
        options: more options for Java.
        security: listeners in addition to PLAINTEXT.

    Attributes:
        brokers: `host:port` for PLAINTEXT, the same after each restart.
        ports: port of each listener by its security protocol.
    """

    def __init__(
        self,
        installation: Installation,
        directory: Path | None = None,
        *,
        options: Sequence[str] = (),
        security: Security = PLAINTEXT_ONLY,
    ) -> None:
        self._installation = installation
        self._options = options
        self._temporary = directory is None
        self.directory = directory or Path(tempfile.mkdtemp(prefix="urltree-kafka-"))
        self._security = security
        names = ("PLAINTEXT", *security.listeners)
        self._controller_port, *others = free_ports(1 + len(names))
        self.ports = dict(zip(names, others, strict=True))
        self.brokers = f"127.0.0.1:{self.ports['PLAINTEXT']}"
        self._child: ChildProcess | None = None

    @property
    def pid(self) -> int:
        """Process id of the running broker."""
        if self._child is None:
            raise KafkaError("the broker is not running: call start() first")
        return self._child.pid

    def start(self) -> None:
        """Start the broker, and wait until it answers.

        Raises:
            KafkaError: the broker ended, or did not answer in time; the message contains the end
                of its log.
        """
        self.launch()
        self.wait_ready()

    def launch(self) -> None:
        """Start the process of the broker, and return at once."""
        self.directory.mkdir(parents=True, exist_ok=True)
        data, config = self.directory / "data", self.directory / "server.properties"
        config.write_text(self._properties(data))
        if not data.exists():
            self._format(data, config)
        archive = f"-XX:SharedArchiveFile={self._installation.archive}"
        options = self._options or (archive, "-Xlog:cds=off", "-Xlog:aot=off")
        options = *options, *self._security.options, "kafka.Kafka", str(config)
        log = self.directory / "server.log"
        self._child = ChildProcess(self._installation.java(*options), log)

    def wait_ready(self) -> None:
        """Wait until the launched broker answers.

        Raises:
            KafkaError: the broker ended, or did not answer in time.
        """
        if self._child is None:
            raise KafkaError("the broker is not running: call start() first")
        try:
            self._child.wait_ready("Kafka", lambda: answers(self.brokers), PATIENCE)
        except ChildError as error:
            raise KafkaError(str(error)) from None

    def stop(self) -> None:
        """Shut the broker down, and remove its directory if it is a temporary one."""
        if self._child:
            self._child.stop()
            self._child = None
        if self._temporary:
            shutil.rmtree(self.directory, ignore_errors=True)

    def kill(self) -> None:
        """Kill the broker with SIGKILL; its directory stays."""
        if self._child:
            self._child.kill()
            self._child = None

    def restart(self) -> None:
        """Start the broker again on the same directory and port; stop it first if it runs."""
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

    def exit_code(self) -> int | None:
        """Return the exit code of a broker that ended by itself, or None."""
        return None if self._child is None else self._child.poll()

    def _properties(self, data: Path) -> str:
        """Return the configuration of the broker, whose records are in `data`."""
        return broker_properties(data, self.ports, self._controller_port, self._security.config)

    def _format(self, data: Path, config: Path) -> None:
        """Make the data directory: copy the prepared one, or format a new one with SCRAM users.

        Formatting takes a second.
        """
        if users := self._security.scram.items():
            scram = (f"--add-scram=SCRAM-SHA-512=[name={n},password={p}]" for n, p in users)
            self._installation.format(config, *scram)
        else:
            shutil.copytree(self._installation.formatted, data)


def answers(brokers: str) -> bool:
    """Return whether the answer to a metadata request lists a broker, so that clients can work.

    An open port is not enough: the answer lists the broker only after the controller has
    registered it.
    """
    host, _, port = brokers.partition(":")
    # Request Metadata (API key 3), version 1, correlation id 1, no client id, zero topics
    request = struct.pack(">hhihi", 3, 1, 1, -1, 0)
    try:
        with socket.create_connection((host, int(port)), timeout=5) as connection:
            connection.sendall(struct.pack(">i", len(request)) + request)
            response = connection.makefile("rb").read(12)
    except OSError:
        return False
    return len(response) == 12 and struct.unpack(">iii", response)[2] > 0
