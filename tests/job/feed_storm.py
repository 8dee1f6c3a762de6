"""A storm: kill and freeze workers of poll and fetch while feeds get new items.

    calm | deploy, kill kill … | calm | freeze, kill … | calm | broker, kill … | calm

A gust is a time in which workers and the broker are killed, and in which a host may change its
worker. It ends two seconds after all workers are ready and their groups are stable. A calm is the
time between two gusts, in which each host has one worker.
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
from models import raw_html
from models.crawl import fetch
from models.crawl.feed import Feed
from models.dead_letter import DeadLetter
from tests.job.feed_sites import FeedSites
from tests.job.harness import Job, wait_until
from tests.job.kafka_records import Sent, members, partition_of, run
from tests.job.storm import Weather

WORKERS = {"poll": 2, "fetch": 2, "normalize": 1, "extract": 1}
MORTALS = {"poll": 6.0, "fetch": 6.0}  # session timeouts, in seconds, of workers that are killed
GUSTS = 3
SLICE = 20  # number of stories that are published at once
SLICE_SECONDS = 0.65  # seconds between two slices
CALM = (3.0, 4.0)  # shortest and longest calm, in seconds
IN_FLIGHT = 2.0  # seconds after which requests from before the group was stable have ended


class Span(NamedTuple):
    """A span of time between two values of `time.monotonic`, in seconds."""

    start: float
    end: float


class Zombie(NamedTuple):
    """A fetch worker that was stopped for longer than its session timeout.

    Attributes:
        asleep: time between SIGSTOP and SIGCONT.
        back: latest observed time at which the worker had not yet joined its group again.
    """

    name: str
    asleep: Span
    back: float


class FeedStorm(Weather):
    """A storm with two workers each of poll and fetch, and one each of normalize and extract.

    Attributes:
        calms: calms after the gusts, without calms in which the members of a group changed.
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
        """Run the storm: follow feeds, publish stories, and kill and freeze workers.

        Return when all stories are processed.
        """
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
        wait_until(self._is_stable, "all workers to be ready and their groups stable", self.logs)
        members = self._members()
        self.live(IN_FLIGHT)
        self._calm = time.monotonic(), members

    def _end_calm(self) -> None:
        """End the calm, and record it unless the members of a group have changed meanwhile."""
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
        """Freeze a busy fetch worker until its session has ended and the other worker commits.

        Then thaw the frozen worker, and record the time until it is back in its group.
        """
        worker = self.busy("fetch")
        worker.freeze()
        start, done = time.monotonic(), sum(self.job.committed("fetch").values())
        self.live(2 * worker.session, but=worker)
        wait_until(lambda: sum(self.job.committed("fetch").values()) > done, "another commit")
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

        wait_until(lambda: revived(self._all_fetched), "the end of all stories", self.logs)
        stages = ("fetch", "normalize", "extract")
        wait_until(lambda: revived(lambda: self.is_through(*stages)), "all commits", self.logs)

    def _all_fetched(self) -> bool:
        return (
            not {story.link for story in self.sites.stories} - fetched(self.job) - refused(self.job)
        )


def follow(job: Job, feeds: Iterable[Feed]) -> None:
    """Publish feeds to the topic feeds, so that the job polls them."""
    job.publish(
        (Sent(feed.key, feed.encode(), partition_of(feed.site.encode())) for feed in feeds),
        "feeds",
    )


def fetched(job: Job) -> set[str]:
    """Return the links of all pages in the topic raw-html."""
    pages = (raw_html.decode(one.value, one.headers) for one in job.read("raw-html"))
    return {page.url for page in pages if page.url}


def refused(job: Job) -> set[str]:
    """Return the links of all dead letters of fetch."""
    letters = (
        DeadLetter.from_record(one.key, one.value, one.headers) for one in job.read("dead-letters")
    )
    return {fetch.decode(letter.original.value or b"").url for letter in letters}
