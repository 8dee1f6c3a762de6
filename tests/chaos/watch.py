"""Follow the outputs while a schedule runs: what is not answered yet, and how long all was silent.

The watcher is a consumer like that of a user, so a silence includes the time in which Kafka itself
did not answer.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from typing import NamedTuple

from confluent_kafka import KafkaException

from tests.chaos.auditor import OUTPUTS, link_of
from tests.chaos.records import Record, partitions_of, reader, record_of

TOPICS = ("raw-html", *OUTPUTS)
NOTED = 2.0  # shortest silence that is noted, in seconds

_POLL = 0.2


class Silence(NamedTuple):
    """A time without output while an input waited for its outcome, by `time.monotonic`."""

    start: float
    end: float

    @property
    def seconds(self) -> float:
        """Duration in seconds."""
        return self.end - self.start


class Watcher(threading.Thread):
    """A consumer of the inputs and the outputs.

    Attributes:
        silences: times without output of NOTED seconds or more.
        links: links that were fetched or refused.
        ids: ids of the inputs that were seen in raw-html.
    """

    def __init__(self, brokers: str) -> None:
        super().__init__(name="watcher", daemon=True)
        self._brokers = brokers
        self._lock = threading.Lock()
        self._waiting: set[str] = set()
        self._answered: set[str] = set()
        self._quiet_since: float | None = None
        self._over = threading.Event()
        self.silences: list[Silence] = []
        self.links: set[str] = set()
        self.ids: set[str] = set()
        self.outputs = 0

    def run(self) -> None:
        """Follow the topics until `stop` is called."""
        client = reader(self._brokers)
        client.assign(partitions_of(client, TOPICS))
        try:
            while not self._over.is_set():
                try:
                    messages = client.consume(200, timeout=_POLL)
                except KafkaException:
                    continue
                records = [record_of(one) for one in messages if one.error() is None]
                with self._lock:
                    self._take(records)
        finally:
            client.close()

    def stop(self) -> None:
        """End the thread."""
        self._over.set()
        self.join()
        self._note(time.monotonic())

    def waiting(self) -> int:
        """Return the number of pages in raw-html that have no outcome yet."""
        with self._lock:
            return len(self._waiting)

    def missing(self, ids: Mapping[str, object], links: Mapping[str, object]) -> int:
        """Return the number of these inputs and links that have not arrived yet."""
        with self._lock:
            return len(ids.keys() - self.ids) + len(links.keys() - self.links)

    def _take(self, records: list[Record]) -> None:
        now = time.monotonic()
        for one in records:
            if one.topic == "raw-html":
                self._take_page(one)
            else:
                self._take_output(one, now)
        if self._waiting and self._quiet_since is None:
            self._quiet_since = now
        elif not self._waiting:
            self._note(now)

    def _take_page(self, one: Record) -> None:
        if one.header("urltree-origin") is not None:
            return
        id_ = one.header("chaos-input")
        if id_ is None:
            self.links.add(link_of(one) or "")
        else:
            self.ids.add(id_)
        if one.place not in self._answered:
            self._waiting.add(one.place)

    def _take_output(self, one: Record, now: float) -> None:
        origin = (one.key or b"").decode(errors="replace")
        if one.topic == "clean-text":
            origin = json.loads(one.value or b"{}")["origin"]
        elif one.header("urltree-topic") == "fetches":
            self.links.add(link_of(Record(*one[:5], headers=())) or "")
        self.outputs += 1
        self._answered.add(origin)
        self._waiting.discard(origin)
        self._note(now)

    def _note(self, now: float) -> None:
        """End a silence."""
        if self._quiet_since is not None and now - self._quiet_since >= NOTED:
            self.silences.append(Silence(self._quiet_since, now))
        self._quiet_since = now if self._waiting else None
