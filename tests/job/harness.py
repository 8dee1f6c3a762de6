"""A job under test: real workers on a real Kafka.

Workers that a test kills or stops run in their own processes. All other workers may run in the
process of the test (`Worker.work_here`), because starting a process takes two seconds, mostly for
imports.
"""

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
from agents.extract import Extract
from agents.kafka.delivery import OnFailure
from agents.normalize import Normalize
from agents.settings.job import Settings
from agents.stage import MakeStage, Stage
from demo.child import ChildProcess
from demo.ports import free_port
from tests import child_process
from tests.agents.limits import OF_STAGES, environment
from tests.agents.workers import has_partitions, idle, started, until, work
from tests.job.kafka_records import (
    Read,
    Sent,
    committed,
    ends,
    publish,
    read_all,
    remove_members,
    run,
)

ROOT = Path(__file__).parents[2]
RUNNER = Path(__file__).with_name("runner.py")
PATIENCE = 300.0  # longest wait in seconds; on a busy machine, tests took 20 times as long as usual
READS = {
    "poll": ("feeds", "poll-outcomes"),
    "fetch": ("fetches",),  # not requests: while feeds are polled, one of these always waits
    "normalize": ("raw-html",),
    "extract": ("documents",),
}

MAKES: dict[str, MakeStage] = {"normalize": Normalize, "extract": Extract}

# Session timeout, in seconds, of workers that a test freezes, or kills without removing them from
# their group. All other workers have a long timeout: with 3 s, a short pause of the whole machine
# ended the session of a worker, and the worker's pages were published again.
SHORT_SESSION = 3.0

# Settings of all workers. They commit often, so that tests need not wait for commits.
ENVIRONMENT = environment({**OF_STAGES, "commit_seconds": 0.5})


class Worker:
    """A worker with its own disk, which it uses again after a restart.

    Args:
        job: the job whose topics and settings the worker uses.
        stage: name of the stage, a key of READS.
        name: name of the worker, of its disk, and of the contact in its User-Agent.
        fault: arguments of `runner.py`, which say where the process stops or dies.
        session: session timeout in seconds; by default SHORT_SESSION for a worker that `runner.py`
            stops, and the job's session timeout for all others.

    Attributes:
        disk: directory of the tables, used from the next start on.
        program: arguments of Python that run `agents`, used from the next start on.
        environment: environment variables of this worker alone, used from the next start on.
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
        by_default = SHORT_SESSION if "stop" in fault else job.settings.session_seconds
        self.session = session or by_default
        self.disk = job.directory / name
        self.port = free_port()
        self.program: Sequence[str] = [str(RUNNER), *fault] if fault else ["-m", "agents"]
        self.environment: dict[str, str] = {}
        self._child: ChildProcess | None = None

    @property
    def pid(self) -> int:
        """Id of the running process."""
        if self._child is None:
            raise AssertionError(f"{self.name} is not running")
        return self._child.pid

    def start(self, *, wait: bool = True) -> Self:
        """Start the process, and wait until the worker is ready, unless `wait` is false."""
        own = {
            "URLTREE_SESSION_SECONDS": str(self.session),
            "URLTREE_DATA_DIR": str(self.disk),
            "URLTREE_WEB_PORT": str(self.port),
            "URLTREE_CONTACT": self.name,
        }
        self._child = ChildProcess(
            [sys.executable, *self.program, "worker", self.stage],
            self.job.directory / f"{self.name}.log",
            {**child_process.environment(), **self.job.environment, **own, **self.environment},
        )
        if wait:
            self.wait_ready()
        return self

    def work_here(self) -> None:
        """Process all records of the stage's topics in the test's process, on the worker's disk."""
        assert not self.fault, "a fault ends the process"
        work(self.job.settings, self.make)

    def make(self, _: Settings, on_failure: OnFailure) -> Stage:
        """Make the worker's stage, with the worker's disk, for the process of the test."""
        settings = self.job.settings_with(data_dir=self.disk)
        return MAKES[self.stage](settings, on_failure)

    def is_ready(self) -> bool:
        """Return whether the worker answers on /readyz that it processes records."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=2) as got:
                return bool(got.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def wait_ready(self) -> None:
        """Wait until the worker has its partitions and has recovered their tables."""
        wait_until(self.is_ready, f"{self.name} to be ready", self.log, self.exit_code)

    def exit_code(self) -> int | None:
        """Return the exit code of the process, or None while it runs."""
        return None if self._child is None else self._child.poll()

    def wait_end(self) -> int:
        """Wait until the process has ended by itself, and return its exit code.

        If no worker of the stage is running, remove all members from its group. Otherwise tests
        would have to wait until the session of the dead worker ends.
        """
        wait_until(lambda: self.exit_code() is not None, f"{self.name} to end", self.log)
        code = self.exit_code()
        self.kill()
        assert code is not None
        if not any(one.is_running for one in self.job.workers if one.stage == self.stage):
            run(remove_members(self.job.settings, self.stage))
        return code

    @property
    def is_running(self) -> bool:
        """Whether the process of the worker was started and has not ended."""
        return self._child is not None and self.exit_code() is None

    def stop(self) -> None:
        """Send SIGTERM to the process, and wait for its end."""
        if self._child is not None:
            self._child.stop(PATIENCE)
            self._child = None

    def kill(self) -> None:
        """Kill the process with SIGKILL."""
        if self._child is not None:
            self._child.kill()
            self._child = None

    def freeze(self) -> None:
        """Stop the process with SIGSTOP."""
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Continue the stopped process with SIGCONT."""
        os.kill(self.pid, signal.SIGCONT)

    def is_frozen(self) -> bool:
        """Return whether the process is stopped by a signal."""
        status = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0]
        return status == "T"

    def is_busy(self) -> bool:
        """Return whether the process is processing records; false if it does not answer."""
        try:
            return self.metric("urltree_in_flight") > 0
        except OSError:
            return False

    def metric(self, name: str) -> float:
        """Return the value of a metric, or 0 if it is missing; the name includes all labels."""
        with urllib.request.urlopen(
            f"http://127.0.0.1:{self.port}/metrics", timeout=PATIENCE
        ) as got:
            lines = got.read().decode().splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith(f"{name} "))

    def open_partitions(self, table: str) -> list[int]:
        """Return the partitions of a table whose databases the process has open."""
        files = [os.path.realpath(fd) for fd in Path(f"/proc/{self.pid}/fd").iterdir()]
        pattern = re.compile(rf"/{table}-(\d+)\.db/LOCK$")
        return sorted(int(found[1]) for file in files if (found := pattern.search(file)))

    def wipe(self) -> None:
        """Delete the worker's disk."""
        shutil.rmtree(self.disk, ignore_errors=True)

    def log(self) -> str:
        """Return the last 40 lines of the worker's log."""
        return self._child.tail(40) if self._child else ""


class Job:
    """A job with its own topics, and its workers, which are killed at the end of the test.

    Args:
        brokers: brokers of a running Kafka.
        prefix: prefix of the names of topics and groups.
        directory: directory for disks and logs.
        settings: further settings, by their names in `agents.settings.job`.

    Attributes:
        environment: environment variables of workers; a change applies to workers started later.
        settings: settings that the test itself uses.
    """

    def __init__(self, brokers: str, prefix: str, directory: Path, **settings: object) -> None:
        given = {f"URLTREE_{name.upper()}": str(value) for name, value in settings.items()}
        self.environment = {
            "URLTREE_BROKERS": brokers,
            "URLTREE_PREFIX": prefix,
            **ENVIRONMENT,
            **given,
        }
        self.directory = directory
        self.settings = self.settings_with()
        self.workers: list[Worker] = []

    def settings_with(self, **given: object) -> Settings:
        """Return the settings in `environment`, overridden by the given ones."""
        set_ = {name.removeprefix("URLTREE_").lower(): v for name, v in self.environment.items()}
        return Settings.model_validate({**set_, **given})

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
        """Return a new worker, which is not started yet."""
        worker = Worker(self, stage, name or stage, fault, session)
        self.workers.append(worker)
        return worker

    def command(self, *arguments: str) -> dict[str, Any]:
        """Run an operator's command, and return the JSON that the command prints."""
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
        """Return the result of `agents audit`, computed in the process of the test."""
        return run(account(self.settings))

    def publish(self, records: Iterable[Sent], topic: str = "raw-html") -> list[str]:
        """Publish records in order, and return their origins."""
        return run(publish(self.settings, topic, records))

    def process_here(self, records: Iterable[Sent], *workers: Worker) -> list[str]:
        """Publish pages, and let workers process them in the process of the test.

        All workers have their partitions before the first page is published.

        Returns:
            The origins of the pages.
        """

        async def process() -> list[str]:
            async with started(self.settings, *(worker.make for worker in workers)) as stages:
                await until(lambda: all(map(has_partitions, stages)))
                origins = await publish(self.settings, "raw-html", records)
                await idle(stages)
            return origins

        return run(process())

    def read(self, topic: str) -> list[Read]:
        """Return all records that a topic contains now."""
        return run(read_all(self.settings, topic))

    def committed(self, stage: str, topic: str = "") -> Mapping[int, int]:
        """Return the committed offsets of a stage by partition, by default of its first topic."""
        return run(committed(self.settings, stage, topic or READS[stage][0]))

    def lag(self, stage: str) -> int:
        """Return the number of records that a stage has not committed yet."""
        done = sum(sum(self.committed(stage, topic).values()) for topic in READS[stage])
        there = sum(sum(run(ends(self.settings, topic)).values()) for topic in READS[stage])
        return there - done

    def wait_through(self, *stages: str, patience: float = PATIENCE) -> None:
        """Wait until these stages (normalize and extract by default) have committed all records."""
        stages = stages or ("normalize", "extract")
        wait_until(
            lambda: not any(self.lag(stage) for stage in stages),
            f"{' and '.join(stages)} to commit all records",
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
    """Wait until a condition is true; fail with the log if that takes too long or the process ends.

    Args:
        holds: the condition.
        what: description of the condition, for the error message.
        log: function that returns the log of the processes.
        exit_code: function that returns the exit code of the process, None while it runs.
        patience: seconds after which the test fails.
    """
    deadline = time.monotonic() + patience
    while not holds():
        code = exit_code()
        if code is not None:
            raise AssertionError(f"waiting for {what}: the process ended with {code}\n{log()}")
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {patience:.0f} s in vain for {what}\n{log()}")
        time.sleep(0.1)
