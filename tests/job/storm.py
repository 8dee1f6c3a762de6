"""A storm: kill workers and their broker at random, by a seed, while pages are published."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from random import Random

from aiokafka.errors import KafkaError

from agents.settings.job import SettingsError
from demo.kafka import Kafka
from tests.job.harness import PATIENCE, SHORT_SESSION, Job, Worker, wait_until
from tests.job.kafka_records import keyed
from tests.job.pages import pages

SLICE = 100  # number of pages that are published at once

_TICK = 0.2  # seconds between two checks of the workers


class Weather:
    """Workers and their broker, with the ways in which a storm kills and restarts them.

    Args:
        kafka: the Kafka that may be killed; no other test uses it.
        job: a job on that Kafka.
        seed: seed of the random choice of the workers to kill, and of the times.
        stages: number of workers of each stage.
        mortals: session timeout, in seconds, of the stages whose workers are killed.
    """

    def __init__(
        self,
        kafka: Kafka,
        job: Job,
        seed: int,
        stages: Mapping[str, int],
        mortals: Mapping[str, float],
    ) -> None:
        self.kafka, self.job = kafka, job
        self.random = Random(seed)
        self.seed = seed
        self.workers = [
            job.worker(stage, f"{stage}-{number}", session=mortals.get(stage))
            for stage, several in stages.items()
            for number in range(several)
        ]

    def start(self) -> None:
        """Start all workers at once, and return when they are ready."""
        for worker in self.workers:
            worker.start(wait=False)
        for worker in self.workers:
            worker.wait_ready()

    def kill_worker(self, victims: Sequence[Worker]) -> None:
        """Kill one of these workers with SIGKILL, and start it again up to two seconds later."""
        worker = self.random.choice(victims)
        worker.kill()
        if self.random.random() < 0.3:
            worker.wipe()  # simulates the loss of the worker's machine
        self.live(self.random.uniform(0, 2))
        worker.start(wait=False)

    def kill_broker(self) -> None:
        """Kill the broker with SIGKILL, and start it again up to two seconds later."""
        self.kafka.kill()
        time.sleep(self.random.uniform(0, 2))
        self.kafka.start()

    def busy(self, stage: str) -> Worker:
        """Wait until a worker of a stage is processing records, and return the worker."""
        found: list[Worker] = []

        def look() -> bool:
            workers = [one for one in self.workers if one.stage == stage and one.is_ready()]
            found.extend(one for one in workers if one.is_busy())
            self.revive()
            return bool(found)

        wait_until(look, f"a worker of {stage} to process records")
        return found[0]

    def live(self, seconds: float, but: Worker | None = None) -> None:
        """Wait for `seconds`; meanwhile restart each worker that ends by itself, except `but`."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.revive(but)
            time.sleep(_TICK)

    def revive(self, but: Worker | None = None) -> None:
        """Restart the workers that have ended, except `but`."""
        for worker in self.workers:
            if worker is not but and worker.exit_code() is not None:
                worker.start(wait=False)

    def is_through(self, *stages: str) -> bool:
        """Return whether these stages have committed all records; false if Kafka is unreachable."""
        with suppress(KafkaError, SettingsError):  # the group's coordinator may still be loading
            return not any(self.job.lag(stage) for stage in stages)
        return False

    def logs(self) -> str:
        """Return the last lines of the workers' logs."""
        return "\n".join(worker.log() for worker in self.workers)


class Storm(Weather):
    """A storm with three workers each of normalize and extract, and with pages for them.

    Attributes:
        frozen_for: seconds during which a worker was stopped.
    """

    def __init__(self, kafka: Kafka, job: Job, seed: int) -> None:
        stages = ("normalize", "extract")
        super().__init__(
            kafka, job, seed, dict.fromkeys(stages, 3), dict.fromkeys(stages, SHORT_SESSION)
        )
        self.frozen_for = 0.0

    def blow(self, documents: int, kills: int) -> None:
        """Run the storm: publish pages, and kill and freeze workers.

        Return when all pages are processed.
        """
        self.start()
        traffic = threading.Thread(target=self._publish, args=(documents,))
        traffic.start()
        broker_dies = set(self.random.sample(range(kills), kills // 5))
        for number in range(kills):
            self.live(self.random.uniform(1.5, 4))
            if number == kills // 2:
                self._freeze()
            if number in broker_dies:
                self.kill_broker()
            else:
                self.kill_worker(self.workers)
        while traffic.is_alive():
            self.live(_TICK)
        self._wait_through()

    def _publish(self, documents: int) -> None:
        made = pages(documents, seed=self.seed)
        for start in range(0, documents, SLICE):
            self.job.publish(map(keyed, made[start : start + SLICE]))
            time.sleep(0.3)

    def _freeze(self) -> None:
        """Freeze a busy extract worker until its session has ended and another has committed.

        Then thaw the frozen worker.
        """
        worker = self.busy("extract")
        worker.freeze()
        since = time.monotonic()
        done = sum(self.job.committed("extract").values())
        self.live(2 * worker.session, but=worker)
        wait_until(lambda: sum(self.job.committed("extract").values()) > done, "another commit")
        worker.thaw()
        self.frozen_for = time.monotonic() - since

    def _wait_through(self) -> None:
        def is_through() -> bool:
            self.revive()
            return self.is_through("normalize", "extract")

        wait_until(is_through, "all records to be committed", self.logs, patience=2 * PATIENCE)
