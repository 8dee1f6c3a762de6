"""What becomes of pages and feeds of misbehaving hosts, beside those of good hosts.

Each behaviour has a host of its own, and a second one for a page that was tried often before:
what may succeed later is sent again at first, and given up in the end.
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

from models import fetch as fetches
from models import raw_html
from models.dead_letter import DeadLetter
from models.feed import Feed
from models.fetch import FetchRequest
from models.headers import ORIGIN, header
from tests import child_process
from tests.job.feed_sites import FeedSites
from tests.job.harness import Job, Worker, wait_until
from tests.job.kafka_records import Sent, partition_of
from tests.job.state import in_changelog
from urltree.address.url_key import KeyScheme
from urltree.crawl.decisions.poll.feed_state import FeedState

MIB = 1024 * 1024

_SAMPLE = 0.05  # seconds
_SCHEME = KeyScheme()


@dataclass(frozen=True, slots=True)
class Ended:
    """The outcome of a page.

    Attributes:
        what: `page`, `REASON` of a dead letter, or `again: TROUBLE`.
        seconds: since it was published.
        not_before: of a page that is to come again, seconds from its end.
    """

    what: str
    seconds: float
    not_before: float = 0.0


class Memory:
    """Resident memory of workers and their children, above its value at the beginning.

    Attributes:
        mib: the most that each has taken, by its name.
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
    """Start the misbehaving server as a process, and yield the settings that lead to it."""
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.urltree.crawl.web.misbehaving"],
        env=child_process.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with server:  # at the end its pipes are closed, at which it ends
        assert server.stdout is not None
        yield json.loads(server.stdout.readline())


def publish_pages(job: Job, urls: Mapping[str, int]) -> float:
    """Send pages to fetches, each with its number of former attempts; return the time."""
    now = time.time()
    job.publish(
        (
            _sent(url, fetches.encode(FetchRequest(url=url, title=url, attempt=attempt)))
            for url, attempt in urls.items()
        ),
        "fetches",
    )
    return now


def feed_of(url: str) -> Feed:
    """Return the feed of an address."""
    return Feed(site=_SCHEME.domain(url), url=url)


def ended(job: Job, since: float) -> dict[str, Ended]:
    """Return the outcomes of all pages so far, by their URLs."""
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

    wait_until(is_over, "all pages to end", missing)
    return {url: found[url] for url in urls}


def told(job: Job, sites: FeedSites, number: int) -> dict[str, Ended]:
    """Let sites publish a number of stories, and return the outcomes of their pages."""
    since, before = time.time(), set(sites.stories)
    sites.publish(number)
    new = (story for story in sites.stories if story not in before)
    return wait_ended(job, {story.link: None for story in new if sites.page_of(story)}, since)


def states(job: Job) -> dict[str, FeedState]:
    """Return the state of each feed, by its URL."""
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
