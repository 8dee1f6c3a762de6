"""Stage poll: follows feeds and stores their states. Its records are keyed by site.

    feeds ─────────▶ feed added: write its row; removed: delete it ────────▶ feed_state
    requests ◀────── a feed is due (agents.polling)
    poll-outcomes ─▶ answer: new items ─▶ fetches ──confirmed──▶ seen_items, feed_state
                                                └ not the poll that the row expects: no new state

The worker that owns the host of a feed sends the request to the web (`agents.fetching`). The
decisions are in `urltree.crawl.decisions.poll`.

An answer that is read again after a crash finds the same items and writes the same rows again:
after kill -9, RocksDB may be ahead of the changelog. If a feed was removed, the items of its last
answer are neither fetched nor stored.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from faust.types.tuples import Message

from agents.app import make_table
from agents.kafka.delivery import OnFailure, Work
from agents.polling.answers import Answers
from agents.polling.feed_tables import FeedTables, feed_key
from agents.polling.service import Polling
from agents.polling.sitemaps import Sitemaps
from agents.rules.watcher import CHECK_OF_POLL, RulesWatcher
from agents.settings.job import Settings, require_contact
from agents.settings.schemes import Schemes
from agents.stage import Stage
from models.crawl import feed as feeds
from models.crawl import poll_outcome as outcomes
from models.dead_letter import Record
from urltree.crawl.decisions.feed.address import has_credentials, mask_credentials
from urltree.crawl.decisions.poll.answer import PageReport, PollAnswer
from urltree.crawl.decisions.poll.content import apply_report
from urltree.crawl.decisions.poll.feed_state import (
    Subscription,
    add_again,
    new_feed_state,
)
from urltree.crawl.decisions.poll.identity import link_key
from urltree.crawl.decisions.poll.interval import PollRules
from urltree.crawl.decisions.poll.schedule import FeedKey
from urltree.crawl.decisions.poll.seen_items import dropped_row, former_rows
from urltree.page import PageError, Reason


class Poll(Stage):
    """The stage from feeds to fetches.

    Args:
        settings: settings of the job.
        on_failure: called when the worker cannot continue.
        clock: returns seconds since 1970.
    """

    name = "poll"
    reads = ("feeds", "poll-outcomes")

    def __init__(
        self,
        settings: Settings,
        on_failure: OnFailure,
        clock: Callable[[], float] = time.time,
    ) -> None:
        require_contact(settings)
        super().__init__(settings, on_failure)
        self._clock = clock
        rules = PollRules(settings.interval_min, settings.interval_max, settings.quarantine_errors)
        self._schemes = Schemes(settings)
        self.rows = FeedTables(
            make_table(self.app, "feed_state"),
            make_table(self.app, "seen_items"),
            settings.seen_days,
        )
        self.crawl_rules = RulesWatcher(
            settings, self.fail, self.metrics, self._on_rules, check=CHECK_OF_POLL
        )
        self.polling = Polling(self, self.rows, self._schemes, rules, self.crawl_rules, clock)
        self._sitemaps = Sitemaps(self.rows, self.polling, rules, clock)
        self._answers = Answers(
            *(self, self.rows, self.polling, self._sitemaps),
            *(self._schemes, rules, self.crawl_rules, clock),
        )
        self.app.task(self.polling.run)
        self.app.before_stop = self.polling.stop

    async def process(self, message: Message, origin: str, work: Work) -> None:  # noqa: ARG002
        """Follow a feed, stop following it, or apply the outcome of its poll.

        Raises:
            PageError: the record is invalid.
        """
        if message.topic == self.settings.topic("feeds"):
            await self._follow(message, work)
        else:
            await self._apply(message, work)

    def original(self, work: Work) -> Record:
        """Return the record of a work; of an address with a password, the password is masked."""
        record = super().original(work)
        if work.message.topic != self.settings.topic("feeds"):
            return record
        return record._replace(key=feeds.mask_key(record.key))

    def drop(self, partition: int, domain: str) -> None:
        """Do nothing: memory contains only due times, and the rows contain them, too."""

    def clear(self) -> None:
        """Forget the schedule and the answers before the partitions move to other workers."""
        self.polling.clear()
        self._answers.clear()

    def _on_rules(self) -> None:
        self.polling.wake()

    async def _follow(self, message: Message, work: Work) -> None:
        site, url = feeds.split_key(message.key)
        to = self.key(site)
        if message.partition != to.partition:
            raise PageError(
                Reason.MISPLACED,
                f"the record of site {site} is in partition {message.partition} instead of "
                f"{to.partition}; send it to the partition of its site, as `feeds add` does",
            )
        key = feed_key(to.partition, site, url)
        if message.value is None:
            if await self._may_write(work, site):
                await self._forget(key, work)
            return
        if has_credentials(url):
            raise PageError(
                Reason.MALFORMED,
                f"key: {mask_credentials(url)} contains a user name or password; remove it, and "
                "add it again without them and with --credentials",
            )
        feed = feeds.decode(message.key, message.value)
        self._schemes.domain(url)
        if not await self._may_write(work, site):
            return
        now, before = self._clock(), self.rows.get(key)
        added = Subscription(
            title=feed.title, meta=feed.meta, options=feed.options, offset=message.offset
        )
        if before is None:
            state = new_feed_state(url, site, now, added)
        else:
            state = replace(add_again(before, now, added), parent=None)  # a source of its own
            if state.options.kind is before.options.kind:
                await self._sitemaps.update(key, state, work)
            else:
                await self._sitemaps.remove(key, before, work)
        await self.rows.put(key, state, work)
        self.polling.put(key, state)

    async def _forget(self, key: FeedKey, work: Work) -> None:
        """Stop following a source, and the sitemaps that it has named."""
        state = self.rows.get(key)
        if state is not None:
            await self._sitemaps.remove(key, state, work)
        await self.rows.delete(key, state, work)
        self.polling.remove(key)

    async def _may_write(self, work: Work, site: str) -> bool:
        """Wait for the answers of a site, which write its rows; return whether they are ours."""
        await self._answers.wait(work.message.partition, site)
        is_ours = await self.is_ours(work.message)
        if not is_ours:
            self.delivery.drop(work)
        return is_ours

    async def _apply(self, message: Message, work: Work) -> None:
        record = outcomes.decode(message.value)
        if isinstance(record, PollAnswer):
            self.check_place(record.outcome.site, message)
            self._answers.begin(record, work)
            return
        self.check_place(record.site, message)
        if not await self._may_write(work, record.site):
            return
        key = feed_key(message.partition, record.site, record.feed)
        if isinstance(record, PageReport):
            await self._apply_report(key, record, work)
            return
        lookup = self.rows.lookup(message.partition, record.site)
        rows = former_rows(record, lookup, self.settings.seen_days)
        await self.rows.see(message.partition, record.site, rows, work)
        await self._answers.apply_outcome(key, self.rows.get(key), record, work)

    async def _apply_report(self, key: FeedKey, report: PageReport, work: Work) -> None:
        """Count what the pages of a source have shown, and make dropped pages count as not seen."""
        state, now = self.rows.get(key), self._clock()
        if state is not None:
            state = apply_report(state, report, now)
            if report.dropped:  # otherwise an unchanged body would hide the items
                state = replace(state, etag=None, last_modified=None, body_hash=None)
            await self.rows.put(key, state, work)
        dropped = {link_key(url): dropped_row(now) for url in report.dropped}
        await self.rows.see(key[0], report.site, dropped, work)
