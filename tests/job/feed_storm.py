"""A storm over poll and fetch while feeds grow: gusts of kills, with calm between them.

    calm | deploy, kill kill … | calm | freeze, kill … | calm | broker, kill … | calm

Within a gust a host may change its worker. It ends a moment after all are ready again and their
groups are stable; from then on a host has one worker, which is what the calm is for.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from aiokafka.errors import KafkaError

from agents.settings.job import SettingsError
from demo.kafka import Kafka
from models import fetch, raw_html
from models.dead_letter import DeadLetter
from models.feed import Feed
from tests.job.feed_sites import FeedSites
from tests.job.harness import Job, wait_until
from tests.job.kafka_records import Sent, members, partition_of, run
from tests.job.storm import Weather

WORKERS = {"poll": 2, "fetch": 2, "normalize": 1, "extract": 1}
MORTALS = {"poll": 6.0, "fetch": 6.0}  # session timeouts in seconds
GUSTS = 3
SLICE = 20  # stories published at once
SLICE_SECONDS = 0.65
CALM = (3.0, 4.0)  # seconds
IN_FLIGHT = 2.0  # seconds in which requests end that were sent before the group was stable


class Span(NamedTuple):
    """A span of time, in seconds of `time.monotonic`."""

    start: float
    end: float


class Zombie(NamedTuple):
    """A fetch worker that was stopped past its session.

    Attributes:
        asleep: from SIGSTOP to SIGCONT.
        back: when it had not yet joined its group again, as late as that is known.
    """

    name: str
    asleep: Span
    back: float


class FeedStorm(Weather):
    """Two workers each of poll and fetch, and one each of the stages that follow.

    Attributes:
        calms: spans between gusts and after the last, without those in which a session ended.
        end: end of the last calm.
        zombies: workers that were frozen.
    """

    def __init__(self, kafka: Kafka, job: Job, sites: FeedSites, seed: int) -> None:
        super().__init__(kafka, job, seed, WORKERS, MORTALS)
        self.sites = sites
        self.calms: list[Span] = []
        self.end = 0.0
        self.zombies: list[Zombie] = []
        self._calm: tuple[float, list[frozenset[str]]] = 0.0, []
        self._victims = [worker for worker in self.workers if worker.stage in MORTALS]

    def blow(self, stories: int, kills: int) -> None:
        """Follow feeds, publish stories, kill and freeze workers; return when all are processed."""
        with self._gust():
            self.start()
        follow(self.job, self.sites.feeds)
        traffic = threading.Thread(target=self._publish, args=(stories,))
        traffic.start()
        extras = (self._deploy, self._freeze, self.kill_broker)
        for number in range(GUSTS):
            self.live(self.random.uniform(*CALM))
            with self._gust():
                extras[number]()
                for _ in range(len(range(number, kills, GUSTS))):
                    self.kill_worker(self._victims)
                    self.live(self.random.uniform(0, 1))
        while traffic.is_alive():
            self.live(1)
        self._wait_through()
        self.end = time.monotonic()
        self._end_calm()

    @contextmanager
    def _gust(self) -> Iterator[None]:
        self._end_calm()
        yield
        wait_until(self._is_stable, "all to be ready again", self.logs)
        members = self._members()
        self.live(IN_FLIGHT)
        self._calm = time.monotonic(), members

    def _end_calm(self) -> None:
        """End a calm, and drop it if a session ended in it, as may happen on a busy machine."""
        since, members = self._calm
        if members and all(members) and members == self._members():
            self.calms.append(Span(since, time.monotonic()))

    def _members(self) -> list[frozenset[str]]:
        return [run(members(self.job.settings, stage)) for stage in MORTALS]

    def _publish(self, stories: int) -> None:
        for _ in range(0, stories, SLICE):
            self.sites.publish(SLICE)
            time.sleep(SLICE_SECONDS)

    def _deploy(self) -> None:
        """Stop a worker with SIGTERM, and start it again."""
        worker = self.random.choice(self._victims)
        worker.stop()
        worker.start(wait=False)

    def _freeze(self) -> None:
        """Stop a busy fetch worker until its session ends and the other goes on, and wake it."""
        worker = self.busy("fetch")
        worker.freeze()
        start, done = time.monotonic(), sum(self.job.committed("fetch").values())
        self.live(2 * worker.session, but=worker)
        wait_until(lambda: sum(self.job.committed("fetch").values()) > done, "others to go on")
        back = time.monotonic()
        worker.thaw()
        asleep = Span(start, back)
        looked = back
        while not self._has_members("fetch"):
            back, looked = looked, time.monotonic()
        self.zombies.append(Zombie(worker.name, asleep, back))

    def _is_stable(self) -> bool:
        self.revive()
        return all(worker.is_ready() for worker in self.workers) and all(
            self._has_members(stage) for stage in MORTALS
        )

    def _has_members(self, stage: str) -> bool:
        with suppress(KafkaError):
            return len(run(members(self.job.settings, stage))) == WORKERS[stage]
        return False

    def _wait_through(self) -> None:
        def revived(holds: Callable[[], bool]) -> bool:
            self.revive()
            with suppress(KafkaError, SettingsError):
                return holds()
            return False

        wait_until(lambda: revived(self._all_fetched), "all stories", self.logs)
        stages = ("fetch", "normalize", "extract")
        wait_until(lambda: revived(lambda: self.is_through(*stages)), "the rest", self.logs)

    def _all_fetched(self) -> bool:
        return (
            not {story.link for story in self.sites.stories} - fetched(self.job) - refused(self.job)
        )


def follow(job: Job, feeds: Iterable[Feed]) -> None:
    """Let a job follow feeds."""
    job.publish(
        (Sent(feed.key, feed.encode(), partition_of(feed.site.encode())) for feed in feeds),
        "feeds",
    )


def fetched(job: Job) -> set[str]:
    """Return the links of all pages in raw-html."""
    pages = (raw_html.decode(one.value, one.headers) for one in job.read("raw-html"))
    return {page.url for page in pages if page.url}


def refused(job: Job) -> set[str]:
    """Return the links of all dead letters of fetch."""
    letters = (
        DeadLetter.from_record(one.key, one.value, one.headers) for one in job.read("dead-letters")
    )
    return {fetch.decode(letter.original.value or b"").url for letter in letters}
