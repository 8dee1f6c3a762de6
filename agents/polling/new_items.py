"""Send the new items of a feed to the topic `fetches`.

Two feeds of one site on different hosts may be polled at the same time, and both may send the same
item. This is harmless, because both pages become the same document. A list of the items in flight
would prevent this, but an item would be lost if its poll then failed.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from aiokafka.structs import RecordMetadata

from agents.polling.feed_tables import FeedTables
from agents.settings.schemes import Schemes
from agents.stage import Stage
from agents.telemetry.logs import log
from models import fetch as fetches
from models.fetch import FetchRequest
from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.poll.answer import PollAnswer
from urltree.crawl.decisions.poll.feed_state import FeedState
from urltree.crawl.decisions.poll.outcome import PollOutcome
from urltree.crawl.decisions.poll.seen_items import find_new_items
from urltree.page import PageError


class NewItemSender:
    """A sender of the new items of a worker's feeds to the topic `fetches`.

    Args:
        stage: stage of the worker.
        rows: tables of the stage, read only.
        schemes: key schemes, which determine the domain of a page.
    """

    def __init__(self, stage: Stage, rows: FeedTables, schemes: Schemes) -> None:
        self._stage = stage
        self._rows = rows
        self._schemes = schemes

    async def send(self, partition: int, state: FeedState, answer: PollAnswer) -> PollOutcome:
        """Send the new items, oldest first, and wait for Kafka's confirmation.

        Returns:
            The outcome of the poll with all its items.

        Raises:
            KafkaError: Kafka does not accept an item; the outcome must then not be stored.
        """
        site = state.site
        seen, new = find_new_items(
            answer.items, lambda item: self._rows.is_known(partition, site, item)
        )
        confirmed = [sent for item in new if (sent := await self._send(state, item)) is not None]
        await asyncio.gather(*confirmed)
        self._stage.metrics.items.inc(len(confirmed))
        return replace(answer.outcome, items=seen)

    async def _send(
        self, state: FeedState, item: FeedItem
    ) -> asyncio.Future[RecordMetadata] | None:
        """Send an item's page to the partition of its domain; None if the link is not usable."""
        fetch = FetchRequest(
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
            log.debug(
                "skipped a feed item whose page cannot be fetched",
                feed=state.feed,
                link=item.link,
                why=error.message,
            )
            return None
        topic = self._stage.settings.topic("fetches")
        future: asyncio.Future[RecordMetadata] = await self._stage.app.producer.deliver(
            topic, *to, value
        )
        return future
