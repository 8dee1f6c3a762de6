"""A storm: workers and broker are killed while traffic flows, by seed."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from random import Random

from aiokafka.errors import KafkaError

from agents.settings import SettingsError
from demo.kafka import Kafka
from tests.job.harness import PATIENCE, Job, Worker, wait_until
from tests.job.kafka_records import keyed
from tests.job.pages import pages

SLICE = 100  # pages published at once

_TICK = 0.2  # seconds


class Storm:
    """Six workers, their broker, and what happens to them.

    Args:
        kafka: that may be killed; nobody else's.
        job: on that Kafka.
        seed: of the pages, the victims and the moments.
    """

    def __init__(self, kafka: Kafka, job: Job, seed: int) -> None:
        self.kafka, self.job = kafka, job
        self.random = Random(seed)
        self.seed = seed
        self.frozen_for = 0.0
        self.workers = [
            job.worker(stage, f"{stage}-{number}")
            for stage in ("normalize", "extract")
            for number in range(3)
        ]

    def blow(self, documents: int, kills: int) -> None:
        """Publish, kill, freeze; returns when all is processed."""
        for worker in self.workers:
            worker.start(wait=False)
        for worker in self.workers:
            worker.wait_ready()
        traffic = threading.Thread(target=self._publish, args=(documents,))
        traffic.start()
        broker_dies = set(self.random.sample(range(kills), kills // 5))
        for number in range(kills):
            self._live(self.random.uniform(1.5, 4))
            if number == kills // 2:
                self._freeze()
            if number in broker_dies:
                self._kill_broker()
            else:
                self._kill_worker()
        while traffic.is_alive():
            self._live(_TICK)
        self._wait_through()

    def _publish(self, documents: int) -> None:
        made = pages(documents, seed=self.seed)
        for start in range(0, documents, SLICE):
            self.job.publish(map(keyed, made[start : start + SLICE]))
            time.sleep(0.3)

    def _kill_worker(self) -> None:
        worker = self.random.choice(self.workers)
        worker.kill()
        if self.random.random() < 0.3:
            worker.wipe()  # its machine is gone
        self._live(self.random.uniform(0, 2))
        worker.start(wait=False)

    def _kill_broker(self) -> None:
        self.kafka.kill()
        time.sleep(self.random.uniform(0, 2))
        self.kafka.start()

    def _freeze(self) -> None:
        """Stop a busy extract worker past its session, and wake it when others have gone on."""
        worker = self._busy()
        worker.freeze()
        since = time.monotonic()
        done = sum(self.job.committed("extract").values())
        self._live(2 * self.job.settings.session_seconds, but=worker)
        wait_until(lambda: sum(self.job.committed("extract").values()) > done, "others to go on")
        worker.thaw()
        self.frozen_for = time.monotonic() - since

    def _busy(self) -> Worker:
        """An extract worker with records in work."""
        found: list[Worker] = []

        def look() -> bool:
            extract = [one for one in self.workers if one.stage == "extract" and one.is_ready()]
            found.extend(one for one in extract if one.is_busy())
            _start_again(self.workers)
            return bool(found)

        wait_until(look, "an extract worker to be busy")
        return found[0]

    def _live(self, seconds: float, but: Worker | None = None) -> None:
        """Let time pass; who ended without being killed is started again, as an operator would."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            _start_again([worker for worker in self.workers if worker is not but])
            time.sleep(_TICK)

    def _wait_through(self) -> None:
        def is_through() -> bool:
            _start_again(self.workers)
            with suppress(KafkaError, SettingsError):  # its coordinator may still be loading
                return not self.job.lag("normalize") and not self.job.lag("extract")
            return False

        logs = "\n".join(worker.log() for worker in self.workers)
        wait_until(is_through, "all to be through", lambda: logs, patience=2 * PATIENCE)


def _start_again(workers: Sequence[Worker]) -> None:
    for worker in workers:
        if worker.exit_code() is not None:
            worker.start(wait=False)
