"""Sends what is new in a feed to `fetches`; the rest its site has shown before.

Two feeds of a site on two hosts, polled at the same moment, may both send an item: to remember
what is on its way would lose it where that poll then fails. Downstream it is the same document.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from aiokafka.structs import RecordMetadata

from agents.polling.feed_request import PolledFeed
from agents.polling.feed_tables import FeedTables
from agents.settings.schemes import Schemes
from agents.stage import Stage
from agents.telemetry.logs import log
from models import fetch as fetches
from models.fetch import Fetch
from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.poll.feed_state import FeedState
from urltree.crawl.decisions.poll.outcome import PollOutcome
from urltree.crawl.decisions.poll.seen_items import find_new_items
from urltree.page import PageError


class NewItemSender:
    """The way of a worker's new items to `fetches`.

    Args:
        stage: whose worker it is.
        rows: of what sites have shown; read only.
        schemes: say to which domain a page belongs.
    """

    def __init__(self, stage: Stage, rows: FeedTables, schemes: Schemes) -> None:
        self._stage = stage
        self._rows = rows
        self._schemes = schemes

    async def send(self, partition: int, state: FeedState, asked: PolledFeed) -> PollOutcome:
        """Send new items, oldest first; the outcome with all of them, once Kafka has the new.

        Raises:
            KafkaError: it does not take them; the outcome must not be stored.
        """
        site = state.site
        seen, new = find_new_items(
            asked.items, lambda item: self._rows.is_known(partition, site, item)
        )
        confirmed = [sent for item in new if (sent := await self._send(state, item)) is not None]
        await asyncio.gather(*confirmed)
        self._stage.metrics.items.inc(len(confirmed))
        return replace(asked.outcome, items=seen)

    async def _send(
        self, state: FeedState, item: FeedItem
    ) -> asyncio.Future[RecordMetadata] | None:
        """Queue a page for its domain's owner; None where its link is no page's."""
        fetch = Fetch(
            url=item.link,
            feed=state.feed,
            title=item.title,
            description=item.description,
            published=item.published,
            meta=state.meta,
        )
        value = fetches.encode(fetch)
        try:
            self._stage.check_size("fetches", value)
            to = self._stage.key(self._schemes.domain(item.link))
        except PageError as error:
            self._stage.metrics.items_skipped.inc()
            log.debug("an item is skipped", feed=state.feed, link=item.link, why=error.message)
            return None
        topic = self._stage.settings.topic("fetches")
        future: asyncio.Future[RecordMetadata] = await self._stage.app.producer.deliver(
            topic, *to, value
        )
        return future
