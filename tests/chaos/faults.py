"""Carry out the faults of a plan on workers, brokers, network, disks, clock and topics."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from aiokafka.errors import KafkaError as ClientError
from aiokafka.protocol.admin import AlterPartitionReassignmentsRequest
from confluent_kafka import ElectionType, KafkaException
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourcePatternType,
    ResourceType,
)

from agents.kafka.client import admin
from demo.kafka_files import Installation
from tests.chaos.disks import SmallDisk
from tests.chaos.plan import Fault, Kind, Plan
from tests.chaos.proxy import DOWN, HOST, SOURCE, UP, Proxies
from tests.job.harness import Job, Worker
from tests.three_brokers import Node, ThreeBrokers

CLOCK = Path(__file__).with_name("clock.py")
PATIENCE = 120.0  # longest wait until a fault is over for the cluster, in seconds

LATE = 10.0  # seconds after the end of the load in which a late fault is still injected

_TICK = 0.2
_AGAIN = 1.0  # seconds until a process that ended by itself is started again
_WORDS = 500  # largest number of characters of a line of a log that is kept
_LIMIT = "max.message.bytes"
_WRITES = {
    "poll": "fetches",
    "fetch": "raw-html",
    "normalize": "documents",
    "extract": "clean-text",
}


@dataclass
class Done:
    """A fault that was carried out, with times by `time.monotonic`.

    Attributes:
        end: time at which its cause was taken away.
        skipped: why it was not carried out, else None.
    """

    fault: Fault
    start: float
    end: float
    skipped: str | None = None


class SkippedError(Exception):
    """A fault cannot be injected here; the message says why."""


@dataclass
class Injector:
    """The faults of a schedule, and a supervisor that starts again what has ended.

    Attributes:
        releases: files of the present and, if there is one, of the previous release of Kafka.
        disks: the small disks by the name of a worker or of a broker.
        done: faults so far.
        ends: number of ends of a process that no fault has asked for, by name and exit code.
        last_words: for each such end of a worker, the last line of its log.
    """

    plan: Plan
    cluster: ThreeBrokers
    proxies: Proxies
    job: Job
    releases: Sequence[Installation]
    disks: Mapping[str, SmallDisk]
    done: list[Done] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)
    last_words: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Make the locks and the threads of the two rows of faults."""
        self._workers = {worker.name: worker for worker in self.job.workers}
        self._lock = threading.RLock()
        self._held: set[str] = set()
        self._ended: dict[str, float] = {}
        self._over = threading.Event()
        self.errors: list[BaseException] = []
        self._threads = [
            threading.Thread(target=self._row, args=(row,), name=name)
            for name, row in (("workers", self.plan.workers), ("brokers", self.plan.brokers))
        ]
        self._supervisor = threading.Thread(target=self._supervise, name="supervisor")

    def start(self) -> None:
        """Begin with the faults."""
        self._started = time.monotonic()
        self._supervisor.start()
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        """Wait until all faults are over."""
        for thread in self._threads:
            thread.join()

    def stop(self) -> None:
        """End the supervisor."""
        self._over.set()
        for thread in (*self._threads, self._supervisor):
            if thread.ident is not None:
                thread.join()

    def active(self, start: float, end: float, after: float = 10.0) -> list[Fault]:
        """Return the faults in a span of time, or that ended up to `after` seconds before it."""
        return [
            one.fault
            for one in self.done
            if one.skipped is None and one.start <= end and one.end + after >= start
        ]

    def _row(self, row: Sequence[Fault]) -> None:
        for fault in row:
            wait = self._started + fault.at - time.monotonic()
            if self._over.wait(max(0.0, wait)):
                return
            done = Done(fault, time.monotonic(), 0.0)
            self.done.append(done)
            try:
                self._inject(fault)
            except SkippedError as error:
                done.skipped = str(error)
            except Exception as error:  # noqa: BLE001 - a fault that fails must not hide the others
                done.skipped = f"failed: {type(error).__name__}: {error}"
                self.errors.append(error)
            done.end = time.monotonic()

    def _inject(self, fault: Fault) -> None:
        if time.monotonic() > self._started + self.plan.seconds + LATE:
            raise SkippedError("the faults before it lasted until after the load")
        act: dict[Kind, Callable[[Fault], None]] = {
            Kind.KILL_WORKER: self._kill_worker,
            Kind.LOSE_WORKER: self._kill_worker,
            Kind.FREEZE_WORKER: self._freeze_worker,
            Kind.RESTART_WORKER: lambda one: self._restart_worker(one.target),
            Kind.ROLL_WORKERS: self._roll_workers,
            Kind.CUT: lambda one: self._weather(one, self.proxies.cut),
            Kind.DELAY: lambda one: self._weather(one, lambda: self.proxies.delay(one.detail)),
            Kind.HOLD_UP: lambda one: self._weather(one, lambda: self._hold(UP)),
            Kind.HOLD_DOWN: lambda one: self._weather(one, lambda: self._hold(DOWN)),
            Kind.FULL_WORKER: self._fill_worker,
            Kind.CLOCK: self._clock,
            Kind.REVOKE: self._revoke,
            Kind.KILL_BROKER: self._kill_broker,
            Kind.KILL_BROKERS: self._kill_brokers,
            Kind.FREEZE_BROKER: self._freeze_broker,
            Kind.RESTART_BROKER: lambda one: self._restart_broker(self._node(one.target)),
            Kind.ROLL_BROKERS: self._roll_brokers,
            Kind.MOVE_LEADERS: self._move_leaders,
            Kind.FULL_BROKER: self._fill_broker,
            Kind.SMALL_RECORDS: self._small_records,
        }
        act[fault.kind](fault)

    # Workers

    def _kill_worker(self, fault: Fault) -> None:
        worker = self._workers[fault.target]
        with self._held_down(worker.name):
            worker.kill()
            if fault.kind is Kind.LOSE_WORKER:
                _wipe(worker)
            self._sleep(fault.seconds)
            worker.start(wait=False)

    def _freeze_worker(self, fault: Fault) -> None:
        worker = self._running(fault.target)
        with suppress(ProcessLookupError, AssertionError):
            worker.freeze()
            self._sleep(fault.seconds)
            worker.thaw()

    def _restart_worker(self, name: str) -> None:
        worker = self._workers[name]
        with self._held_down(name):
            worker.stop()
            worker.start(wait=False)

    def _roll_workers(self, fault: Fault) -> None:
        for worker in self.job.workers:
            if worker.stage == fault.target and not self._over.is_set():
                self._restart_worker(worker.name)
                self._wait(worker.is_ready)

    def _clock(self, fault: Fault) -> None:
        worker = self._workers[fault.target]
        right = worker.program
        for program in ([str(CLOCK), str(fault.detail)], right):
            with self._held_down(worker.name):
                worker.kill()
                worker.program = program
                worker.start(wait=False)
            if program is not right:
                self._sleep(fault.seconds)

    # The network of one worker

    def _weather(self, fault: Fault, begin: Callable[[], None]) -> None:
        begin()
        self._sleep(fault.seconds)
        self.proxies.heal()

    def _hold(self, direction: str) -> None:
        # every second time the connections are reset at the end, as by a firewall
        self.proxies.hold(direction, lossy=len(self.done) % 2 == 0)

    def _revoke(self, fault: Fault) -> None:
        if SOURCE == HOST:
            raise SkippedError("this system has no second loopback address for the proxies")
        topic = _WRITES[self._workers[fault.target].stage]
        client = self.cluster.admin()
        for host, operation, permission in (
            ("*", AclOperation.ALL, AclPermissionType.ALLOW),
            (SOURCE, AclOperation.WRITE, AclPermissionType.DENY),
        ):
            place = ResourceType.TOPIC, topic, ResourcePatternType.LITERAL
            binding = AclBinding(*place, "User:*", host, operation, permission)
            self._ask(lambda binding=binding: client.create_acls([binding]))
        self._sleep(fault.seconds)
        all_ = AclBindingFilter(
            ResourceType.TOPIC,
            topic,
            ResourcePatternType.LITERAL,
            None,
            None,
            AclOperation.ANY,
            AclPermissionType.ANY,
        )
        self._ask(lambda: client.delete_acls([all_]))

    # Disks

    def _disk(self, name: str) -> SmallDisk:
        disk = self.disks[name]
        if disk.problem is not None:
            raise SkippedError(disk.problem)
        return disk

    def _fill_worker(self, fault: Fault) -> None:
        """Fill the disk, and kill the worker after half of the time: it starts on a full disk."""
        disk, worker = self._disk(fault.target), self._workers[fault.target]
        disk.fill()
        self._sleep(fault.seconds / 2)
        with self._held_down(worker.name):
            worker.kill()
            worker.start(wait=False)
        self._sleep(fault.seconds / 2)
        disk.free()

    def _fill_broker(self, fault: Fault) -> None:
        disk, node = self._disk(f"broker {fault.target}"), self._node(fault.target)
        disk.fill()
        self._sleep(fault.seconds)
        disk.free()
        self._sleep(1)
        with self._held_down(f"broker {node.number}"):
            if not node.is_running:
                node.kill()
                node.start()
        self._wait_all()

    # Brokers

    def _kill_broker(self, fault: Fault) -> None:
        node = self._node(fault.target)
        with self._held_down(f"broker {node.number}"):
            node.kill()
            self._sleep(fault.seconds)
            node.start()
        self._wait_all()

    def _kill_brokers(self, fault: Fault) -> None:
        """Kill the majority: Kafka elects no leader and takes no record until one is back."""
        dying = [node for node in self.cluster.nodes if node is not self._node(fault.target)]
        with ExitStack() as stack:
            for node in dying:
                stack.enter_context(self._held_down(f"broker {node.number}"))
                node.kill()
            self._sleep(fault.seconds)
            for node in dying:
                node.launch()
            for node in dying:
                node.wait_ready()
        self._wait_all()

    def _freeze_broker(self, fault: Fault) -> None:
        node = self._node(fault.target)
        node.freeze()
        self._sleep(fault.seconds)
        node.thaw()
        self._wait_all()

    def _restart_broker(self, node: Node) -> None:
        with self._held_down(f"broker {node.number}"):
            node.end()
            if self.plan.previous and len(self.releases) > 1:
                node.run_with(self.releases[node.release == self.releases[0]])
            node.start()
        self._wait_all()

    def _roll_brokers(self, _: Fault) -> None:
        for node in self.cluster.nodes:
            if not self._over.is_set():
                self._restart_broker(node)

    # Topics

    def _move_leaders(self, _: Fault) -> None:
        """Move the first replica of each partition to the end, and elect the new first one."""
        client = self.cluster.admin()
        topics = client.list_topics(timeout=30).topics
        orders = {
            name: {number: one.replicas for number, one in topic.partitions.items()}
            for name, topic in topics.items()
        }
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                asyncio.run(self._reassign(orders))
                break
            except ClientError:  # a broker is not back yet
                if time.monotonic() > deadline:
                    raise
                self._sleep(1)
        with suppress(KafkaException):  # partitions whose leader was elected already
            client.elect_leaders(ElectionType.PREFERRED).result()

    async def _reassign(self, orders: Mapping[str, Mapping[int, Sequence[int]]]) -> None:
        topics = [
            (name, [(number, [*r[1:], r[0]], {}) for number, r in partitions.items()], {})
            for name, partitions in orders.items()
        ]
        async with admin(self.job.settings) as client:
            request = AlterPartitionReassignmentsRequest(30_000, topics, {})
            await client._send_request(request)

    def _small_records(self, fault: Fault) -> None:
        resource = ConfigResource(ConfigResource.Type.TOPIC, fault.target)
        client = self.cluster.admin()
        (future,) = client.describe_configs([resource]).values()
        before = future.result(timeout=60)[_LIMIT].value
        for value in (str(int(fault.detail)), before):
            entry = ConfigEntry(_LIMIT, value, incremental_operation=AlterConfigOpType.SET)
            changed = ConfigResource(
                ConfigResource.Type.TOPIC, fault.target, incremental_configs=[entry]
            )
            self._ask(lambda changed=changed: client.incremental_alter_configs([changed]))
            if value != before:
                self._sleep(fault.seconds)

    # Help

    def _ask(self, request: Callable[[], Mapping[object, object]]) -> None:
        """Send a request to Kafka until it is answered, because a broker may be down."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                for future in request().values():
                    future.result()  # type: ignore[attr-defined]
            except KafkaException:
                if time.monotonic() > deadline:
                    raise
                self._sleep(1)
            else:
                return

    def _node(self, target: str) -> Node:
        return self.cluster.nodes[int(target) - 1]

    def _running(self, name: str) -> Worker:
        worker = self._workers[name]
        self._wait(lambda: worker.is_running)
        return worker

    def _wait(self, holds: Callable[[], bool], patience: float = 60.0) -> None:
        deadline = time.monotonic() + patience
        while not holds() and time.monotonic() < deadline and not self._over.is_set():
            time.sleep(_TICK)

    def _wait_all(self) -> None:
        self._wait(lambda: len(self.cluster.alive()) == len(self.cluster.nodes), PATIENCE)

    def _sleep(self, seconds: float) -> None:
        self._over.wait(seconds)

    @contextmanager
    def _held_down(self, name: str) -> Iterator[None]:
        """Keep the supervisor from starting a process meanwhile."""
        with self._lock:
            self._held.add(name)
        try:
            yield
        finally:
            with self._lock:
                self._held.discard(name)
                self._ended.pop(name, None)

    def _supervise(self) -> None:
        """Start again every process that has ended by itself, as Kubernetes does."""
        while not self._over.wait(_TICK):
            for worker in self.job.workers:
                with self._lock:
                    if worker.name not in self._held and worker.exit_code() is not None:
                        self._revive(worker.name, worker.exit_code(), worker)
            for node in self.cluster.nodes:
                name = f"broker {node.number}"
                with self._lock:
                    if name not in self._held and node.exit_code() is not None:
                        self._revive(name, node.exit_code(), node)

    def _revive(self, name: str, code: int | None, process: Worker | Node) -> None:
        now = time.monotonic()
        if name not in self._ended:
            self._ended[name] = now
            self.ends[f"{name}: {code}"] += 1
            last = process.log().splitlines()[-1:]
            self.last_words += [f"{now - self._started:.1f} s {name}: {code}: {last}"[:_WORDS]]
        elif now - self._ended[name] >= _AGAIN:
            del self._ended[name]
            process.kill()
            if isinstance(process, Worker):
                process.start(wait=False)
            else:
                process.launch()


def _wipe(worker: Worker) -> None:
    """Delete what is on a worker's disk; the disk itself may be a mount."""
    if worker.disk.is_mount():
        for path in worker.disk.iterdir():
            _remove(path)
    else:
        worker.wipe()


def _remove(path: Path) -> None:
    if path.is_dir():
        for each in path.iterdir():
            _remove(each)
        path.rmdir()
    else:
        path.unlink()
