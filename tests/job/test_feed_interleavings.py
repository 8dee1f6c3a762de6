"""Tests that force every interleaving of poll and fetch that could lose a page.

Each feed is polled only once, so that no later poll repairs a loss. `runner.py` kills or stops a
worker at an exact delivery.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial

import pytest

from models import raw_html
from models.crawl import fetch as fetches
from models.headers.names import ORIGIN, header
from tests.job.conftest import MakeJob
from tests.job.feed_formats import FORMATS
from tests.job.feed_sites import FeedSites
from tests.job.feed_storm import follow
from tests.job.harness import Job, Worker, wait_until
from tests.job.misbehaved import publish_pages
from tests.job.outcomes import clean_texts
from tests.job.state import count, differing, in_changelog, on_disk
from urltree.address.url_key import KeyScheme
from urltree.crawl.decisions.poll.feed_state import FeedState
from urltree.page import Page

SITES = 4
STORIES = 60
ONCE = {"interval_min": 3_600, "interval_max": 3_600, "host_pause": 0.01, "latency_factor": 0}
TABLES = ("feed_state", "seen_items")
SCHEME = KeyScheme()
STATE, SIXTEENTH = "feed_state-changelog", str(3 * SITES + 4)  # the first 12 deliveries add feeds
SAME, EMPTY = "the same disk", "an empty disk"


@pytest.fixture
def sites() -> Iterator[FeedSites]:
    """Yield sites that have published all their stories."""
    with FeedSites(SITES) as found:
        found.publish(STORIES)
        yield found


def items(job: Job) -> Counter[str]:
    """Return the number of records of poll in fetches for each link."""
    return Counter(
        fetches.decode(one.value or b"").url
        for one in job.read("fetches")
        if header(one.headers, ORIGIN) is None
    )


def states(job: Job) -> list[FeedState]:
    """Return the states of all feeds from the changelog of `feed_state`."""
    rows = in_changelog(job, "feed_state").values()
    return [FeedState.decode(row) for partition in rows for row in partition.values()]


def ids(job: Job) -> Counter[str]:
    """Return the number of records in raw-html for each document id."""
    pages = [raw_html.decode(one.value, one.headers) for one in job.read("raw-html")]
    return Counter(SCHEME.key(page.final_url or "", partial(_title, page)).id for page in pages)


def wait_polled(job: Job, worker: Worker) -> None:
    """Wait until every feed was polled, and its new state is stored."""

    def is_polled() -> bool:
        found = states(job)
        return len(found) == len(FORMATS) * SITES and all(state.sequence for state in found)

    wait_until(is_polled, "all feeds to be polled", worker.log)
    job.wait_through("poll")


def polled(job: Job, worker: Worker) -> None:
    """Start a worker, wait until it has polled every feed, and stop it."""
    worker.start()
    wait_polled(job, worker)
    worker.stop()


@pytest.mark.parametrize(
    ("fault", "disk"),
    [
        pytest.param(
            *(["after", "fetches", "20"], SAME),
            id="some items are in fetches, their outcome has no state",
        ),
        pytest.param(
            *(["die", STATE, SIXTEENTH], SAME),
            id="the outcome has no state yet",
            marks=pytest.mark.thorough,
        ),
        pytest.param(
            ["die", STATE, SIXTEENTH], EMPTY, id="the outcome has no state yet, nor a disk"
        ),
    ],
)
def test_killed_while_a_poll_is_kept(
    make_job: MakeJob, sites: FeedSites, fault: list[str], disk: str
) -> None:
    """If a poll worker is killed before its polls are stored, no item is lost.

    An item is sent at most once more for each feed that lists the item. The rows on the disks
    equal those in the changelogs.
    """
    with make_job(**ONCE, **sites.settings()) as job:
        follow(job, sites.feeds)
        job.worker("fetch").start()
        dying = job.worker("poll", "poll", fault)
        dying.start(wait=False).wait_end()
        before = items(job)
        assert before
        again = job.worker("poll", "poll")
        if disk == EMPTY:
            again.wipe()
        polled(job, again)
        after = items(job)
        for table in TABLES:
            assert differing(on_disk(again, table), in_changelog(job, table)) == [], table
        assert after.keys() == {story.link for story in sites.stories}
        listed = sites.listed()
        assert all(after[link] <= listed[link] + before[link] for link in after)
        assert {state.feed: state.sequence for state in states(job)} == {
            feed.url: 1 for feed in sites.feeds
        }


def test_killed_before_an_answer_is_sent(make_job: MakeJob, sites: FeedSites) -> None:
    """If fetch is killed before it sends an answer, the next worker asks the feed's host again.

    The request stays in its topic until Kafka has confirmed its answer, so poll need not notice.
    """
    with make_job(**ONCE, **sites.settings()) as job:
        follow(job, sites.feeds)
        poll = job.worker("poll").start()
        dying = job.worker("fetch", "fetch", ["die", "poll-outcomes", "3"])
        dying.start(wait=False).wait_end()
        job.worker("fetch", "fetch").start()
        wait_polled(job, poll)
        assert items(job).keys() == {story.link for story in sites.stories}
        assert {state.feed: state.sequence for state in states(job)} == {
            feed.url: 1 for feed in sites.feeds
        }


def test_killed_between_raw_html_and_commit(make_job: MakeJob, sites: FeedSites) -> None:
    """If fetch is killed before it commits a page, it fetches the page again.

    Both pages have the same id, so the page is published only once as clean text.
    """
    with make_job(**ONCE, **sites.settings()) as job:
        publish_pages(job, {story.link: 0 for story in sites.stories})
        later = [job.worker("normalize").start(wait=False), job.worker("extract").start(wait=False)]
        dying = job.worker("fetch", "fetch", ["after", "raw-html", "5"])
        dying.start(wait=False).wait_end()
        job.worker("fetch", "fetch").start()
        for worker in later:
            worker.wait_ready()
        job.wait_through("fetch", "normalize", "extract")
        pages = {url for story in sites.stories if (url := sites.page_of(story))}
        found = ids(job)
        assert max(found.values()) > 1
        assert len(found) == len(pages)
        first = [text for text in clean_texts(job) if not text["revision"]]
        assert sorted(text["response_url"] for text in first) == sorted(pages)


def test_an_answer_of_a_worker_that_wakes_is_stale(make_job: MakeJob, sites: FeedSites) -> None:
    """An answer is stale if another worker has asked the host while the sender was frozen.

    A stale answer changes no state and causes no further poll.
    """
    with make_job(**ONCE, **sites.settings()) as job:
        follow(job, sites.feeds)
        poll = job.worker("poll").start()
        zombie = job.worker("fetch", "zombie", ["stop", "poll-outcomes", "3"])
        zombie.start(wait=False)
        wait_until(zombie.is_frozen, "the worker to stop before its answer", zombie.log)
        job.worker("fetch", "other").start()
        wait_polled(job, poll)
        before = in_changelog(job, "feed_state")
        outcomes = len(job.read("poll-outcomes"))
        zombie.thaw()
        wait_until(lambda: len(job.read("poll-outcomes")) > outcomes, "its answer", zombie.log)
        job.wait_through("poll")
        assert poll.metric("urltree_stale_outcomes_total") > 0
        assert differing(in_changelog(job, "feed_state"), before) == []
        assert count(before) == len(sites.feeds)
        assert items(job).keys() == {story.link for story in sites.stories}


def _title(page: Page) -> str | None:
    return page.title
