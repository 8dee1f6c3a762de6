"""Outcomes of pages and feeds of misbehaving hosts, and of pages of good hosts.

Each misbehaviour has its own host. A page that may succeed later is tried again, and becomes a dead
letter after its last attempt. Therefore, some misbehaviours have a second host, whose page has only
its last attempt left.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import psutil

from models import raw_html
from models.crawl import fetch as fetches
from models.crawl.feed import Feed
from models.crawl.fetch import FetchRequest
from models.dead_letter import DeadLetter
from models.headers.names import ORIGIN, header
from tests import child_process
from tests.job.feed_sites import FeedSites
from tests.job.harness import Job, Worker, wait_until
from tests.job.kafka_records import Sent, partition_of
from tests.job.state import in_changelog
from urltree.address.url_key import KeyScheme
from urltree.crawl.decisions.poll.feed_state import FeedState

MIB = 1024 * 1024

_SAMPLE = 0.05  # seconds between two measurements of memory
_SCHEME = KeyScheme()


@dataclass(frozen=True, slots=True)
class Ended:
    """The outcome of a page.

    Attributes:
        what: `page`, the reason of a dead letter, or `again: TROUBLE` before another attempt.
        seconds: seconds from the publication of the page to this outcome.
        not_before: seconds from this outcome to the earliest time of another attempt.
    """

    what: str
    seconds: float
    not_before: float = 0.0


class Memory:
    """Increase of the resident memory of workers, each with its child processes.

    Attributes:
        mib: largest increase of each worker in MiB, by the worker's name.
    """

    def __init__(self, *workers: Worker) -> None:
        self._processes = {worker.name: psutil.Process(worker.pid) for worker in workers}
        self._idle = {name: _resident(process) for name, process in self._processes.items()}
        self.mib = dict.fromkeys(self._idle, 0.0)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Measure memory until the block ends."""
        over = threading.Event()
        watching = threading.Thread(target=self._watch, args=(over,))
        watching.start()
        try:
            yield
        finally:
            over.set()
            watching.join()

    def _watch(self, over: threading.Event) -> None:
        while not over.wait(_SAMPLE):
            for name, process in self._processes.items():
                above = (_resident(process) - self._idle[name]) / MIB
                self.mib[name] = max(self.mib[name], above)


@contextmanager
def misbehaving() -> Iterator[dict[str, str]]:
    """Start the misbehaving server as a process, and yield settings that connect workers to it."""
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.urltree.crawl.web.misbehaving"],
        env=child_process.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with server:  # the end of the block closes the server's pipes, which ends the server
        assert server.stdout is not None
        yield json.loads(server.stdout.readline())


def publish_pages(job: Job, urls: Mapping[str, int]) -> float:
    """Publish records to the topic fetches, each with a number of failed attempts; return when."""
    now = time.time()
    job.publish(
        (
            _sent(url, fetches.encode(FetchRequest(url=url, attempt=attempt)))
            for url, attempt in urls.items()
        ),
        "fetches",
    )
    return now


def feed_of(url: str) -> Feed:
    """Return a feed with this URL; its site is the domain of the URL."""
    return Feed(site=_SCHEME.domain(url), url=url)


def ended(job: Job, since: float) -> dict[str, Ended]:
    """Return the outcome of each page that has one, by the page's URL."""
    found = {}
    for one in job.read("fetches"):
        if header(one.headers, ORIGIN) is not None:
            wanted = fetches.decode(one.value)
            if wanted.trouble is not None:
                what = f"again: {wanted.trouble.partition(':')[0]}"
                found[wanted.url] = Ended(what, one.time - since, wanted.not_before - one.time)
    for one in job.read("dead-letters"):
        letter = DeadLetter.from_record(one.key, one.value, one.headers)
        found[fetches.decode(letter.original.value).url] = Ended(letter.reason, one.time - since)
    for one in job.read("raw-html"):
        page = raw_html.decode(one.value, one.headers)
        found[page.url or ""] = Ended("page", one.time - since)
    return found


def wait_ended(job: Job, urls: Mapping[str, object], since: float) -> dict[str, Ended]:
    """Wait until each of these pages has an outcome, and return the outcomes."""
    found: dict[str, Ended] = {}

    def is_over() -> bool:
        found.update(ended(job, since))
        return urls.keys() <= found.keys()

    def missing() -> str:
        return f"{urls.keys() - found.keys()}\n" + "\n".join(one.log() for one in job.workers)

    wait_until(is_over, "all pages to have an outcome", missing)
    return {url: found[url] for url in urls}


def told(job: Job, sites: FeedSites, number: int) -> dict[str, Ended]:
    """Publish `number` stories on good sites, and return the outcomes of their pages."""
    since, before = time.time(), set(sites.stories)
    sites.publish(number)
    new = (story for story in sites.stories if story not in before)
    return wait_ended(job, {story.link: None for story in new if sites.page_of(story)}, since)


def states(job: Job) -> dict[str, FeedState]:
    """Return the state of each feed, by the feed's URL."""
    rows = [row for rows in in_changelog(job, "feed_state").values() for row in rows.values()]
    return {state.feed: state for state in map(FeedState.decode, rows)}


def _sent(url: str, value: bytes) -> Sent:
    key = _SCHEME.domain(url).encode()
    return Sent(key, value, partition_of(key))


def _resident(process: psutil.Process) -> int:
    total = 0
    for one in (process, *process.children(recursive=True)):
        try:
            total += one.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total
