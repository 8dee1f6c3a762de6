"""A run of the job that follows feeds: real feeds, or the sample's, which grow during the run.

sites ──▶ feeds ──▶ poll ──▶ fetch ──▶ raw-html ──▶ normalize ──▶ extract ──▶ audit
            └─────────────── shown live ───────────────┘
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from aiokafka import ConsumerRecord

from agents.commands.audit.command import account
from agents.commands.audit.fetches import account_fetches
from agents.commands.feeds.exchange import import_feeds
from agents.commands.feeds.followed import read_followed
from agents.commands.feeds.subscriptions import Entry
from agents.settings.job import Settings, SettingsError
from demo import harvest, outputs
from demo.follow import following
from demo.harvest import Harvester
from demo.job import TURN, RunningJob, kafka, working
from demo.outputs import Outputs
from demo.progress import DemoSummary, RunProgress
from demo.sites import SiteSample
from demo.sites.press import Press
from demo.sites.server import LOOPBACK, Served, serving
from demo.view import RunView
from demo.workers import FEED_STAGES

SETTLING = 10.0  # seconds for which the last audit waits for pages that are not finished

_TOPICS = tuple(dict.fromkeys((*harvest.TOPICS, *outputs.TOPICS)))


class FeedRun:
    """A run that follows feeds, from the first poll of a feed to the outcome of its last page."""

    def __init__(self, job: RunningJob) -> None:
        self._job = job
        self._outputs = Outputs(job.settings)
        self.harvester = Harvester(job.settings)

    async def through(
        self,
        entries: Iterable[Entry],
        is_coming: Callable[[], bool],
        is_over: Callable[[RunProgress], bool],
        *,
        wait: float = TURN,
    ) -> DemoSummary:
        """Follow these feeds until the run is over, then audit the outcomes of all pages.

        Args:
            entries: feeds, as a list of feeds names them.
            is_coming: see `RunningJob.watch`.
            is_over: see `RunningJob.watch`.
            wait: seconds that the audit waits for unfinished records.
        """
        settings = self._job.settings
        async with following(settings, _TOPICS, self._take):
            started = time.monotonic()
            imported = await import_feeds(settings, entries)
            self._job.view.say(f"Following {len(imported.added) + imported.there:,} feeds …")
            await self._job.watch(self._look, is_coming, is_over)
            seconds = time.monotonic() - started
        return DemoSummary(
            fetches=await account_fetches(settings),
            accounts=await account(settings, wait=wait),
            domains=len(self._outputs.progress.domains),
            seconds=seconds,
            refused=tuple(f"{address}: {problem}" for address, problem in imported.refused),
            harvest=self.harvester.harvest(),
        )

    def _take(self, topic: str, record: ConsumerRecord) -> None:
        self.harvester.take(topic, record)
        self._outputs.take(topic, record)

    def _look(self) -> RunProgress:
        progress = self._outputs.update()
        progress.harvest = self.harvester.harvest()
        return progress


async def run_sample(sample: SiteSample, directory: Path, view: RunView) -> DemoSummary:
    """Serve the sample's sites, and follow their feeds until each item has an outcome.

    Raises:
        KafkaError, SettingsError, WorkerError: the message says what the user can do.
    """
    press = Press(sample)
    async with (
        serving(sample, press, directory) as served,
        kafka(directory, view) as settings,
    ):
        await _refuse_to_share(settings)
        async with working(settings, directory, view, FEED_STAGES, _hasty(served)) as job:
            run = FeedRun(job)

            def is_over(progress: RunProgress) -> bool:
                return progress.accounts.missing == 0 and not run.harvester.lost(sample.items)

            press.start()
            entries = [Entry(site.feed_url, site.name) for site in sample.sites]
            summary = await run.through(entries, lambda: not press.is_done, is_over)
            return replace(summary, lost=run.harvester.lost(sample.items))


async def run_feeds(
    entries: Iterable[Entry], seconds: float | None, directory: Path, view: RunView
) -> DemoSummary:
    """Follow real feeds politely for a number of seconds, or until Ctrl-C.

    Raises:
        KafkaError, SettingsError, WorkerError: the message says what the user can do.
    """
    async with (
        kafka(directory, view) as settings,
        working(settings, directory, view, FEED_STAGES) as job,
        ending(seconds) as end,
    ):
        run = FeedRun(job)
        return await run.through(entries, lambda: not end.is_set(), lambda _: True, wait=SETTLING)


async def _refuse_to_share(settings: Settings) -> None:
    """Refuse to run if feeds are followed already: requests for them would reach the sample.

    Raises:
        SettingsError: the topic feeds contains feeds, perhaps from an earlier run of the sample.
    """
    if await read_followed(settings):
        raise SettingsError(
            "The topic feeds already contains feeds, but the sample needs empty topics: set a "
            "prefix for their names, such as URLTREE_PREFIX=another-"
        )


def _hasty(served: Served) -> dict[str, str]:
    """Return settings for our own sites: short intervals, and all requests go to loopback."""
    return {
        "URLTREE_CONTACT": "mailto:sample@example.org",
        "URLTREE_CONNECT_TO": served.connect_to,
        "URLTREE_REQUESTS_PER_ADDRESS": "1000",  # all sites are at one address
        "URLTREE_REQUESTS_PER_DOMAIN_SECOND": "1000",
        "URLTREE_ALLOW_NETWORKS": f"{LOOPBACK}/32",
        "URLTREE_FETCH_CA_FILE": str(served.ca_file),
        "URLTREE_HOST_PAUSE": "0.02",
        "URLTREE_LATENCY_FACTOR": "0.5",
        "URLTREE_INTERVAL_MIN": "1",
        "URLTREE_INTERVAL_MAX": "2",
    }


@asynccontextmanager
async def ending(seconds: float | None) -> AsyncIterator[asyncio.Event]:
    """Yield an event that is set after a number of seconds, or by the first Ctrl-C."""
    end, loop = asyncio.Event(), asyncio.get_running_loop()

    def stop() -> None:
        end.set()
        loop.remove_signal_handler(signal.SIGINT)

    loop.add_signal_handler(signal.SIGINT, stop)
    timer = None if seconds is None else loop.call_later(seconds, end.set)
    try:
        yield end
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        if timer:
            timer.cancel()
