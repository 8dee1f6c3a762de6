"""Run one schedule: a cluster, the whole job, load, faults, and the audit at the end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from demo.kafka_files import PREVIOUS_JARS, PREVIOUS_VERSION, Installation, KafkaError
from demo.kafka_install import install
from tests.chaos.auditor import CLEAN, DEAD, TOPICS, Findings, Ledger, audit
from tests.chaos.comparison import Comparison, compare
from tests.chaos.disks import SmallDisk
from tests.chaos.faults import Injector
from tests.chaos.inputs import MAX_PAGE, inputs_of
from tests.chaos.load import Load, missing_library
from tests.chaos.plan import (
    PAGES_A_SECOND,
    SESSION,
    STORIES_A_SECOND,
    WORKERS,
    Fault,
    Kind,
    Plan,
)
from tests.chaos.proxy import Proxies
from tests.chaos.records import Topics, read_topics
from tests.chaos.watch import Silence, Watcher
from tests.job.feed_sites import FeedSites
from tests.job.feed_sites import Kind as Story
from tests.job.feed_storm import follow
from tests.job.harness import Job
from tests.three_brokers import NODES, ThreeBrokers
from urltree.tree.window import DAY, Eviction

SITES = 6
DRAIN = 240.0  # longest time after the last fault until every input has an outcome, in seconds
CALM = 4.0  # seconds without output after which nothing is repeated any more

_WORKER_DISK, _BROKER_DISK = 96, 1_024  # size of the small disks in MiB
_TICK = 0.5
_WINDOW = {"max_age_days": 400, "keep": 20}
Say = Callable[[str], None]


@dataclass
class Result:
    """The result of a schedule.

    Attributes:
        seconds: duration of everything.
        skipped: why parts of the plan were not carried out.
        longest: the longest silence of the output, and the faults that were then active.
        refused: reasons why Kafka did not take an input; such an input is not accounted for.
        proxied: number of connections that went through the proxies.
        ends: ends of processes that no fault has asked for, by name and exit code.
        last_words: the last line of the log at each of these ends.
        topics: all records, for further tests.
        unfinished: what was not finished in time after the last fault; empty if all was.
    """

    plan: Plan
    seconds: float
    ledger: Ledger
    findings: Findings
    comparison: Comparison
    skipped: list[str]
    longest: Silence | None
    causes: list[Fault]
    refused: list[str]
    proxied: int
    ends: dict[str, int]
    last_words: list[str]
    topics: Topics = field(repr=False)
    unfinished: str = ""

    @property
    def complaints(self) -> list[str]:
        """Everything that is wrong."""
        return [*self.findings.complaints, *self.comparison.differing]

    def line(self) -> str:
        """Return the result in one line."""
        found, same = self.findings, self.comparison
        outcomes = ", ".join(f"{count} {kind}" for kind, count in sorted(found.outcomes.items()))
        silence = "no silence of 2 s"
        if self.longest is not None:
            causes = "; ".join(f"{one.kind} {one.target}" for one in self.causes)
            silence = f"longest silence {self.longest.seconds:.1f} s ({causes or 'no fault'})"
        return (
            f"{'FAILED' if self.complaints else 'ok'} seed {self.plan.seed}: "
            f"{len(self.plan.faults)} faults, {len(self.skipped)} skipped; "
            f"{len(self.ledger.inputs) + len(self.ledger.links)} inputs: {outcomes}; "
            f"{len(found.lost)} lost, {len(found.wrong) + len(found.invented)} wrong, "
            f"{len(found.counts)} wrong counts, {len(found.changed)} changed; "
            f"{len(same.differing)} of {same.pages} texts differ from the library; {silence}; "
            f"{self.seconds:.0f} s"
        )

    def record(self) -> dict[str, Any]:
        """Return the result as a JSON object."""
        found, same = self.findings, self.comparison
        return {
            "seed": self.plan.seed,
            "load_seconds": self.plan.seconds,
            "seconds": round(self.seconds, 1),
            "ok": not self.complaints,
            "faults": [str(fault) for fault in self.plan.faults],
            "skipped": self.skipped,
            "inputs": len(self.ledger.inputs),
            "stories": len(self.ledger.links),
            "refused_to_producers": self.refused,
            "proxied_connections": self.proxied,
            "outcomes": dict(found.outcomes),
            "repeats": found.repeats,
            "lost": found.lost,
            "invented": found.invented,
            "wrong": found.wrong,
            "counts": found.counts,
            "changed": found.changed,
            "changed_after_window": len(found.changed_after_window),
            "changed_without_order": len(found.changed_without_order),
            "compared_domains": same.domains,
            "compared_pages": same.pages,
            "differing": same.differing,
            "superseded_in_replays": same.superseded,
            "domains_without_order": same.unordered,
            "domains_left_out": same.left,
            "longest_silence": round(self.longest.seconds, 1) if self.longest else 0,
            "silence_causes": [str(fault) for fault in self.causes],
            "ends": self.ends,
            "last_words": self.last_words,
            "unfinished": self.unfinished,
        }


class Run:
    """A schedule while it runs.

    Args:
        plan: what to do.
        directory: directory for logs, disks and the records of Kafka.
        say: called with messages about the present step.
    """

    def __init__(self, plan: Plan, directory: Path, say: Say) -> None:
        self.plan, self.directory, self.say = plan, directory, say
        self.skipped: list[str] = []
        self._releases = self._installations()
        for profile in plan.profiles:
            if problem := missing_library(profile.codec):
                self.skipped.append(f"producer {profile.name} does not compress: {problem}")

    def _installations(self) -> Sequence[Installation]:
        present = install()
        if not self.plan.previous:
            return (present,)
        try:
            return present, install(version=PREVIOUS_VERSION, listed=PREVIOUS_JARS)
        except KafkaError as error:
            self.skipped.append(f"the previous release of Kafka is not used: {error}")
            return (present,)

    def run(self) -> Result:
        """Run the schedule, and account for all its inputs."""
        started = time.monotonic()
        with ExitStack() as stack:
            self._set_up(stack)
            self.say(f"ready after {time.monotonic() - started:.0f} s")
            longest, causes = self._blow()
            ledger = self._ledger()
            unfinished = self._unfinished()
            for worker in self.job.workers:
                worker.stop()
            topics = read_topics(self.cluster.brokers, TOPICS)
        findings = audit(ledger, topics)
        comparison = compare(topics, options_of(self.plan))
        self.skipped += [f"{one.fault}: {one.skipped}" for one in self.faults.done if one.skipped]
        return Result(
            plan=self.plan,
            seconds=time.monotonic() - started,
            ledger=ledger,
            findings=findings,
            comparison=comparison,
            skipped=self.skipped,
            longest=longest,
            causes=causes,
            refused=[f"{id_}: {why}" for load in self.loads for id_, why in load.refused.items()],
            proxied=self.proxies.connections,
            ends=dict(self.faults.ends),
            last_words=self.faults.last_words,
            topics=topics,
            unfinished=unfinished,
        )

    def _set_up(self, stack: ExitStack) -> None:
        plan = self.plan
        disks = {name: self._disk(name, stack) for name in plan.small}
        self.proxies = stack.enter_context(Proxies(len(NODES)))
        self.sites = stack.enter_context(FeedSites(SITES, plan.seed))
        self.cluster = stack.enter_context(
            ThreeBrokers(
                self._releases[-1],
                [self.directory / f"broker-{number}" for number in NODES],
                self.proxies.ports,
            )
        )
        self.proxies.lead_to([node.ports["PROXIED"] for node in self.cluster.nodes])
        self.job = Job(self.cluster.brokers, "", self.directory, **self._settings())
        stack.enter_context(self.job)
        for stage, several in WORKERS.items():
            for number in range(several):
                self._prepare(stage, f"{stage}-{number}")
        for worker in self.job.workers:
            worker.start(wait=False)
        for worker in self.job.workers:
            worker.wait_ready()
        self.watcher = Watcher(self.cluster.brokers)
        stack.callback(self.watcher.stop)
        self.faults = Injector(plan, self.cluster, self.proxies, self.job, self._releases, disks)
        stack.callback(self.faults.stop)

    def _disk(self, name: str, stack: ExitStack) -> SmallDisk:
        """Mount the small disk of a worker or a broker at its directory."""
        size = _BROKER_DISK if name.startswith("broker") else _WORKER_DISK
        disk = SmallDisk(self.directory / name.replace(" ", "-"), size)
        stack.callback(disk.close)
        return disk

    def _prepare(self, stage: str, name: str) -> None:
        worker = self.job.worker(stage, name, session=SESSION)
        if self.plan.static:
            worker.environment["URLTREE_INSTANCE_ID"] = name
        if name == self.plan.proxied:
            brokers = ",".join(f"127.0.0.1:{port}" for port in self.proxies.ports)
            worker.environment["URLTREE_BROKERS"] = brokers

    def _settings(self) -> dict[str, object]:
        window = {**_WINDOW, "max_documents": self.plan.window} if self.plan.window else {}
        return {
            "topics_replicas": 3,
            "max_page_bytes": MAX_PAGE,
            "revisits": self.plan.revisits,
            **(window or {"evict": False}),
            # the limits of production
            "delivery_seconds": 30,
            "shutdown_seconds": 25,
            "stall_seconds": 120,
            "interval_min": 2,
            "interval_max": 4,
            "host_pause": 0.02,
            "latency_factor": 0,
            "park_seconds": 5,
            **self.sites.settings(),
        }

    def _blow(self) -> tuple[Silence | None, list[Fault]]:
        """Run load and faults; return the longest silence and the faults at that time."""
        plan = self.plan
        number = int(plan.seconds * PAGES_A_SECOND / len(plan.profiles))
        self.loads = [
            Load(
                self.cluster.brokers,
                "raw-html",
                profile,
                inputs_of(plan, profile, number),
                plan.seconds,
            )
            for profile in plan.profiles
        ]
        self.watcher.start()
        follow(self.job, self.sites.feeds)
        stories = threading.Thread(target=self._publish_stories)
        for thread in (*self.loads, stories):
            thread.start()
        self.faults.start()
        for thread in (*self.loads, stories):
            thread.join()
        self.faults.join()
        self.say("load and faults are over; waiting for the outcomes")
        self._drain()
        self.watcher.stop()
        self.faults.stop()
        longest = max(self.watcher.silences, key=lambda one: one.seconds, default=None)
        causes = self.faults.active(longest.start, longest.end) if longest else []
        return longest, causes

    def _publish_stories(self) -> None:
        started = time.monotonic()
        total = int(self.plan.seconds * STORIES_A_SECOND)
        for number in range(total):
            due = started + self.plan.seconds * number / total
            time.sleep(max(0.0, due - time.monotonic()))
            self.sites.publish(1)

    def _ledger(self) -> Ledger:
        inputs = {id_: one.expect for load in self.loads for id_, one in load.confirmed.items()}
        links = {
            story.link: DEAD if kind is Story.MISSING else CLEAN
            for story, kind in self.sites.stories.items()
        }
        lowered = any(fault.kind is Kind.SMALL_RECORDS for fault in self.plan.faults)
        return Ledger(inputs, links, frozenset({"too-large"} if lowered else ()))

    def _drain(self) -> None:
        """Wait until every input has an outcome and nothing is published any more."""
        deadline = time.monotonic() + DRAIN
        outputs, since = self.watcher.outputs, time.monotonic()
        while time.monotonic() < deadline:
            time.sleep(_TICK)
            if self.watcher.outputs != outputs or self._unfinished():
                outputs, since = self.watcher.outputs, time.monotonic()
            elif time.monotonic() - since >= CALM:
                return

    def _unfinished(self) -> str:
        ledger = self._ledger()
        waiting, missing = self.watcher.waiting(), self.watcher.missing(ledger.inputs, ledger.links)
        if not waiting and not missing:
            return ""
        ready = {worker.name: worker.is_ready() for worker in self.job.workers}
        return f"{waiting} pages without outcome, {missing} inputs not in raw-html; ready: {ready}"


def options_of(plan: Plan) -> dict[str, Any]:
    """Return the options of the library that equal the settings of the job."""
    eviction = None
    if plan.window:
        eviction = Eviction(plan.window, _WINDOW["max_age_days"] * DAY, _WINDOW["keep"])
    return {"revisits": plan.revisits, "eviction": eviction}
