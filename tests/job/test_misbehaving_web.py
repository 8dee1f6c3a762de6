"""Real workers poll and fetch from servers that misbehave in many ways.

Each page and feed ends in the expected state within its limits, memory stays bounded, and good
hosts are served. A page that may succeed later is tried again, until its last attempt has failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

import pytest

from tests.conftest import Record
from tests.job.feed_sites import FeedSites
from tests.job.feed_storm import follow
from tests.job.harness import Job, wait_until
from tests.job.misbehaved import (
    Ended,
    Memory,
    feed_of,
    misbehaving,
    publish_pages,
    states,
    told,
    wait_ended,
)
from tests.job.misbehaviours import BAD_FEEDS, BAD_HOSTS, BAD_PAGES, LAST
from urltree.crawl.decisions.poll.feed_state import FeedState

SITES, STORIES = 7, 100  # numbers of good sites, and of the stories that they publish
TOTAL_SECONDS = 30.0
LIMITS = {
    "connect_seconds": 15,
    "header_seconds": 20,
    "read_seconds": 20,
    "total_seconds": TOTAL_SECONDS,
    "fetch_attempts": LAST + 1,
    "host_pause": 0.05,
    "latency_factor": 0,
    "interval_min": 1,
    "interval_max": 2,
}
BUSY = 300.0  # additional seconds for a busy machine
MAX_MIB = 200.0  # `fetch` also parses the feeds, which `poll` did before; each had a limit of 100
WAIT = 1_200.0  # seconds in the server's Retry-After, far longer than our own waits


@dataclass
class Aftermath:
    """The outcomes of all pages and feeds.

    Attributes:
        good: outcomes of the stories of good sites, by URL.
        bad: outcomes of misbehaving pages, by URL. A page had only its last attempt left if its
            host has `last` in its name.
        feeds: state of each feed, by URL.
        memory: largest increase of memory above idle in MiB, by worker.
    """

    good: dict[str, Ended]
    bad: dict[str, Ended]
    feeds: dict[str, FeedState]
    memory: dict[str, float]


@pytest.fixture(scope="module")
def aftermath(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aftermath]:
    """Yield the outcomes after both workers have requested every misbehaving page and feed."""
    directory = tmp_path_factory.mktemp("misbehaving")
    with misbehaving() as settings, FeedSites(SITES) as sites:
        rules = ",".join([*sites.rules(), settings["connect_to"]])
        more = {**LIMITS, **settings, "connect_to": rules}
        with Job(kafka, f"{directory.name}-", directory, **more) as job:
            yield _met(job, sites)


def _met(job: Job, sites: FeedSites) -> Aftermath:
    workers = [job.worker(stage).start(wait=False) for stage in ("poll", "fetch")]
    for worker in workers:
        worker.wait_ready()
    follow(job, sites.feeds)
    told(job, sites, SITES)  # starts the processes that parse feeds
    memory = Memory(*workers)
    with memory.watched():
        follow(job, map(feed_of, BAD_FEEDS))
        bad = BAD_PAGES | BAD_HOSTS
        since = publish_pages(job, {url: attempts for url, (attempts, _) in bad.items()})
        good = told(job, sites, STORIES)
        found = wait_ended(job, bad, since)
        wait_until(lambda: _are_polled(job), "all feeds to be polled", workers[0].log)
    return Aftermath(good, found, states(job), memory.mib)


def _are_polled(job: Job) -> bool:
    found = states(job)
    return all(
        url in found and found[url].sequence >= polls for url, (polls, _) in BAD_FEEDS.items()
    )


@pytest.mark.parametrize("pages", [BAD_PAGES, BAD_HOSTS], ids=["pages", "hosts"])
def test_every_page_ends_in_the_right_state(
    aftermath: Aftermath, pages: dict[str, tuple[int, str]]
) -> None:
    """Each page has the expected outcome.

    It is in raw-html, is a dead letter with a reason, or waits for another attempt after some
    trouble.
    """
    found = {url: aftermath.bad[url].what for url in pages}
    assert found == {
        url: found[url] if found[url] in wanted.split(" or ") else wanted
        for url, (_, wanted) in pages.items()
    }


def test_every_page_ends_within_its_limits(aftermath: Aftermath, record: Record) -> None:
    """Every page ends within its time limit, with a margin for busy machines.

    The time includes the request for robots.txt, which is answered at once.
    """
    slowest = max(aftermath.bad, key=lambda url: aftermath.bad[url].seconds)
    seconds = aftermath.bad[slowest].seconds
    record(
        f"misbehaving web: {len(aftermath.bad)} pages that misbehave ended as they should, "
        f"the last after {seconds:.1f} s of {TOTAL_SECONDS:.0f}: {slowest}"
    )
    assert seconds < TOTAL_SECONDS + BUSY


@pytest.mark.parametrize("path", ["wait-seconds", "wait-date"])
def test_a_host_that_asks_to_wait_is_asked_again_when_it_says(
    aftermath: Aftermath, path: str
) -> None:
    """Pages and feeds wait as long as Retry-After demands, given in seconds or as a date.

    A date contains only whole seconds, so the wait may differ by up to a second.
    """
    not_before = aftermath.bad[f"http://{path}.example/{path}"].not_before
    assert WAIT - BUSY < not_before < WAIT + 1
    feed = aftermath.feeds[f"http://{path}-feed.example/{path}"]
    assert feed.last_poll is not None
    assert feed.next_due - feed.last_poll > WAIT - BUSY


def test_every_feed_ends_in_the_right_state(aftermath: Aftermath, record: Record) -> None:
    """The state of each feed has the expected trouble, or None if there is no trouble.

    A feed with status 410 is gone.
    """
    record(f"misbehaving web: {len(BAD_FEEDS)} feeds that misbehave ended as they should")
    found = {url: str(aftermath.feeds[url].trouble) for url in BAD_FEEDS}
    assert found == {
        url: found[url] if found[url] in wanted.split(" or ") else wanted
        for url, (_, wanted) in BAD_FEEDS.items()
    }
    gone = {url for url in BAD_FEEDS if aftermath.feeds[url].status == "gone"}
    assert gone == {"http://gone-feed.example/gone"}
    back = aftermath.feeds["http://moved-and-back-feed.example/moved-and-back"]
    assert (back.url, back.redirect, back.items) == (back.feed, None, 3)


def test_memory_stays_below_200_mib_above_idle(aftermath: Aftermath, record: Record) -> None:
    """The memory of each worker with its child processes grows by less than 200 MiB above idle."""
    said = ", ".join(f"{name} {mib:.0f}" for name, mib in aftermath.memory.items())
    record(f"misbehaving web: MiB above idle, all at once: {said}")
    assert max(aftermath.memory.values()) < MAX_MIB


def test_hosts_that_behave_are_served(aftermath: Aftermath, record: Record) -> None:
    """Every page of a good host reaches raw-html.

    That hanging hosts do not delay other hosts is tested in test_held_web.py.
    """
    seconds = [one.seconds for one in aftermath.good.values()]
    record(
        f"misbehaving web: {len(seconds)} pages that behave, beside those that misbehave: from "
        f"publication to raw-html median {median(seconds):.1f} s, at most {max(seconds):.1f} s"
    )
    assert {one.what for one in aftermath.good.values()} == {"page"}
