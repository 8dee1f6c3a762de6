"""A job under test: real workers as processes of their own, on a real Kafka."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from agents.commands.audit.command import account
from agents.commands.audit.ledger import Accounts
from agents.commands.topics import apply
from agents.settings.job import Settings
from demo.child import ChildProcess
from demo.ports import free_port
from tests.job.kafka_records import Read, Sent, committed, ends, publish, read_all, run

ROOT = Path(__file__).parents[2]
RUNNER = Path(__file__).with_name("runner.py")
PATIENCE = 300.0  # seconds; machines that are busy took twenty times as long as usual
READS = {
    "poll": ("feeds", "poll-outcomes"),
    "fetch": ("fetches",),
    "normalize": ("raw-html",),
    "extract": ("documents",),
}

MISSED = 3.0  # seconds after which the death of a worker that is meant to die is noticed

# Who is to live keeps its session: a machine that stood still for a moment took one of 3 s from a
# worker, whose pages were then said again.
QUICK = {
    "URLTREE_SESSION_SECONDS": "60",
    "URLTREE_COMMIT_SECONDS": "0.5",
    "URLTREE_DELIVERY_SECONDS": "120",
    "URLTREE_SHUTDOWN_SECONDS": "120",
    "URLTREE_STALL_SECONDS": "600",
}


class Worker:
    """A worker process with a disk of its own, which it finds again when it is started again.

    Args:
        job: whose topics and settings it has.
        stage: one of READS.
        name: of its disk; sites see it too, as the contact in its User-Agent.
        fault: arguments of `runner.py`: where the process is to stop or to die; none by default.
        session: seconds of silence after which its group goes on without it; the job's by default,
            and MISSED with a fault.
    """

    def __init__(
        self,
        job: Job,
        stage: str,
        name: str,
        fault: Sequence[str] = (),
        session: float | None = None,
    ) -> None:
        self.job, self.stage, self.name, self.fault = job, stage, name, tuple(fault)
        self.session = session or (MISSED if fault else job.settings.session_seconds)
        self.disk = job.directory / name
        self.port = free_port()
        self._child: ChildProcess | None = None

    @property
    def pid(self) -> int:
        """Of the running process."""
        if self._child is None:
            raise AssertionError(f"{self.name} is not running")
        return self._child.pid

    def start(self, *, wait: bool = True) -> Self:
        """Start the process; returns when it is ready, unless `wait` is false."""
        program = [str(RUNNER), *self.fault] if self.fault else ["-m", "agents"]
        environment = {
            **os.environ,
            **self.job.environment,
            "URLTREE_SESSION_SECONDS": str(self.session),
            "PYTHONPATH": str(ROOT),
            "URLTREE_DATA_DIR": str(self.disk),
            "URLTREE_WEB_PORT": str(self.port),
            "URLTREE_CONTACT": self.name,
        }
        self._child = ChildProcess(
            [sys.executable, *program, "worker", self.stage],
            self.job.directory / f"{self.name}.log",
            environment,
        )
        if wait:
            self.wait_ready()
        return self

    def is_ready(self) -> bool:
        """What /readyz says."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=2) as got:
                return bool(got.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def wait_ready(self) -> None:
        """Until it has its partitions and their tables."""
        wait_until(self.is_ready, f"{self.name} to be ready", self.log, self.exit_code)

    def exit_code(self) -> int | None:
        """None while it runs."""
        return None if self._child is None else self._child.poll()

    def wait_end(self) -> int:
        """Until it has ended by itself; its exit code."""
        wait_until(lambda: self.exit_code() is not None, f"{self.name} to end", self.log)
        code = self.exit_code()
        self.kill()
        assert code is not None
        return code

    def stop(self) -> None:
        """SIGTERM, and wait."""
        if self._child is not None:
            self._child.stop(PATIENCE)
            self._child = None

    def kill(self) -> None:
        """SIGKILL."""
        if self._child is not None:
            self._child.kill()
            self._child = None

    def freeze(self) -> None:
        """SIGSTOP: it does nothing, and does not know."""
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """SIGCONT."""
        os.kill(self.pid, signal.SIGCONT)

    def is_frozen(self) -> bool:
        """Whether it is stopped by a signal."""
        status = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0]
        return status == "T"

    def is_busy(self) -> bool:
        """Whether records are in work; not if it has just ended."""
        try:
            return self.metric("urltree_in_flight") > 0
        except OSError:
            return False

    def metric(self, name: str) -> float:
        """A value of /metrics, with its labels if it has some; 0 where it is not there."""
        with urllib.request.urlopen(
            f"http://127.0.0.1:{self.port}/metrics", timeout=PATIENCE
        ) as got:
            lines = got.read().decode().splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith(f"{name} "))

    def open_partitions(self, table: str) -> list[int]:
        """The partitions of a table whose databases the process has open."""
        files = [os.path.realpath(fd) for fd in Path(f"/proc/{self.pid}/fd").iterdir()]
        pattern = re.compile(rf"/{table}-(\d+)\.db/LOCK$")
        return sorted(int(found[1]) for file in files if (found := pattern.search(file)))

    def wipe(self) -> None:
        """Delete its disk."""
        shutil.rmtree(self.disk, ignore_errors=True)

    def log(self) -> str:
        """The last lines that it wrote."""
        return self._child.tail(40) if self._child else ""


class Job:
    """Topics of a test's own, and the workers that it starts; all end with the test.

    Args:
        brokers: of a running Kafka.
        prefix: of topics and groups.
        directory: for disks and logs.
        settings: more of the environment, in the names of `agents.settings.job`, lower case.
    """

    def __init__(self, brokers: str, prefix: str, directory: Path, **settings: object) -> None:
        given = {f"URLTREE_{name.upper()}": str(value) for name, value in settings.items()}
        self.environment = {
            "URLTREE_BROKERS": brokers,
            "URLTREE_PREFIX": prefix,
            **QUICK,
            **given,
        }
        self.directory = directory
        self.settings = Settings.model_validate(
            {name.removeprefix("URLTREE_").lower(): v for name, v in self.environment.items()}
        )
        self.workers: list[Worker] = []

    def __enter__(self) -> Self:
        run(apply(self.settings))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for worker in self.workers:
            worker.kill()

    def worker(
        self,
        stage: str,
        name: str = "",
        fault: Sequence[str] = (),
        session: float | None = None,
    ) -> Worker:
        """A worker, not started yet."""
        worker = Worker(self, stage, name or stage, fault, session)
        self.workers.append(worker)
        return worker

    def command(self, *arguments: str) -> dict[str, Any]:
        """What an operator's command prints as JSON."""
        done = subprocess.run(
            [sys.executable, "-m", "agents", *arguments, "--json"],
            cwd=ROOT,
            env={**os.environ, **self.environment},
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def audit(self) -> Accounts:
        """What became of every page, as the command says it; a process of its own starts slowly."""
        return run(account(self.settings))

    def publish(self, records: Iterable[Sent], topic: str = "raw-html") -> list[str]:
        """Publish in order; the origins."""
        return run(publish(self.settings, topic, records))

    def read(self, topic: str) -> list[Read]:
        """All that a topic holds now."""
        return run(read_all(self.settings, topic))

    def committed(self, stage: str, topic: str = "") -> Mapping[int, int]:
        """What a stage has committed, by partition, of its first topic or another of them."""
        return run(committed(self.settings, stage, topic or READS[stage][0]))

    def lag(self, stage: str) -> int:
        """Records of its topics that a stage has not committed yet."""
        done = sum(sum(self.committed(stage, topic).values()) for topic in READS[stage])
        there = sum(sum(run(ends(self.settings, topic)).values()) for topic in READS[stage])
        return there - done

    def wait_through(self, *stages: str, patience: float = PATIENCE) -> None:
        """Until these stages, both by default, have committed all there is."""
        stages = stages or ("normalize", "extract")
        wait_until(
            lambda: not any(self.lag(stage) for stage in stages),
            f"{' and '.join(stages)} to be through",
            lambda: "\n".join(worker.log() for worker in self.workers),
            patience=patience,
        )


def wait_until(
    holds: Callable[[], bool],
    what: str,
    log: Callable[[], str] = str,
    exit_code: Callable[[], int | None] = lambda: None,
    *,
    patience: float = PATIENCE,
) -> None:
    """Until something holds; fails with the log when it takes too long, or the process ended."""
    deadline = time.monotonic() + patience
    while not holds():
        code = exit_code()
        if code is not None:
            raise AssertionError(f"waiting for {what}: ended with {code}\n{log()}")
        if time.monotonic() > deadline:
            raise AssertionError(f"waiting for {what}: {patience:.0f} s are over\n{log()}")
        time.sleep(0.1)
