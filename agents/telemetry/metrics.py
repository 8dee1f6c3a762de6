"""The metrics that a worker counts; docs/operations.md describes which ones to watch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import compress

from faust.types import TP
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from models.headers.signature import Flaw
from urltree.document import Document
from urltree.enrich.fallback import agreement
from urltree.page import Reason
from urltree.site.site import Learned, Relation

disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series per metric, unused

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
# Bounds from a fraction of a second (an idle worker) to a day (a long backlog).
_PAGE_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400)
_SHARES = (0.1, 0.25, 0.5, 0.75, 0.9, 1)


class _ByVerdict:
    """Counter with the label `verdict`, whose two children are looked up only once.

    Each lookup of a child would take a lock and make a tuple.
    """

    def __init__(self, counter: Counter) -> None:
        self._content, self._boilerplate = map(counter.labels, ("content", "boilerplate"))

    def add(self, everything: int, boilerplate: int) -> None:
        """Add a total and the part of it that is boilerplate."""
        self._boilerplate.inc(boilerplate)
        self._content.inc(everything - boilerplate)


class _ByPartition(Collector):
    """Gauge with the labels `topic` and `partition`: the assigned partitions change."""

    def __init__(self, name: str, text: str, values: Callable[[], Mapping[TP, float]]) -> None:
        self._name, self._text, self._values = name, text, values

    def collect(self) -> Iterator[Metric]:
        """Yield the gauge with one series for each partition."""
        gauge = GaugeMetricFamily(self._name, self._text, labels=("topic", "partition"))
        for tp, value in sorted(self._values().items()):
            gauge.add_metric((tp.topic, str(tp.partition)), value)
        yield gauge


class Metrics:
    """Metrics of one worker; each stage counts only the metrics that concern its work."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.documents = self._counter("documents", "Documents that the stage has published.")
        self.replays = self._counter(
            "replays", "Published documents that had been published before."
        )
        self.revisits = self._counter(
            "revisits", "Published documents that superseded an earlier page of the same URL."
        )
        self.revisions = self._counter(
            "revisions", "First pages published again when their domain had 20 documents."
        )
        self.duplicates = self._counter(
            "duplicates", "Duplicates of pages, by the step that recognised them.", "step"
        )
        self.dead_letters = self._counter(
            "dead_letters", "Records that became dead letters, by reason.", "reason"
        )
        self.lost_offsets = self._counter(
            "lost_offsets",
            "Offsets of ranges that became one dead letter each, by reason.",
            "reason",
        )
        # Create every series at 0: increase() in PromQL misses a series that begins at 1.
        for reason in Reason:
            self.dead_letters.labels(reason)
        for reason in (Reason.EXPIRED, Reason.UNREADABLE):
            self.lost_offsets.labels(reason)
        self.rekeyed = self._counter(
            "rekeyed", "Pages sent to raw-html again, with the key and partition of their domain."
        )
        self.ignored_headers = self._counter(
            "ignored_headers",
            "Records whose urltree- headers were ignored, by the flaw of their signature.",
            "signature",
        )
        for flaw in Flaw:
            self.ignored_headers.labels(flaw)
        self.blocks = self._counter("blocks", "Text blocks classified, by verdict.", "verdict")
        self.text_characters = self._counter(
            "text_characters", "Characters of the classified text blocks, by verdict.", "verdict"
        )
        self._judged, self._characters = _ByVerdict(self.blocks), _ByVerdict(self.text_characters)
        self.evicted = self._counter(
            "evicted", "Rows deleted because of age, the number of documents, or `forget`."
        )
        self.forgotten = self._counter(
            "forgotten", "Records of forgotten pages that were read again and not published."
        )
        self.rebuilds = self._counter(
            "rebuilds", "Domains whose state was read from their rows into memory."
        )
        self.retries = self._counter(
            "retries", "Records processed a second time after an unexpected error."
        )
        self.tables_wiped = self._counter(
            "tables_wiped",
            "Partitions of tables wiped on disk and restored from the changelog, by reason.",
            "reason",
        )
        for why in ("damaged", "unused", "ahead"):
            self.tables_wiped.labels(why)
        self.pages = self._counter("pages", "Pages that were fetched and published.")
        self.fetch_troubles = self._counter(
            "fetch_troubles", "Failed requests for pages, by kind of error.", "trouble"
        )
        self.walls = self._counter(
            "walls",
            "Responses that show a consent form or a challenge instead of the page, by kind.",
            "wall",
        )
        self.parked = self._counter(
            "parked", "Pages sent to the end of fetches because their host is not ready soon."
        )
        self.sent_on = self._counter(
            "sent_on", "Pages sent to fetches again because a redirect led to another domain."
        )
        self.robots_fetches = self._counter("robots_fetches", "Requests for a robots.txt.")
        self.held = self._counter(
            "held", "Pages that may be walls and were sent to fetches again, to wait there."
        )
        self.expired_requests = self._counter(
            "expired_requests", "Small requests that waited too long and were dropped."
        )
        self.polls = self._counter("polls", "Polls of feeds, by result.", "result")
        self.poll_troubles = self._counter(
            "poll_troubles", "Failed polls of feeds, by kind of error.", "trouble"
        )
        self.items = self._counter("items", "New items that were sent to fetches.")
        self.items_skipped = self._counter(
            "items_skipped",
            "New items that cannot be sent to fetches, such as those without a link.",
        )
        self.stale_outcomes = self._counter(
            "stale_outcomes",
            "Poll outcomes ignored because the feed was polled twice or was removed.",
        )
        self.unreadable_rules = self._counter(
            "unreadable_rules",
            "Records of the topic rules that cannot be read, so that a rule may not be in force.",
        )
        self.agreement = Histogram(
            "urltree_agreement",
            "F1 of words between our text and that of the single-page extractor, if one ran.",
            buckets=_SHARES,
            registry=self.registry,
        )
        self.seconds = Histogram(
            "urltree_record_seconds",
            "Seconds from the start of processing a record to Kafka's confirmation.",
            buckets=_SECONDS,
            registry=self.registry,
        )

        self.page_seconds = Histogram(
            "urltree_page_seconds",
            "Seconds from a page's arrival in raw-html to the confirmation of its clean text.",
            buckets=_PAGE_SECONDS,
            registry=self.registry,
        )

    def learned(self, document: Document, learned: Learned) -> None:
        """Count a published document, and its blocks by verdict."""
        self.documents.inc()
        if learned.relation is Relation.REPLAY:
            self.replays.inc()
        dropped = learned.verdict.boilerplate
        shared = agreement(document, dropped)
        if shared is not None:
            self.agreement.observe(shared)
        lengths = [len(block.text) for block in document.blocks]
        self._judged.add(len(lengths), sum(dropped))
        self._characters.add(sum(lengths), sum(compress(lengths, dropped)))

    def gauge(self, name: str, text: str, value: Callable[[], float]) -> None:
        """Add a gauge whose value is computed when the metrics are read."""
        Gauge(f"urltree_{name}", text, registry=self.registry).set_function(value)

    def gauges(
        self, name: str, text: str, label: str, values: Mapping[str, Callable[[], float]]
    ) -> None:
        """Add a gauge with one label, whose values are computed when the metrics are read."""
        gauge = Gauge(f"urltree_{name}", text, (label,), registry=self.registry)
        for of, value in values.items():
            gauge.labels(of).set_function(value)

    def gauge_by_partition(
        self, name: str, text: str, values: Callable[[], Mapping[TP, float]]
    ) -> None:
        """Add a gauge by topic and partition, whose values are computed when metrics are read."""
        self.registry.register(_ByPartition(f"urltree_{name}", text, values))

    def text(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self.registry)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"urltree_{name}", text, labels, registry=self.registry)
