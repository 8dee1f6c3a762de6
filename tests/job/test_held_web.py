"""Hosts that do not answer do not delay other hosts.

    held requests are sent ──▶ stories are published ──▶ their pages end ──▶ held requests end

The order does not depend on the machine's speed: no timeout ends a held request before its release.
"""

from __future__ import annotations

from statistics import median

from tests.conftest import Record
from tests.job.conftest import MakeJob
from tests.job.feed_sites import FeedSites
from tests.job.feed_storm import follow
from tests.job.harness import Job, wait_until
from tests.job.held_web import FEEDS, PAGES, TLS, HeldWeb
from tests.job.misbehaved import ended, feed_of, publish_pages, states, told, wait_ended
from urltree.crawl.decisions.poll.feed_state import FeedState

SITES, STORIES = 7, 100  # numbers of good sites, and of the stories that they publish
NEVER = 3_600.0  # seconds, longer than any test
LIMITS = {
    **dict.fromkeys(("connect_seconds", "header_seconds", "read_seconds", "total_seconds"), NEVER),
    "stall_seconds": 2 * NEVER,
    "requests_per_address": 1_000,  # all sites are at one address
    "requests_per_domain_second": 1_000,
    "host_pause": 0.05,
    "latency_factor": 0,
    "interval_min": 1,
    "interval_max": 2,
}


def ask_held(job: Job, held: HeldWeb) -> float:
    """Make the job send all requests that are held back; return the time of publication."""
    follow(job, map(feed_of, FEEDS))
    since = publish_pages(job, dict.fromkeys((*PAGES, *TLS), 0))
    everything = len((*PAGES, *TLS, *FEEDS))
    wait_until(lambda: held.held == everything, f"{everything} to be held", lambda: str(held.asked))
    return since


def polled(job: Job) -> dict[str, FeedState]:
    """Return the states of those held feeds whose first poll has ended."""
    return {url: state for url, state in states(job).items() if url in FEEDS and state.sequence}


def test_hosts_that_answer_are_not_delayed(make_job: MakeJob, record: Record) -> None:
    """All pages of good sites reach raw-html while every held request waits for its response."""
    held = HeldWeb()
    with held.serving(), FeedSites(SITES) as sites:
        rules = ",".join([*sites.rules(), *held.rules])
        with make_job(**LIMITS, connect_to=rules, allow_networks="127.0.0.0/8") as job:
            for worker in [job.worker(stage).start(wait=False) for stage in ("poll", "fetch")]:
                worker.wait_ready()
            follow(job, sites.feeds)
            told(job, sites, SITES)  # starts the processes that parse feeds
            calm = told(job, sites, STORIES)
            since, asked = ask_held(job, held), list(held.asked)
            good = told(job, sites, STORIES)
            assert {one.what for one in good.values()} == {"page"}

            assert not ended(job, since).keys() & {*PAGES, *TLS}
            assert not polled(job)
            assert held.asked == asked
            held.release()
            found = wait_ended(job, dict.fromkeys((*PAGES, *TLS)), since)
            wait_until(lambda: polled(job).keys() == {*FEEDS}, "all held feeds to be polled")
            feeds = polled(job).values()
    seconds = [[one.seconds for one in pages.values()] for pages in (calm, good)]
    record(
        f"held web: {len(good)} pages that behave, from publication to raw-html: median "
        f"{median(seconds[0]):.1f} s, at most {max(seconds[0]):.1f} s; beside {len(found)} pages "
        f"and {len(feeds)} feeds that do not answer {median(seconds[1]):.1f} s, at most "
        f"{max(seconds[1]):.1f} s"
    )
    assert {found[url].what for url in PAGES} == {"page"}
    assert {found[url].what for url in TLS} == {"again: robots.txt"}
    assert {state.trouble for state in feeds} == {None}
