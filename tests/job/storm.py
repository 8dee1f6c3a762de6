"""A storm: workers and broker are killed while traffic flows, by seed."""

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

SLICE = 100  # pages published at once

_TICK = 0.2  # seconds


class Weather:
    """Workers, their broker, and what may happen to them.

    Args:
        kafka: that may be killed; nobody else's.
        job: on that Kafka.
        seed: of the victims and the moments.
        stages: how many workers each has.
        mortals: stages whose workers are killed, and what their session is, in seconds.
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
        """All workers at once; returns when they are ready."""
        for worker in self.workers:
            worker.start(wait=False)
        for worker in self.workers:
            worker.wait_ready()

    def kill_worker(self, victims: Sequence[Worker]) -> None:
        """Kill -9 one of these, and start it again a moment later."""
        worker = self.random.choice(victims)
        worker.kill()
        if self.random.random() < 0.3:
            worker.wipe()  # its machine is gone
        self.live(self.random.uniform(0, 2))
        worker.start(wait=False)

    def kill_broker(self) -> None:
        """Kill -9 the broker, and start it again a moment later."""
        self.kafka.kill()
        time.sleep(self.random.uniform(0, 2))
        self.kafka.start()

    def busy(self, stage: str) -> Worker:
        """A worker of a stage, as soon as one has records in work."""
        found: list[Worker] = []

        def look() -> bool:
            workers = [one for one in self.workers if one.stage == stage and one.is_ready()]
            found.extend(one for one in workers if one.is_busy())
            self.revive()
            return bool(found)

        wait_until(look, f"a worker of {stage} to be busy")
        return found[0]

    def live(self, seconds: float, but: Worker | None = None) -> None:
        """Let time pass; who ended without being killed is started again, as an operator would."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.revive(but)
            time.sleep(_TICK)

    def revive(self, but: Worker | None = None) -> None:
        """Start those again that have ended."""
        for worker in self.workers:
            if worker is not but and worker.exit_code() is not None:
                worker.start(wait=False)

    def is_through(self, *stages: str) -> bool:
        """Whether these stages have committed all there is; False where nobody can tell."""
        with suppress(KafkaError, SettingsError):  # its coordinator may still be loading
            return not any(self.job.lag(stage) for stage in stages)
        return False

    def logs(self) -> str:
        """What the workers wrote last."""
        return "\n".join(worker.log() for worker in self.workers)


class Storm(Weather):
    """Six workers of normalize and extract, and pages for them.

    Attributes:
        frozen_for: seconds for which a worker was stopped.
    """

    def __init__(self, kafka: Kafka, job: Job, seed: int) -> None:
        stages = ("normalize", "extract")
        super().__init__(
            kafka, job, seed, dict.fromkeys(stages, 3), dict.fromkeys(stages, SHORT_SESSION)
        )
        self.frozen_for = 0.0

    def blow(self, documents: int, kills: int) -> None:
        """Publish, kill, freeze; returns when all is processed."""
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
        """Stop a busy extract worker past its session, and wake it when others have gone on."""
        worker = self.busy("extract")
        worker.freeze()
        since = time.monotonic()
        done = sum(self.job.committed("extract").values())
        self.live(2 * worker.session, but=worker)
        wait_until(lambda: sum(self.job.committed("extract").values()) > done, "others to go on")
        worker.thaw()
        self.frozen_for = time.monotonic() - since

    def _wait_through(self) -> None:
        def is_through() -> bool:
            self.revive()
            return self.is_through("normalize", "extract")

        wait_until(is_through, "all to be through", self.logs, patience=2 * PATIENCE)
