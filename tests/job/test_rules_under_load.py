"""Commands that stop requests hold while six workers are busy, frozen, or without Kafka."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from agents.kafka.partitions import partition_of
from agents.rules.watcher import MAX_AGE
from demo.kafka import Kafka
from models.crawl import fetch
from models.crawl import rule as rules
from models.headers.names import ORIGIN
from tests.conftest import Record
from tests.job.growing_sites import GrowingSites, Request
from tests.job.harness import Job, wait_until
from tests.job.kafka_records import PARTITIONS, Sent

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]

PROMISE = 5.0  # seconds after Kafka has confirmed a rule
SITES, SLOW = 22, 4
WORKERS = 3  # of each stage
AT_ONCE = 3  # commands that run at the same time
ASLEEP = 8.0  # seconds for which workers or Kafka are suspended; longer than PROMISE


@dataclass(frozen=True)
class Command:
    """A command that stops requests to one host.

    Attributes:
        words: words of the command line.
        host: the host.
        path: beginning of the paths that must not be requested.
    """

    words: Sequence[str]
    host: str
    path: str = "/"

    @property
    def is_purge(self) -> bool:
        """Whether only the pages that wait at the time of the command are forbidden."""
        return self.words[0] == "fetches"


def commands() -> list[Command]:
    """Return the commands, each for a site of its own."""
    made = [Command(("deny", "add", "--host", h), h) for h in hosts(0, 4)]
    made += [Command(("deny", "add", "--domain", h[4:]), h) for h in hosts(4, 7)]
    made += [Command(("deny", "add", "--path", f"{h}/page/*"), h, "/page/") for h in hosts(7, 10)]
    made += [Command(("feeds", "remove", f"http://{h}/feed"), h) for h in hosts(10, 13)]
    made += [Command(("fetches", "purge", "--host", h, "--yes"), h) for h in hosts(13, 16)]
    slow = [f"www.slow{n}.example" for n in range(SLOW)]
    made += [Command(("deny", "add", "--host", h), h) for h in slow[:2]]
    made += [Command(("feeds", "remove", f"http://{h}/feed"), h) for h in slow[2:3]]
    made += [Command(("fetches", "purge", "--host", h, "--yes"), h) for h in slow[3:]]
    return made


def hosts(first: int, end: int) -> list[str]:
    """Return the hosts of some sites."""
    return [f"www.site{n}.example" for n in range(first, end)]


@contextmanager
def crawling(kafka: Kafka, prefix: str, directory: Path) -> Iterator[tuple[Job, GrowingSites]]:
    """Run three workers each of poll and fetch, until all sites are asked for pages."""
    with ExitStack() as stack:
        sites = stack.enter_context(GrowingSites(SITES, SLOW))
        job = stack.enter_context(Job(kafka.brokers, prefix, directory, **sites.settings()))
        found = [
            job.worker(stage, f"{stage}{number}", session=60.0)
            for stage in ("poll", "fetch")
            for number in range(WORKERS)
        ]
        for worker in found:
            worker.start(wait=False)
        for worker in found:
            worker.wait_ready()
        job.publish(
            [
                Sent(feed.key, feed.encode(), partition_of(feed.site.encode(), PARTITIONS))
                for feed in sites.feeds
            ],
            "feeds",
        )
        named = [feed.url.split("/")[2] for feed in sites.feeds]
        wait_until(lambda: all(pages(sites.of(host)) for host in named), "pages of every site")
        yield job, sites


def pages(requests: Sequence[Request]) -> list[Request]:
    """Return the requests for pages."""
    return [one for one in requests if "/page/" in one.url]


def confirmed(job: Job) -> dict[str, float]:
    """Return the broker's time of each rule by its key, in seconds since 1970."""
    return {(record.key or b"").decode(): record.time for record in job.read("rules")}


def rule_key(job: Job, host: str) -> str:
    """Return the key of the one rule about a host."""
    domain = host.removeprefix("www.")
    (key,) = (
        key for key in confirmed(job) if domain in key.replace("/", " ").replace("www.", "").split()
    )
    return key


def purged(job: Job, key: str) -> set[str]:
    """Return the addresses of the pages that a purge covers, by their places in `fetches`."""
    (value,) = (one.value for one in job.read("rules") if (one.key or b"").decode() == key)
    extent = rules.decode(key.encode(), value or b"").fetches
    assert extent is not None
    return {
        fetch.decode(record.value).url
        for record in job.read("fetches")
        if ORIGIN not in dict(record.headers) and record.offset < extent.before[record.partition]
    }


def forbidden(job: Job, sites: GrowingSites, command: Command) -> list[Request]:
    """Return the requests that a command forbids, before and after it."""
    begin = f"http://{command.host}{command.path}"
    found = [one for one in sites.of(command.host) if one.url.startswith(begin)]
    if not command.is_purge:
        return found
    urls = purged(job, rule_key(job, command.host))
    return [one for one in found if one.url in urls]


def test_no_request_begins_later_than_the_promise(
    own_kafka: type[Kafka], prefix: str, tmp_path: Path, record: Record
) -> None:
    """No request begins later than 5 s after Kafka has confirmed a command, and all others go on.

    Running requests are cancelled. Workers that were suspended while a rule was written begin none
    against it. While Kafka does not answer, no worker begins any request after MAX_AGE.
    """
    with own_kafka(tmp_path / "kafka") as kafka, crawling(kafka, prefix, tmp_path) as (job, sites):
        began = time.time()
        given = commands()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(lambda command: job.command(*command.words), given))
        time.sleep(PROMISE + 2)
        rate = len([r for r in list(sites.requests) if r.begin > began]) / (time.time() - began)
        times = confirmed(job)
        latest, ended = [], []
        for command in given:
            at = times[rule_key(job, command.host)]
            found = forbidden(job, sites, command)
            assert pages(found), command
            last = max(found, key=lambda one: one.begin)
            assert last.begin - at <= PROMISE, (command, last, at)
            latest.append(last.begin - at)
            running = [one for one in found if one.begin < at and (one.end or time.time()) > at]
            if command.host.startswith("www.slow"):
                assert running, command
                ended += [(one.end or time.time()) - at for one in running]
        others = [
            host for host in hosts(16, SITES) if sites.of(host)[-1].begin > max(times.values())
        ]
        asleep = sleeping_workers(job, sites)
        silent = silent_kafka(kafka, sites)
    record(
        f"rules under load ({rate:.0f} requests/s, {len(given)} commands): latest begin of a "
        f"request {max(latest):.2f} s after the confirmation, latest end {max(ended):.2f} s; "
        f"{asleep:.2f} s with all workers of fetch suspended; without Kafka the latest begin is "
        f"{silent:.2f} s after its last answer at most"
    )
    assert max(latest) <= PROMISE
    assert max(ended) <= PROMISE
    assert others == hosts(16, SITES)
    assert asleep <= PROMISE
    assert silent <= PROMISE


def sleeping_workers(job: Job, sites: GrowingSites) -> float:
    """Deny hosts while all workers of fetch are suspended; return the latest begin of a request.

    It is measured in seconds from Kafka's confirmation.
    """
    workers = [worker for worker in job.workers if worker.stage == "fetch"]
    denied = hosts(16, 19)
    for worker in workers:
        worker.freeze()
    try:
        job.command("deny", "add", *(part for host in denied for part in ("--host", host)))
        time.sleep(ASLEEP)
    finally:
        for worker in workers:
            worker.thaw()
    thawed = time.time()
    last = hosts(SITES - 1, SITES)[0]
    wait_until(lambda: sites.of(last)[-1].begin > thawed, "requests after the sleep")
    time.sleep(2)
    times = confirmed(job)
    return max(sites.of(host)[-1].begin - times[f"deny host {host}"] for host in denied)


def silent_kafka(kafka: Kafka, sites: GrowingSites) -> float:
    """Suspend Kafka; return the latest begin of a request, in seconds from the suspension."""
    os.kill(kafka.pid, signal.SIGSTOP)
    stopped = time.time()
    try:
        time.sleep(ASLEEP)
        last = max(one.begin for one in list(sites.requests))
    finally:
        os.kill(kafka.pid, signal.SIGCONT)
    wait_until(lambda: sites.requests[-1].begin > stopped + ASLEEP, "requests once Kafka answers")
    assert MAX_AGE < PROMISE
    return last - stopped
