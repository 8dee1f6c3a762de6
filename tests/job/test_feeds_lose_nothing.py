"""A storm of ten kills (SIGKILL) of poll and fetch workers, a frozen worker and a killed broker.

Every published item reaches raw-html at least once and clean-text once. Between two rebalances,
only one worker sends requests to a host. URLTREE_STORMS=N runs N storms, each with its own seed.
"""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from demo.kafka import Kafka
from models import raw_html
from models.crawl.fetch import decode
from tests.conftest import Record
from tests.job.feed_sites import Asked, FeedSites, Kind
from tests.job.feed_storm import FeedStorm, Span
from tests.job.harness import Job
from tests.job.outcomes import clean_texts, dead_letters
from urltree.page import Page

SITES = 40  # number of sites, each with three feeds
STORIES = 1_600
KILLS = 10
SEEDS = range(1, 1 + int(os.environ.get("URLTREE_STORMS", "1")))
STORMS = [
    *(pytest.param((seed, False), id=f"feeds {seed}") for seed in SEEDS),
    *(
        pytest.param((seed, True), id=f"all kinds {seed}", marks=pytest.mark.thorough)
        for seed in SEEDS
    ),
]
PAUSE = 0.02
EARLY = 0.002  # tolerance for differences between clocks, in seconds
QUICK = {
    "interval_min": 2,
    "interval_max": 4,
    "host_pause": PAUSE,
    "latency_factor": 0,
    "park_seconds": 5,
}


@dataclass
class Aftermath:
    """A job after a storm, when all its workers were stopped by SIGTERM."""

    job: Job
    sites: FeedSites
    storm: FeedStorm
    seconds: float
    pages: dict[str, list[Page]] = field(default_factory=lambda: defaultdict(list))  # by URL

    def asked(self, stage: str, within: Span) -> list[Asked]:
        """Return the requests of a stage's workers in a span of time, in order of arrival."""
        found = [
            one
            for one in self.sites.asked
            if one.by.startswith(stage) and within.start <= one.start < within.end
        ]
        return sorted(found, key=lambda one: one.start)


@pytest.fixture(scope="module", params=STORMS)
def aftermath(
    request: pytest.FixtureRequest,
    own_kafka: type[Kafka],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Aftermath]:
    """Run a storm, stop its workers, and yield the job."""
    seed, all_kinds = request.param
    with (
        FeedSites(SITES, seed, all_kinds=all_kinds) as sites,
        own_kafka() as kafka,
        Job(
            kafka.brokers, "", tmp_path_factory.mktemp("storm"), **QUICK, **sites.settings()
        ) as job,
    ):
        storm = FeedStorm(kafka, job, sites, seed)
        started = time.monotonic()
        storm.blow(STORIES, KILLS)
        found = Aftermath(job, sites, storm, time.monotonic() - started)
        for worker in storm.workers:
            worker.stop()
        for one in job.read("raw-html"):
            page = raw_html.decode(one.value, one.headers)
            found.pages[page.url or ""].append(page)
        yield found


def test_every_story_reaches_raw_html(aftermath: Aftermath, record: Record) -> None:
    """Each story's page is in raw-html, with the story's title and the page's final URL.

    A story for which its site has no page (status 410) becomes a dead letter.
    """
    sites, pages = aftermath.sites, aftermath.pages
    there = {story for story, kind in sites.stories.items() if kind is not Kind.MISSING}
    missing = [story for story in there if not pages[story.link]]
    listed = sites.listed()
    again = Counter(max(0, len(pages[story.link]) - listed[story.link]) for story in there)
    record(
        f"storm of feeds: {len(sites.stories)} stories of {len(sites.feeds)} feeds, {KILLS} kills, "
        f"{aftermath.seconds:.0f} s: {len(missing)} of {len(there)} pages missing in raw-html, "
        f"{again[1]} there once more than listed, {again.total() - again[0] - again[1]} more "
        f"often; {len(sites.asked)} requests"
    )
    assert missing == []
    for story in there:
        for page in pages[story.link]:
            assert page.final_url == sites.page_of(story)
            assert page.title in (story.title, None)  # most sitemaps name no titles
    refused = {decode(one.original.value).url: one.reason for one in dead_letters(aftermath.job)}
    assert refused == {story.link: "http-status" for story in sites.stories.keys() - there}


def test_every_page_is_clean_text_once(aftermath: Aftermath) -> None:
    """Each page is clean text once. A page that was fetched twice has the same id both times."""
    texts = [text for text in clean_texts(aftermath.job) if not text["revision"]]
    urls = [aftermath.sites.page_of(story) for story in aftermath.sites.stories]
    assert len({text["id"] for text in texts}) == len(texts)
    assert sorted(text["response_url"] for text in texts) == sorted(url for url in urls if url)
    assert aftermath.job.audit().missing == 0


def test_no_host_is_asked_by_two_workers_in_calm(aftermath: Aftermath, record: Record) -> None:
    """Between two rebalances, all requests to a host come from one worker, and none overlap.

    These are requests for pages, feeds and robots.txt. Workers of poll send no requests at all.
    """
    number = 0
    for calm in aftermath.storm.calms:
        for requests in _by_host(aftermath.asked("fetch", calm)).values():
            number += len(requests)
            assert len({one.by for one in requests}) == 1, requests
            assert [pair for pair in pairwise(requests) if pair[1].start < pair[0].end] == []
    seconds = sum(calm.end - calm.start for calm in aftermath.storm.calms)
    record(f"storm of feeds: {number} requests in {seconds:.0f} s of calm, one worker a host")
    assert number > 0
    assert aftermath.asked("poll", Span(0.0, aftermath.storm.end)) == []


def test_the_pause_is_kept_by_every_worker(aftermath: Aftermath) -> None:
    """Each worker pauses between its own requests to a host, also while others are killed."""
    always = Span(0.0, aftermath.storm.end)
    for requests in _by_host(aftermath.asked("fetch", always)).values():
        for by in {one.by for one in requests}:
            own = [one for one in requests if one.by == by]
            assert [b for a, b in pairwise(own) if b.start < a.end + PAUSE - EARLY] == []


def test_a_worker_that_wakes_asks_nothing_of_what_is_anothers(
    aftermath: Aftermath, record: Record
) -> None:
    """A worker that wakes after its session has ended sends at most one request to each host.

    It was about to send this request when it was frozen.
    """
    (zombie,) = aftermath.storm.zombies
    woken = Span(zombie.asleep.end, zombie.back)
    late = [one for one in aftermath.asked("fetch", woken) if one.by == zombie.name]
    record(
        f"storm of feeds: {zombie.name} was frozen for "
        f"{zombie.asleep.end - zombie.asleep.start:.1f} s; {len(late)} requests in the "
        f"{woken.end - woken.start:.1f} s until it was back"
    )
    assert max(Counter(one.host for one in late).values(), default=0) <= 1
    assert len(late) <= aftermath.job.settings.fetches_at_once


def _by_host(requests: Iterable[Asked]) -> dict[str, list[Asked]]:
    found: dict[str, list[Asked]] = defaultdict(list)
    for one in requests:
        found[one.host].append(one)
    return found
