"""Poll and fetch: what 50,000 idle feeds take, and what a poll and a page cost (issue 4, row 5).

One worker asks a web server on loopback, a process of its own, without pauses. Counted is the CPU
of the worker and its parsers; per core means per second of that. Beside it a bare aiohttp loop
asks for the same in the same round, with as many requests at once: what asking costs at least.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from agents.kafka.client import producer
from agents.kafka.partitions import route_key
from agents.settings.topics_file import declared_topics
from bench import idle_feeds
from bench.bare_asking import seconds_each
from bench.broker import running
from bench.figure import Figure, Section, spread
from bench.loopback_web import ITEMS, TAG, feed
from bench.pages import Pages, html
from bench.workers import PATIENCE, Job, Record, job
from demo.child import Child
from demo.ports import free_port
from models import fetch as fetches
from models.feed import Feed
from models.fetch import Fetch

PAGES = 3_000
HOSTS = 300
FEEDS = 400
AT_ONCE = 50
POLLING_SECONDS = 10.0
KINDS = ("304", "200")
PAGE, BARE, PARSED = "page", "bare", "parsed"

Round = Mapping[tuple[str, str], float]  # seconds of CPU each: by what is asked, and by whom


def measure(pages: Pages, number: int) -> Section:
    """Idle feeds once; pages and polls in several rounds, each with a job of its own."""
    sample = [html(page) for page in pages.sample(100)]
    kilobytes = sum(map(len, sample)) / len(sample) / 1_000
    with running() as broker, TemporaryDirectory(prefix="urltree-bench-") as directory:
        folder = Path(directory) / "pages"
        folder.mkdir()
        for at, body in enumerate(sample):
            (folder / f"{at:03}.html").write_bytes(body)
        with _web(folder) as port:
            measured = [asyncio.run(_round(broker.address, port)) for _ in range(number)]
    figures = [figure for what in (PAGE, *KINDS) for figure in _figures(measured, what)]
    return Section(
        "Feeds: a poll, a page, and doing nothing",
        f"{PAGES} pages of {HOSTS} hosts, mean HTML {kilobytes:.1f} kB; {FEEDS} feeds of {ITEMS} "
        f"items, {len(feed(0)) / 1_000:.1f} kB, for {POLLING_SECONDS:.0f} s; best of {number} "
        "rounds",
        [*figures, *idle_feeds.figures()],
    )


@contextmanager
def _web(folder: Path) -> Iterator[int]:
    port = free_port()
    server = Child(
        [sys.executable, "-m", "bench.loopback_web", str(folder), str(port)],
        folder.with_name("web.log"),
        {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )
    try:
        _wait_for(port, server)
        yield port
    finally:
        server.kill()


def _wait_for(port: int, server: Child) -> None:
    deadline = time.monotonic() + PATIENCE
    while server.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"the web server does not listen:\n{server.tail()}")


async def _round(brokers: str, port: int) -> Round:
    settings = {
        "contact": "bench",
        "connect_to": f"::127.0.0.1:{port}",
        "allow_networks": "127.0.0.0/8",
        "host_pause": 0,
        "latency_factor": 0,
        "interval_min": 0.1,
        "interval_max": 0.1,
        "fetches_at_once": AT_ONCE,
        "polls_at_once": AT_ONCE,
    }
    seconds = {(PAGE, "fetch"): await _fetched(brokers, settings)}
    urls = [url.replace(".example", f".example:{port}") for url in _urls()]
    seconds[PAGE, BARE] = await seconds_each(urls, at_once=AT_ONCE)
    for kind in KINDS:
        seconds[kind, "poll"] = await _polled(brokers, settings, kind)
        urls = [f"http://www.feed{n}.example:{port}/{kind}/{n}" for n in range(FEEDS)] * 5
        headers = {"If-None-Match": TAG} if kind == "304" else {}
        seconds[kind, BARE] = await seconds_each(urls, at_once=AT_ONCE, headers=headers)
    seconds["200", PARSED] = await seconds_each(urls, at_once=AT_ONCE, is_parsed=True)
    return seconds


async def _fetched(brokers: str, settings: Mapping[str, object]) -> float:
    """Seconds of a fetch worker's CPU for a page, once it knows the robots.txt of all hosts."""
    async with job(brokers, ("fetch",), settings=settings) as running_job:
        worker = running_job.workers["fetch"]
        urls = _urls()
        await running_job.publish("fetches", _pages(urls[:HOSTS]))
        await running_job.wait_through()
        before = worker.cpu()
        await running_job.publish("fetches", _pages(urls))
        await running_job.wait_through()
        seconds = worker.cpu() - before
        pages = worker.metric("urltree_pages_total")
        if pages != len(urls) + HOSTS:
            raise RuntimeError(f"{pages:.0f} pages were fetched, should be {len(urls) + HOSTS}")
    return seconds / len(urls)


async def _polled(brokers: str, settings: Mapping[str, object], kind: str) -> float:
    """Seconds of a poll worker's CPU for a poll, its parsers' included, once nothing is new."""
    async with job(brokers, ("poll",), settings=settings) as running_job:
        worker = running_job.workers["poll"]
        await _follow(running_job, kind)
        await worker.reach("urltree_polls_total", 3 * FEEDS)
        before, polls = worker.cpu(), worker.metric("urltree_polls_total")
        await asyncio.sleep(POLLING_SECONDS)
        seconds = worker.cpu() - before
        return seconds / (worker.metric("urltree_polls_total") - polls)


async def _follow(running_job: Job, kind: str) -> None:
    settings = running_job.settings
    partitions = declared_topics(settings)[0].partitions
    async with producer(settings) as client:
        for n in range(FEEDS):
            site = f"feed{n}.example"
            one = Feed(site=site, url=f"http://www.{site}/{kind}/{n}")
            partition = route_key(site, partitions).partition
            await client.send(settings.topic("feeds"), one.encode(), one.key, partition)
        await client.flush()


def _urls() -> list[str]:
    """The hosts in turn."""
    return [f"http://www.host{n % HOSTS}.example/page/{n}" for n in range(PAGES)]


async def _pages(urls: Sequence[str]) -> AsyncIterator[Record]:
    for url in urls:
        domain = url.split("/")[2].removeprefix("www.")
        yield Record(domain, fetches.encode(Fetch(url=url, title=url)))


def _figures(measured: Sequence[Round], what: str) -> list[Figure]:
    """Ours per core and in time, and beside what is bare."""
    (ours,) = {by for asked, by in measured[0] if asked == what} - {BARE, PARSED}
    name = what if what == PAGE else f"poll, {what}"
    each = [seconds[what, ours] for seconds in measured]
    figures = [
        Figure(f"{name}: per core", 1 / min(each), "/s", spread(1 / one for one in each)),
        Figure("  CPU", min(each) * 1e3, "ms", spread(one * 1e3 for one in each)),
    ]
    for beside, them in ((BARE, "a bare aiohttp loop"), (PARSED, "aiohttp and feedparser")):
        if (what, beside) in measured[0]:
            bare = [seconds[what, beside] for seconds in measured]
            ratios = [one / other for one, other in zip(each, bare, strict=True)]
            note = f"times {them}, which takes {min(bare) * 1e3:.2f} ms"
            figures.append(Figure("  beside", min(ratios), "", spread(ratios), note))
    return figures
