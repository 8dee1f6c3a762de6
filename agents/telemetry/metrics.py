"""What a worker counts, in Prometheus' words; docs/operations.md says what to watch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import compress

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

from urltree.document import Document
from urltree.enrich.fallback import agreement
from urltree.page import Reason
from urltree.site.site import Learned, Relation

disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series for each, which nothing here reads

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
# a page waits behind others: from an idle worker's fraction of a second to a backlog of hours
_PAGE_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400)
_SHARES = (0.1, 0.25, 0.5, 0.75, 0.9, 1)


class _ByVerdict:
    """A counter with a label `verdict`, looked up once: each look-up is a lock and a tuple."""

    def __init__(self, counter: Counter) -> None:
        self._content, self._boilerplate = map(counter.labels, ("content", "boilerplate"))

    def add(self, everything: int, boilerplate: int) -> None:
        """Count so much, and how much of it is boilerplate."""
        self._boilerplate.inc(boilerplate)
        self._content.inc(everything - boilerplate)


class Metrics:
    """The metrics of one worker; a stage uses those that it has something to say about."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.documents = self._counter("documents", "Documents that were sent on.")
        self.replays = self._counter("replays", "Documents of these that were there before.")
        self.revisits = self._counter("revisits", "Documents of these that superseded another.")
        self.revisions = self._counter("revisions", "First pages published again, at 20.")
        self.duplicates = self._counter("duplicates", "Pages seen before, by step.", "step")
        self.dead_letters = self._counter("dead_letters", "Records refused, by reason.", "reason")
        for reason in Reason:  # from 0 on: increase() does not see a series begin at 1
            self.dead_letters.labels(reason)
        self.rekeyed = self._counter("rekeyed", "Pages put under their domain's key.")
        self.blocks = self._counter("blocks", "Text blocks judged, by verdict.", "verdict")
        self.text_characters = self._counter(
            "text_characters", "Characters of the blocks judged, by verdict.", "verdict"
        )
        self._judged, self._characters = _ByVerdict(self.blocks), _ByVerdict(self.text_characters)
        self.evicted = self._counter("evicted", "Rows deleted for their age or number.")
        self.rebuilds = self._counter("rebuilds", "Domains read into memory from their rows.")
        self.retries = self._counter("retries", "Records tried again after an unexpected error.")
        self.pages = self._counter("pages", "Pages that were fetched and published.")
        self.fetch_troubles = self._counter(
            "fetch_troubles", "Requests of fetch without an answer, by trouble.", "trouble"
        )
        self.walls = self._counter("walls", "Answers that stand in for a page, by wall.", "wall")
        self.parked = self._counter("parked", "Pages sent again, for their turn was far off.")
        self.sent_on = self._counter("sent_on", "Pages sent on to another domain's owner.")
        self.robots_fetches = self._counter("robots_fetches", "Requests for a robots.txt.")
        self.polls = self._counter("polls", "Polls of feeds, by result.", "result")
        self.poll_troubles = self._counter("poll_troubles", "Of those that failed.", "trouble")
        self.items = self._counter("items", "New items that were sent to fetches.")
        self.items_skipped = self._counter("items_skipped", "Items whose link is no page's.")
        self.stale_outcomes = self._counter("stale_outcomes", "Outcomes of polls made twice.")
        self.agreement = Histogram(
            "urltree_agreement",
            "F1 of words, ours against a single-page extractor's, where it was asked.",
            buckets=_SHARES,
            registry=self.registry,
        )
        self.seconds = Histogram(
            "urltree_record_seconds",
            "From the start of work on a record to Kafka's confirmation.",
            buckets=_SECONDS,
            registry=self.registry,
        )

        self.page_seconds = Histogram(
            "urltree_page_seconds",
            "From a page's arrival in raw-html to Kafka's confirmation of its clean text.",
            buckets=_PAGE_SECONDS,
            registry=self.registry,
        )

    def learned(self, document: Document, learned: Learned) -> None:
        """Count a document that was judged, and what was said of it."""
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
        """A value that is asked for when metrics are read."""
        Gauge(f"urltree_{name}", text, registry=self.registry).set_function(value)

    def gauges(
        self, name: str, text: str, label: str, values: Mapping[str, Callable[[], float]]
    ) -> None:
        """The same for each value of a label."""
        gauge = Gauge(f"urltree_{name}", text, (label,), registry=self.registry)
        for of, value in values.items():
            gauge.labels(of).set_function(value)

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self.registry)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"urltree_{name}", text, labels, registry=self.registry)
