"""A long run at a share of the capacity: is memory flat, is the lag bounded, what is logged?

    python -m bench.steady --seconds 3600 --share 0.8

First the capacity is measured: a backlog is published at once, and the pages per second are counted
until it is processed. Then pages are published at a share of this rate. Document time runs faster
than real time, so that windows fill and evict after a few minutes. The last lines say how memory
grew, how large the lag became, which warnings were logged, and what the audit counts.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from itertools import islice
from statistics import fmean, median
from typing import NamedTuple

import click
import psutil

from agents.commands.audit.command import account
from agents.kafka.client import admin, consumer, partitions
from bench.broker import MeasuredBroker, running_broker
from bench.compact_pages import CompactSites, time_at
from bench.workers import MB, READS, MeasuredJob, Message, job

DOMAINS = 2_000
PROBE = 1_000  # pages of a backlog by which the capacity is measured
PROBES = 2
WINDOW = {"max_age_days": 5, "keep": 20, "trees_bytes": 32 << 20}
DAYS_PER_MINUTE = 1.0
SAMPLE = 10.0  # seconds between two samples
TICK = 0.1  # seconds between two batches of pages
SETTLED = 1 / 3  # share of the run after which memory should be flat
MARGIN = 0.05

_LEVEL = re.compile(r"level='(warning|error|critical)'")
_EVENT = re.compile(r"event=('(?:[^'\\]|\\.)*'|\"[^\"]*\")")
_NUMBER = re.compile(r"\d+")


class Sample(NamedTuple):
    """One measurement: seconds since the start, bytes and records by stage, CPU of others.

    Attributes:
        seconds: time since the start.
        resident: resident memory in bytes, by process.
        lag: records that a stage has not committed, by stage.
        others: share of the machine's CPU that other processes took, from 0 to 1.
    """

    seconds: float
    resident: dict[str, int]
    lag: dict[str, int]
    others: float


class Stream:
    """Endless pages; document time advances with the clock of the run."""

    def __init__(self) -> None:
        self._sites = CompactSites(DOMAINS)
        self._count = 0
        self._started = time.monotonic()

    async def take(self, number: int) -> AsyncIterator[Message]:
        """Return the next pages."""
        days = (time.monotonic() - self._started) / 60 * DAYS_PER_MINUTE
        ranks = self._sites.ranks(number)
        for page in self._sites.pages(ranks, self._count, time_at(days)):
            yield page.message
        self._count += number


@click.command()
@click.option("--seconds", type=click.FloatRange(10), default=600.0, show_default=True)
@click.option("--share", type=click.FloatRange(0.05, 2), default=0.8, show_default=True)
def main(*, seconds: float, share: float) -> None:
    """Measure the capacity, then publish at a share of it, and print what happened."""
    with running_broker() as broker:
        asyncio.run(_run(broker, seconds, share))


async def _run(broker: MeasuredBroker, seconds: float, share: float) -> None:
    async with job(broker.address, settings=WINDOW) as running_job:
        stream = Stream()
        rates = []
        for _ in range(PROBES + 1):
            before = time.monotonic()
            await running_job.publish("raw-html", stream.take(PROBE))
            await running_job.wait_through()
            rates.append(PROBE / (time.monotonic() - before))
        capacity = median(rates[1:])  # the first backlog warms the workers up
        print(f"capacity: {', '.join(f'{rate:.0f}' for rate in rates)} pages/s; {_load()}")
        print(f"publishing {share * capacity:.0f} pages/s for {seconds:.0f} s", flush=True)
        samples = await _steadily(running_job, broker, stream, share * capacity, seconds)
        await running_job.wait_through()
        _report(samples, running_job)
        accounts = await account(running_job.settings)
        print(f"audit: {accounts.origins:,} pages, {accounts.missing} missing")


async def _steadily(
    running_job: MeasuredJob, broker: MeasuredBroker, stream: Stream, rate: float, seconds: float
) -> list[Sample]:
    """Publish pages at a rate, and return samples."""
    start, sent, samples = time.monotonic(), 0, list[Sample]()
    sampling = asyncio.create_task(_sample(running_job, broker, start, samples))
    async with running_job.publisher("raw-html") as send:
        while (now := time.monotonic() - start) < seconds:
            due = int(now * rate) - sent
            async for page in stream.take(due):
                await send(page)
            sent += due
            await asyncio.sleep(TICK)
    sampling.cancel()
    return samples


async def _sample(
    running_job: MeasuredJob, broker: MeasuredBroker, start: float, samples: list[Sample]
) -> None:
    busy = _Busy(running_job, broker)
    shown = 0.0
    async with admin(running_job.settings) as groups, consumer(running_job.settings) as client:
        while True:
            lag = {}
            for stage in running_job.workers:
                topic = running_job.settings.topic(READS[stage])
                ends = await client.end_offsets(await partitions(client, topic))
                group = running_job.settings.topic(f"urltree-{stage}")
                done = await groups.list_consumer_group_offsets(group)
                lag[stage] = sum(
                    end - (done[tp].offset if tp in done else 0) for tp, end in ends.items()
                )
            resident = {stage: one.resident() for stage, one in running_job.workers.items()}
            if broker.process:
                resident["broker"] = broker.process.memory_info().rss
            seconds = time.monotonic() - start
            samples.append(Sample(seconds, resident, lag, busy.others()))
            if seconds >= shown:
                shown += 60
                sizes = ", ".join(f"{name} {size / MB:.0f} MB" for name, size in resident.items())
                print(f"{seconds:6.0f} s  {sizes}; lag {lag}; {_load()}", flush=True)
            await asyncio.sleep(SAMPLE)


class _Busy:
    """The CPU time of this job, against that of the whole machine."""

    def __init__(self, running_job: MeasuredJob, broker: MeasuredBroker) -> None:
        self._workers = list(running_job.workers.values())
        self._processes = [psutil.Process(), *([broker.process] if broker.process else [])]
        self._own, self._all = self._ours(), _machine()

    def others(self) -> float:
        """Return the share of the CPU that other processes took since the last call."""
        own, (busy, total) = self._ours(), _machine()
        taken = busy - self._all[0] - (own - self._own)
        share = taken / max(total - self._all[1], 1e-9)
        self._own, self._all = own, (busy, total)
        return max(0.0, share)

    def _ours(self) -> float:
        times = [process.cpu_times() for process in self._processes]
        mine = sum(float(one.user + one.system) for one in times)
        return mine + sum(worker.cpu() for worker in self._workers)


def _machine() -> tuple[float, float]:
    times = psutil.cpu_times()
    total = float(sum(times[:8]))
    return total - float(times.idle + times.iowait), total


def _load() -> str:
    return f"load {psutil.getloadavg()[0]:.1f}"


def _report(samples: list[Sample], running_job: MeasuredJob) -> None:
    settled = samples[int(len(samples) * SETTLED) :]
    print(f"\n{len(samples)} samples; memory after the first {SETTLED:.0%} of the run:")
    for name in samples[0].resident:
        sizes = [sample.resident[name] / MB for sample in settled]
        mean, slope = fmean(sizes), _slope([s.seconds for s in settled], sizes) * 3_600
        spread = max(max(sizes) - mean, mean - min(sizes)) / mean
        half = len(sizes) // 2
        drift = fmean(sizes[half:]) / fmean(sizes[:half]) - 1 if half else 0.0
        flat = "flat" if abs(drift) <= MARGIN else "NOT FLAT"
        print(
            f"  {name:<10} mean {mean:.1f} MB, {min(sizes):.1f} to {max(sizes):.1f} "
            f"(± {spread:.1%}), slope {slope:+.1f} MB an hour ({slope / mean:+.1%}), "
            f"second half {drift:+.1%}: {flat}"
        )
    for stage in running_job.workers:
        lags = [sample.lag[stage] for sample in samples]
        print(f"  lag of {stage}: median {median(lags):.0f}, largest {max(lags)}, last {lags[-1]}")
    others = [sample.others for sample in samples]
    print(f"  other processes took {fmean(others):.0%} of the CPU, at most {max(others):.0%}")
    for stage, worker in running_job.workers.items():
        print(f"warnings and errors of {stage}:")
        for event, number in count_warnings(worker.log_lines()).most_common():
            print(f"  {number:6,} {event}")


def _slope(times: list[float], values: list[float]) -> float:
    """Return the slope of the line that fits best."""
    middle, mean = fmean(times), fmean(values)
    squares = sum((at - middle) ** 2 for at in times)
    products = sum((at - middle) * (y - mean) for at, y in zip(times, values, strict=True))
    return products / squares if squares else 0.0


def count_warnings(lines: Iterable[str]) -> Counter[str]:
    """Count the warnings and errors of a log by their text, with all numbers replaced."""
    found: Counter[str] = Counter()
    for line in lines:
        level = _LEVEL.search(line)
        if level:
            event = _EVENT.search(line)
            text = event[1] if event else line.strip()
            found[f"{level[1]}: {_NUMBER.sub('#', text)[:300]}"] += 1
        elif line and not line.startswith("timestamp="):
            found[f"other line: {_NUMBER.sub('#', ''.join(islice(line, 200)))}"] += 1
    return found


if __name__ == "__main__":
    main()
