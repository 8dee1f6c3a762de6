"""The rules as a worker of poll or fetch knows them, at most a few seconds old.

    rules ──▶ whole topic before the first request ──▶ verdict before every request
                └─▶ every second or two: its ends; what is new up to these ends

Between two questions the partitions are paused, because a question would wait behind a fetch
request that waits for new records.

The worker reads the topic outside its group, with a consumer of its own: each worker needs every
rule. It notes when it asked Kafka for the ends up to which it has read. Every rule that was
confirmed before this time is known. If the time is longer ago than MAX_AGE, `is_current` is False,
and the worker begins no request. So no request begins later than 5 s after Kafka has confirmed a
rule, even if the worker was suspended or has lost its connection to Kafka in the meantime.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from time import monotonic

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from agents.kafka.batches.unread import UnreadRecord
from agents.kafka.client import consumer, partitions
from agents.kafka.refusal import Denied as NoRightError
from agents.rules.topic import TOPIC, KnownRules, topic_ids
from agents.settings.job import Settings, SettingsError
from agents.telemetry.logs import log
from agents.telemetry.metrics import Metrics
from models.crawl.fetch import FetchRequest
from models.origin import Origin
from urltree.crawl.decisions.rules.rule import CrawlRule
from urltree.crawl.decisions.rules.rules import (
    MAX_RULES,
    NO_PAGE,
    Denied,
    Removed,
    Rules,
    TopicIds,
    WaitingPage,
)
from urltree.page import PageError

MAX_AGE = 4.0
"""Age of the rules in seconds from which no request begins; the promise is 5 s."""

CHECK = 1.0  # seconds between two questions for the ends of the topic, where requests are sent
CHECK_OF_POLL = 2.0  # the same for `poll`, which sends no request; it saves a quarter of the CPU
_PATIENCE = 3.0  # seconds to wait for Kafka's answer before it is asked again
_RETRY = 0.5  # seconds of rest after an error
_REST_MS = 1_000  # rest of a fetcher whose partitions are paused; the default, 100, costs more CPU


class _TopicIsNewError(Exception):
    """The topic rules was deleted and created anew."""


class RulesWatcher:
    """The rules of the job, for one worker.

    Args:
        settings: settings of the job.
        on_failure: called when the rules can no longer be followed, so that the worker must end.
        metrics: metrics of the worker.
        on_change: called when rules have changed, so that running requests can be judged again.
        clock: returns monotonic seconds.
        check: seconds between two questions for the ends of the topic. With the time for an answer,
            they must be fewer than MAX_AGE.

    Attributes:
        rules: the rules that are in force.
    """

    def __init__(  # noqa: PLR0913
        self,
        settings: Settings,
        on_failure: Callable[[BaseException], None],
        metrics: Metrics | None = None,
        on_change: Callable[[], None] | None = None,
        clock: Callable[[], float] = monotonic,
        *,
        check: float = CHECK,
    ) -> None:
        self._check = check
        self.rules = Rules()
        self._settings = settings
        self._fetches = settings.topic("fetches")
        self._on_failure = on_failure
        self._on_change = on_change
        self._clock = clock
        self._known = KnownRules()
        self._stack = AsyncExitStack()
        self._client: AIOKafkaConsumer | None = None
        self._places: list[TopicPartition] = []
        self._are_ids_old = False  # a rule names a topic with another id than the known one
        self._current_at = float("-inf")
        self._task: asyncio.Task[None] | None = None
        self._unreadable = None if metrics is None else metrics.unreadable_rules
        if metrics is not None:
            metrics.gauge("rules", "Rules of the operator in force.", lambda: len(self.rules))
            metrics.gauge("rules_age_seconds", "Seconds since the rules were current.", self.age)

    async def start(self) -> None:
        """Read the whole topic up to its present end, and follow it from then on.

        Raises:
            NoKafkaError: no broker can be reached.
            SettingsError: the brokers refuse the login, or the topic does not exist.
            KafkaError: the worker may not read the topic, or Kafka does not answer.
        """
        try:
            self._client = await self._stack.enter_async_context(
                consumer(self._settings, retry_backoff_ms=_REST_MS)
            )
            await self._load()
        except BaseException:
            await self.stop()
            raise
        log.info("rules read", rules=len(self.rules))
        self._task = asyncio.create_task(self._follow(), name="rules")

    async def stop(self) -> None:
        """Stop following the topic. From then on the rules are not current."""
        self._current_at = float("-inf")
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        await self._stack.aclose()

    def age(self) -> float:
        """Return the seconds since all confirmed rules were known."""
        return self._clock() - self._current_at

    def is_current(self) -> bool:
        """Return whether the rules are young enough for a request to begin."""
        return self.age() <= MAX_AGE

    async def until_current(self) -> None:
        """Wait until the rules are young enough for a request to begin."""
        while not self.is_current():  # noqa: ASYNC110 - time alone ends it, too
            await asyncio.sleep(0.1)

    def verdict(self, url: str, page: WaitingPage = NO_PAGE) -> Denied | Removed | None:
        """Decide whether an address may be requested; to be asked before every request.

        Ask `is_current`, too: the verdict counts only if the rules are young enough.

        Args:
            url: address that is requested next, also of a redirect or a robots.txt.
            page: the page for which it is requested (`page_of`); for a source, its feed, site and
                feed offset; by default nothing.
        """
        return self.rules.verdict(url, page)

    def verdict_of_page(
        self, wanted: FetchRequest, origin: str, place: tuple[int, int] | None = None
    ) -> Denied | Removed | None:
        """Decide whether a record of `fetches` may be carried out.

        Each address of its chain counts: a page that a denied host redirected is denied, too.

        Args:
            wanted: the record.
            origin: its origin.
            place: its partition and offset. They are used if the origin is not in the present
                topic, because the record was restored from a dump of another prefix.
        """
        page = self.page_of(wanted, origin, place)
        for url in dict.fromkeys((wanted.target, wanted.url, *wanted.redirects)):
            found = self.rules.verdict(url, page)
            if found is not None:
                return found
        return None

    def page_of(
        self, wanted: FetchRequest, origin: str, place: tuple[int, int] | None = None
    ) -> WaitingPage:
        """Return what rules compare about a record of `fetches`; see `verdict_of_page`."""
        at = self._place_of(origin) or place
        return WaitingPage(at, wanted.feed, wanted.site, wanted.feed_offset)

    def _place_of(self, origin: str) -> tuple[int, int] | None:
        try:
            topic, partition, offset = Origin.parse(origin)
        except ValueError:
            return None
        return (partition, offset) if topic == self._fetches else None

    async def _follow(self) -> None:
        lost = False
        while True:
            try:
                await self._advance()
            except (KafkaError, OSError, TimeoutError) as error:
                if isinstance(error, NoRightError):
                    self._on_failure(error)
                    return
                if not lost:
                    log.warning("the rules cannot be followed, trying again", error=repr(error))
                lost = True
                await asyncio.sleep(_RETRY)
            except SettingsError as error:
                log.warning("the rules cannot be followed, trying again", error=str(error))
                await asyncio.sleep(_RETRY)
            except _TopicIsNewError:
                log.warning("the topic rules was created anew; reading all of it")
                await self._load_again()
            except Exception as error:  # noqa: BLE001 - without rules no request may begin
                self._on_failure(error)
                return
            else:
                if lost:
                    log.info("the rules can be followed again")
                lost = False

    async def _load(self) -> None:
        client = self._connected()
        self._current_at = float("-inf")
        self._known = KnownRules()
        self.rules = Rules()
        self.rules.ids = await topic_ids(self._settings)
        self._places = await partitions(client, self._settings.topic(TOPIC))
        client.assign(self._places)
        for place, first in (await client.beginning_offsets(self._places)).items():
            client.seek(place, first)
        await self._read_to_ends(None)

    async def _load_again(self) -> None:
        try:
            await self._load()
        except (KafkaError, OSError, TimeoutError, SettingsError) as error:
            log.warning("the rules cannot be read, trying again", error=repr(error))
            await asyncio.sleep(_RETRY)
        else:
            self._changed()

    async def _advance(self) -> None:
        """Read up to the present ends, then wait until it is time to ask again.

        Raises:
            _TopicIsNewError: the topic ends before the last record that was read.
        """
        await self._read_to_ends(_PATIENCE)
        await asyncio.sleep(self._check)

    async def _read_to_ends(self, patience: float | None) -> None:
        client = self._connected()
        async with asyncio.timeout(patience):
            asked = self._clock()
            ends = await client.end_offsets(self._places)
            if any([await client.position(place) > end for place, end in ends.items()]):
                raise _TopicIsNewError
            # Compare the position and not the offset of the last record: the end may lie behind
            # records that compaction has removed, or behind markers of transactions.
            behind = [p for p, end in ends.items() if await client.position(p) < end]
            client.resume(*behind)
            while any([await client.position(p) < ends[p] for p in behind]):
                await self._take(behind)
            client.pause(*self._places)
            if self._are_ids_old:
                self.rules.ids = await topic_ids(self._settings)
                self._are_ids_old = False
        self._current_at = asked

    async def _take(self, places: list[TopicPartition]) -> None:
        """Apply the next records of some partitions."""
        client = self._connected()
        found = await client.getmany(*places, timeout_ms=200)
        changed = [rule for batch in found.values() for rule in map(self._apply, batch)]
        present = [rule for rule in changed if rule is not None]
        self._are_ids_old |= any(map(self._is_of_unknown_topics, present))
        if any(found.values()) and self._task is not None:
            log.info("rules changed", rules=len(self.rules))
            self._changed()

    def _apply(self, record: object) -> CrawlRule | None:
        """Apply a record; return the rule that it has put in force, if it has."""
        if isinstance(record, UnreadRecord):
            self._refuse(record.describe())
            return None
        place = f"{record.topic}/{record.partition}/{record.offset}"  # type: ignore[attr-defined]
        try:
            key = self._known.apply(record.partition, record.key, record.value)  # type: ignore[attr-defined]
        except PageError as error:
            self._refuse(f"{place}: {error}")
            return None
        if key is None:
            return None
        rule = self._known.rules.get(key)
        if rule is None:
            self.rules.delete(key)
        else:
            self.rules.put(rule)
            if len(self.rules) == MAX_RULES + 1:
                log.warning("there are more rules than intended", rules=len(self.rules))
        return rule

    def _refuse(self, text: str) -> None:
        log.error("a rule cannot be read and is not in force; write it again", problem=text)
        if self._unreadable is not None:
            self._unreadable.inc()

    def _is_of_unknown_topics(self, rule: CrawlRule) -> bool:
        named = TopicIds(
            None if rule.fetches is None else rule.fetches.topic,
            None if rule.feeds is None else rule.feeds[0],
        )
        return any(
            of_rule is not None and of_rule != of_job
            for of_rule, of_job in zip(named, self.rules.ids, strict=True)
        )

    def _changed(self) -> None:
        if self._on_change is not None:
            self._on_change()

    def _connected(self) -> AIOKafkaConsumer:
        if self._client is None:
            raise RuntimeError("the watcher has not started")
        return self._client
