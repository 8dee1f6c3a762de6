"""Latency beside a hot domain: what does a domain with 30 % of all pages cost the others?

    python -m bench.hot_domain --seconds 600 --rate 20

Two workers of each stage share six partitions. Pages of many domains are published at a constant
rate. In every second phase, a hot domain adds its share. So each phase with the hot domain has a
phase without it beside it, and other work on the machine affects both. Latency is the time from
publication to the arrival of the clean text at a consumer; partitions are compared in three groups.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable
from statistics import median, quantiles

import click
import orjson
import psutil

from agents.kafka.client import consumer, partitions
from agents.kafka.partitions import partition_of
from bench.broker import running_broker
from bench.compact_pages import CompactSites, time_at
from bench.workers import MeasuredJob, Message, job

DOMAINS = 120
HOT_SHARE = 0.3
PARTITIONS = 6
WORKERS = ("normalize", "normalize", "extract", "extract")
PHASE = 20.0  # seconds of a phase
GAP = 3.0  # seconds between two phases, which are not measured
WARM_UP = 30.0
TICK = 0.05  # seconds between two batches of pages
PATIENCE = 300.0
GROUPS = ("partitions of other workers", "other partitions of the same workers", "its partition")
HOT = "the hot domain itself"

Latencies = dict[str, dict[bool, list[list[float]]]]


@click.command()
@click.option("--seconds", type=click.FloatRange(60), default=600.0, show_default=True)
@click.option("--rate", type=click.FloatRange(1), default=20.0, help="Pages/s without the domain.")
def main(*, seconds: float, rate: float) -> None:
    """Alternate phases with and without a hot domain, and print the ratio of their latencies."""
    with running_broker() as broker:
        asyncio.run(_run(broker.address, seconds, rate))


async def _run(brokers: str, seconds: float, rate: float) -> None:
    async with job(brokers, WORKERS) as running_job:
        owners = await _owners(running_job)
        measured = _Measured(rate, owners)
        reading = asyncio.create_task(measured.read(running_job))
        await measured.reading.wait()
        async with running_job.publisher("raw-html") as send:
            await measured.phase(send, WARM_UP, is_hot=False)
            measured.found.clear()
            for number in range(int(seconds / (PHASE + GAP))):
                await measured.phase(send, PHASE, is_hot=bool(number % 2))
                print(f"phase {number}: load {psutil.getloadavg()[0]:.1f}", flush=True)
        await running_job.wait_through()
        await asyncio.sleep(GAP)
        reading.cancel()
        measured.report()


async def _owners(running_job: MeasuredJob) -> list[set[int]]:
    """Wait until each stage's workers share all partitions, and return the partitions of each."""
    deadline = time.monotonic() + PATIENCE
    while True:
        stages = [await running_job.assignments(stage) for stage in running_job.workers]
        owned = [own for stage in stages for own in stage]
        if len(owned) == len(WORKERS) and all(len(own) == PARTITIONS // 2 for own in owned):
            return owned
        if time.monotonic() > deadline:
            raise TimeoutError(f"the workers do not share the partitions: {owned}")
        await asyncio.sleep(1)


class _Measured:
    """Publish pages in phases, and keep the latency of each page."""

    def __init__(self, rate: float, owners: list[set[int]]) -> None:
        self._rate = rate
        self._sites = CompactSites(DOMAINS, skew=0)
        self._hot = DOMAINS + 1  # the rank of a domain that no other page has
        self._partition = partition_of(f"site{self._hot}.example".encode(), PARTITIONS)
        self._same = set[int]().union(*(own for own in owners if self._partition in own))
        self._sent: dict[int, tuple[float, str, bool, int]] = {}
        self._number = self._phase = 0
        self.found: Latencies = defaultdict(lambda: {False: [], True: []})
        self.reading = asyncio.Event()
        print(
            f"{self._rate:g} pages/s of {DOMAINS} domains; the hot domain is in partition "
            f"{self._partition}; its workers have {sorted(self._same)}"
        )

    async def phase(
        self, send: Callable[[Message], object], seconds: float, *, is_hot: bool
    ) -> None:
        """Publish pages for some seconds; then wait for the gap."""
        self._phase += 1
        start, sent, hot = time.monotonic(), 0, 0
        while (now := time.monotonic() - start) < seconds:
            due = int(now * self._rate) - sent
            for rank in self._sites.ranks(due):
                await self._send(send, rank, is_hot=is_hot)
            sent += due
            while is_hot and hot < sent * HOT_SHARE / (1 - HOT_SHARE):
                await self._send(send, self._hot, is_hot=True)
                hot += 1
            await asyncio.sleep(TICK)
        await asyncio.sleep(GAP)

    async def _send(self, send: Callable[[Message], object], rank: int, *, is_hot: bool) -> None:
        page = self._sites.page(self._number, rank, time_at(self._number / 1e5))
        group = HOT if rank == self._hot else self._group(page.message.domain)
        self._sent[self._number] = (time.monotonic(), group, is_hot, self._phase)
        self._number += 1
        await send(page.message)  # type: ignore[misc]

    def _group(self, domain: str) -> str:
        partition = partition_of(domain.encode(), PARTITIONS)
        if partition == self._partition:
            return GROUPS[2]
        return GROUPS[1] if partition in self._same else GROUPS[0]

    async def read(self, running_job: MeasuredJob) -> None:
        """Read clean text, and keep the latency of each page."""
        async with consumer(running_job.settings) as client:
            assigned = await partitions(client, running_job.settings.topic("clean-text"))
            client.assign(assigned)
            await client.seek_to_end()
            self.reading.set()
            while True:
                batches = await client.getmany(timeout_ms=200)
                now = time.monotonic()
                for records in batches.values():
                    for record in records:
                        self._add(orjson.loads(record.value), now)

    def _add(self, value: dict[str, dict[str, str]], now: float) -> None:
        known = self._sent.pop(int(value["meta"]["n"]), None)
        if known is not None:  # a page that was judged again is published twice
            at, group, is_hot, phase = known
            self.found[group][is_hot].append([phase, now - at])

    def report(self) -> None:
        """Print the latencies with and without the hot domain, and their ratios."""
        print(f"{len(self._sent)} pages without clean text")
        for group in (*GROUPS, HOT):
            parts = self.found[group]
            for is_hot, name in ((False, "without"), (True, "with")):
                times = [seconds for _, seconds in parts[is_hot]]
                if times:
                    print(
                        f"{group:<38} {name:<8} {len(times):6,} pages: "
                        f"p50 {_percentile(times, 50):.2f} s, p99 {_percentile(times, 99):.2f} s"
                    )
            if parts[False] and parts[True]:
                quiet, hot = ([at for _, at in parts[is_hot]] for is_hot in (False, True))
                print(
                    f"{'':<38} ratio of p99 {_ratio(quiet, hot, 99):.2f}, of p50 "
                    f"{_ratio(quiet, hot, 50):.2f}; median over neighbouring phases, p99 "
                    f"{_by_phase(parts[False], parts[True]):.2f}"
                )


def _percentile(values: list[float], percent: int) -> float:
    return (
        quantiles(values, n=100, method="inclusive")[percent - 1] if len(values) > 1 else values[0]
    )


def _ratio(without: list[float], with_: list[float], percent: int) -> float:
    return _percentile(with_, percent) / _percentile(without, percent)


def _by_phase(without: list[list[float]], with_: list[list[float]]) -> float:
    """Return the median ratio of the p99 of a phase to that of the phase before it."""
    phases: dict[int, list[float]] = defaultdict(list)
    for phase, seconds in (*without, *with_):
        phases[int(phase)].append(seconds)
    ratios = [
        _ratio(phases[phase - 1], phases[phase], 99)
        for phase in {int(phase) for phase, _ in with_}
        if phase - 1 in phases
    ]
    return median(ratios) if ratios else float("nan")


if __name__ == "__main__":
    main()
