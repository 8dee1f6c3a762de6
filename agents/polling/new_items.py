"""Send the new items of a feed to the topic `fetches`.

Two feeds of one site may show the same item before one of them has stored it. This is harmless,
because both pages become the same document. A list of the items in flight would prevent this, but
an item would be lost if its poll then failed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from aiokafka.structs import RecordMetadata

from agents.settings.schemes import Schemes
from agents.stage import Stage
from agents.telemetry.logs import log
from models.crawl import fetch as fetches
from models.crawl.fetch import FetchRequest
from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.poll.content import content_of
from urltree.crawl.decisions.poll.feed_state import FeedState
from urltree.crawl.decisions.poll.item_decision import Decision
from urltree.crawl.decisions.poll.source_options import Content
from urltree.page import PageError

FEED_CONTENT_MAX = 1_000_000  # bytes of an item's text; the page of a longer item is fetched


class NewItemSender:
    """A sender of the new items of a worker's feeds to the topic `fetches`.

    Args:
        stage: stage of the worker.
        schemes: key schemes, which determine the domain of a page.
    """

    def __init__(self, stage: Stage, schemes: Schemes) -> None:
        self._stage = stage
        self._schemes = schemes

    async def send(self, state: FeedState, decision: Decision, named_at: float) -> None:
        """Send the new items, oldest first, then the revisits; wait for Kafka's confirmation.

        Args:
            state: state of the feed before the poll.
            decision: decision about the items of the poll.
            named_at: time at which the poll found the items, seconds since 1970.

        Raises:
            KafkaError: Kafka does not accept an item; rows and outcome must then not be stored.
        """
        found = [
            request_page(state, decision, item, named_at, number)
            for number, item in enumerate(decision.new)
        ]
        again = [
            replace(request_page(state, decision, item, named_at), is_revisit=True)
            for item in decision.revisits
        ]
        sent = [await self._send(fetch) for fetch in (*found, *again)]
        confirmed = [future for future in sent if future is not None]
        await asyncio.gather(*confirmed)
        self._stage.metrics.items.inc(len(confirmed))

    async def _send(self, fetch: FetchRequest) -> asyncio.Future[RecordMetadata] | None:
        """Send a page to the partition of its domain; None if the link is not usable."""
        try:
            value = encode_within(fetch, lambda value: self._stage.check_size("fetches", value))
            to = self._stage.key(self._schemes.domain(fetch.url))
        except PageError as error:
            self._stage.metrics.items_skipped.inc()
            log.debug(
                "skipped a feed item whose page cannot be fetched",
                feed=fetch.feed,
                link=fetch.url,
                why=error.message,
            )
            return None
        topic = self._stage.settings.topic("fetches")
        future: asyncio.Future[RecordMetadata] = await self._stage.app.producer.deliver(
            topic, *to, value
        )
        return future


def request_page(
    state: FeedState, decision: Decision, item: FeedItem, named_at: float, number: int = 0
) -> FetchRequest:
    """Return the request for the page of an item.

    Args:
        state: state of the feed before the poll.
        decision: decision about the items of the poll.
        item: item of the decision.
        named_at: time at which the poll found the item, seconds since 1970.
        number: number of the item among the new items, from 0.
    """
    content, text = content_of(state, named_at, number), item.content
    if text is None or len(text.encode(errors="replace")) > FEED_CONTENT_MAX:
        content = Content.PAGE
    options = state.options
    return FetchRequest(
        url=item.link,
        feed=state.feed,
        title=item.title,
        description=item.description,
        published=item.published,
        meta=state.meta,
        site=state.site,
        feed_offset=state.offset,
        named_at=named_at,
        is_first_poll=decision.is_first_poll,
        content=content,
        feed_content=None if content is Content.PAGE else text,
        credentials=options.credentials if options.are_credentials_for_pages else None,
    )


def encode_within(fetch: FetchRequest, check_size: Callable[[bytes], None]) -> bytes:
    """Encode a request; if it is too large, without the text in the feed, so that it is fetched.

    Raises:
        PageError: the request is too large nevertheless.
    """
    value = fetches.encode(fetch)
    try:
        check_size(value)
    except PageError:
        if fetch.feed_content is None:
            raise
        value = fetches.encode(replace(fetch, feed_content=None, content=Content.PAGE))
        check_size(value)
    return value
