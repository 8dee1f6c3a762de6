"""Real workers fetch from a web that breaks every rule.

Each misbehaviour ends in the right state within its limits, memory stays bounded, and hosts that
behave are served. Pages that may succeed later are tried again at first, and given up in the end.
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

SITES, STORIES = 7, 100  # that behave
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
BUSY = 300.0  # seconds that a busy machine is granted
MAX_MIB = 100.0  # above idle
WAIT = 1_200.0  # seconds, that the server asks for; no wait of ours is near it


@dataclass
class Aftermath:
    """The outcomes of all pages and feeds.

    Attributes:
        good: pages of stories beside those that misbehave.
        bad: pages, by their URL; those that were tried often before have hosts with `last-`.
        feeds: by their path.
        memory: MiB above idle, by worker.
    """

    good: dict[str, Ended]
    bad: dict[str, Ended]
    feeds: dict[str, FeedState]
    memory: dict[str, float]


@pytest.fixture(scope="module")
def aftermath(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aftermath]:
    """Yield the outcomes when both workers have met every misbehaviour."""
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
    told(job, sites, SITES)  # the parsers are there now
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
    """It is a page, a dead letter with its reason, or waits for another try with its trouble."""
    found = {url: aftermath.bad[url].what for url in pages}
    assert found == {
        url: found[url] if found[url] in wanted.split(" or ") else wanted
        for url, (_, wanted) in pages.items()
    }


def test_every_page_ends_within_its_limits(aftermath: Aftermath, record: Record) -> None:
    """The time includes the request for its robots.txt, which is answered at once."""
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
    """Retry-After is honoured in both forms; a date has whole seconds."""
    not_before = aftermath.bad[f"http://{path}.example/{path}"].not_before
    assert WAIT - BUSY < not_before < WAIT + 1
    feed = aftermath.feeds[f"http://{path}-feed.example/{path}"]
    assert feed.last_poll is not None
    assert feed.next_due - feed.last_poll > WAIT - BUSY


def test_every_feed_ends_in_the_right_state(aftermath: Aftermath, record: Record) -> None:
    """Its state has its trouble, or None if all is well; 410 makes it gone."""
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


def test_memory_stays_below_100_mib_above_idle(aftermath: Aftermath, record: Record) -> None:
    """The limit holds for each worker with its child processes."""
    said = ", ".join(f"{name} {mib:.0f}" for name, mib in aftermath.memory.items())
    record(f"misbehaving web: MiB above idle, all at once: {said}")
    assert max(aftermath.memory.values()) < MAX_MIB


def test_hosts_that_behave_are_served(aftermath: Aftermath, record: Record) -> None:
    """Every page arrives; test_held_web.py tests that hanging hosts delay no other."""
    seconds = [one.seconds for one in aftermath.good.values()]
    record(
        f"misbehaving web: {len(seconds)} pages that behave, beside those that misbehave: from "
        f"publication to raw-html median {median(seconds):.1f} s, at most {max(seconds):.1f} s"
    )
    assert {one.what for one in aftermath.good.values()} == {"page"}
