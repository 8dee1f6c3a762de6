"""Publish pages to raw-html as a user would, with the domain as key and many sends in flight."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping

import orjson
from aiokafka import AIOKafkaProducer
from aiokafka.errors import MessageSizeTooLargeError
from aiokafka.structs import RecordMetadata

from agents.kafka.client import options
from agents.kafka.partitions import partition_of
from agents.settings.job import Settings
from models import raw_html
from urltree.address.url_key import KeyScheme
from urltree.page import Page, PageError
from urltree.reading import Reader
from urltree.reading.source import Source, check_source

IN_FLIGHT = 500  # largest number of pages that Kafka has not confirmed yet
BATCH = 1 << 20  # bytes per batch; with aiokafka's 16 KiB each page would need its own round trip

OnSent = Callable[[int, int], None]


class Publisher:
    """A publisher that sends pages in order, and reports their offsets.

    Args:
        settings: settings of the job.
        on_sent: called with partition and offset when Kafka has confirmed a page.

    Attributes:
        published: number of pages that Kafka has confirmed.
        refused: for each page that cannot be published, the reason.
    """

    def __init__(self, settings: Settings, on_sent: OnSent) -> None:
        self._settings = settings
        self._topic = settings.topic("raw-html")
        self._on_sent = on_sent
        self._scheme = KeyScheme.load()
        self._sent: deque[asyncio.Future[RecordMetadata]] = deque()
        self.published = 0
        self.refused: list[str] = []

    async def publish(self, pages: AsyncIterator[Source]) -> None:
        """Publish all pages, and wait until Kafka has confirmed each.

        Raises:
            KafkaError: Kafka refuses a page.
        """
        client = AIOKafkaProducer(
            **options(self._settings),
            acks="all",
            enable_idempotence=True,
            linger_ms=5,
            max_batch_size=BATCH,
            max_request_size=self._settings.max_record_bytes,
        )
        async with client:
            partitions = len(await client.partitions_for(self._topic))
            async for page in pages:
                await self._send(client, partitions, page)
                await self._confirm(IN_FLIGHT)
            await client.flush()
            await self._confirm(0)

    async def _send(self, client: AIOKafkaProducer, partitions: int, source: Source) -> None:
        try:
            value, key = self._record(source)
            partition = partition_of(key, partitions) if key else None
            self._sent.append(await client.send(self._topic, value, key, partition))
        except (PageError, MessageSizeTooLargeError) as error:
            self.refused.append(str(error))

    async def _confirm(self, left: int) -> None:
        """Note the confirmed pages, and wait until at most `left` pages are unconfirmed."""
        while self._sent and (self._sent[0].done() or len(self._sent) > left):
            sent = await self._sent.popleft()
            self.published += 1
            self._on_sent(sent.partition, sent.offset)

    def _record(self, source: Source) -> tuple[bytes, bytes | None]:
        """Return value and key of a record. A malformed record is published too."""
        try:
            page, _ = check_source(source, "")
        except PageError:
            if isinstance(source, Mapping):
                return orjson.dumps(source), None
            raise
        return raw_html.encode(page), self._key(page)

    def _key(self, page: Page) -> bytes | None:
        try:
            return self._scheme.domain(page.final_url or "").encode()
        except PageError:
            return None


async def read_pages(names: Iterable[str]) -> AsyncIterator[Source]:
    """Read the pages of files and folders, as `urltree extract` does.

    Raises:
        InputError: an input cannot be read.
    """
    for source in Reader().read(names):
        yield source
        await asyncio.sleep(0)
