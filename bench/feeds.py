"""Benchmark of feeds: the cost of 50,000 idle feeds, and the CPU time of a poll and of a page.

One worker sends requests without pauses to a web server on loopback, which is another process. The
CPU time of the worker and of its parser processes is counted; for polls also that of the worker of
`poll`, which names the feeds that are due. "Per core" means per second of this CPU time. In the
same round, a bare aiohttp loop requests the same addresses with the same number of parallel
requests. This loop shows the lowest possible cost.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import idle_feeds
from bench.bare_asking import seconds_each
from bench.broker import running_broker
from bench.figure import Benchmark, Measurement, format_spread
from bench.loopback_web import ITEMS, TAG, feed_xml, page_title
from bench.pages import Pages, html
from bench.workers import PATIENCE, Message, job
from demo.child import ChildProcess
from demo.ports import free_port
from models.crawl import fetch as fetches
from models.crawl.feed import Feed
from models.crawl.fetch import FetchRequest

PAGES = 3_000
HOSTS = 300
FEEDS = 400
AT_ONCE = 50
POLLING_SECONDS = 10.0
KINDS = ("304", "200")
PAGE, BARE, PARSED, IN_POLL = "page", "bare", "parsed", "in poll"

# CPU time of one request in seconds, by (kind of request, program that sends the request)
FeedRound = Mapping[tuple[str, str], float]


def measure(pages: Pages, number: int) -> Benchmark:
    """Measure pages and polls in several rounds, each with a new job, and idle feeds once."""
    sample = [html(page) for page in pages.sample(100)]
    kilobytes = sum(map(len, sample)) / len(sample) / 1_000
    with running_broker() as broker, TemporaryDirectory(prefix="urltree-bench-") as directory:
        folder = Path(directory) / "pages"
        folder.mkdir()
        for at, body in enumerate(sample):
            (folder / f"{at:03}.html").write_bytes(body)
        with _web(folder) as port:
            measured = [asyncio.run(_round(broker.address, port)) for _ in range(number)]
    figures = [figure for what in (PAGE, *KINDS) for figure in _figures(measured, what)]
    return Benchmark(
        "Feeds: a poll, a page, and idle feeds",
        f"{PAGES} pages of {HOSTS} hosts, mean HTML {kilobytes:.1f} kB; {FEEDS} feeds of {ITEMS} "
        f"items, {len(feed_xml(0)) / 1_000:.1f} kB, for {POLLING_SECONDS:.0f} s; best of {number} "
        "rounds",
        [*figures, *idle_feeds.measure_idle_feeds()],
    )


@contextmanager
def _web(folder: Path) -> Iterator[int]:
    port = free_port()
    server = ChildProcess(
        [sys.executable, "-m", "bench.loopback_web", str(folder), str(port)],
        folder.with_name("web.log"),
        {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )
    try:
        server.wait_ready("the web server", lambda: _listens(port), PATIENCE)
        yield port
    finally:
        server.kill()


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


async def _round(brokers: str, port: int) -> FeedRound:
    settings = {
        "contact": "bench",
        "connect_to": f"::127.0.0.1:{port}",
        "requests_per_address": "1000",  # all sites are at one address
        "requests_per_domain_second": "1000",
        "allow_networks": "127.0.0.0/8",
        "host_pause": 0,
        "latency_factor": 0,
        "interval_min": 0.1,
        "interval_max": 0.1,
        "fetches_at_once": AT_ONCE,
        "polls_at_once": FEEDS,
    }
    seconds = {(PAGE, "fetch"): await _fetched(brokers, settings)}
    urls = [url.replace(".example", f".example:{port}") for url in _urls()]
    seconds[PAGE, BARE] = await seconds_each(urls, at_once=AT_ONCE)
    for kind in KINDS:
        in_poll, in_fetch = await _polled(brokers, settings, kind)
        seconds[kind, "poll and fetch"], seconds[kind, IN_POLL] = in_poll + in_fetch, in_poll
        urls = [f"http://www.feed{n}.example:{port}/{kind}/{n}" for n in range(FEEDS)] * 5
        headers = {"If-None-Match": TAG} if kind == "304" else {}
        seconds[kind, BARE] = await seconds_each(urls, at_once=AT_ONCE, headers=headers)
    seconds["200", PARSED] = await seconds_each(urls, at_once=AT_ONCE, is_parsed=True)
    return seconds


async def _fetched(brokers: str, settings: Mapping[str, object]) -> float:
    """Return the CPU time of a fetch worker for one page, in seconds.

    The worker has fetched the robots.txt of all hosts before the measurement.
    """
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
            raise RuntimeError(
                f"{pages:.0f} pages were fetched, not {len(urls) + HOSTS} as expected"
            )
    return seconds / len(urls)


async def _polled(brokers: str, settings: Mapping[str, object], kind: str) -> tuple[float, float]:
    """Return the CPU time of `poll` and of `fetch`, with its parsers, for a poll in seconds.

    No poll finds new items: the pages of all items end before the measurement, as dead letters with
    status 404.
    """
    async with job(brokers, ("poll", "fetch"), settings=settings) as running_job:
        poll, fetch = (running_job.workers[stage] for stage in ("poll", "fetch"))
        await running_job.follow(
            Feed(site=f"feed{n}.example", url=f"http://www.feed{n}.example/{kind}/{n}")
            for n in range(FEEDS)
        )
        await fetch.reach("urltree_dead_letters_total", ITEMS * FEEDS)
        await poll.reach("urltree_polls_total", 3 * FEEDS)
        before, polls = (poll.cpu(), fetch.cpu()), poll.metric("urltree_polls_total")
        await asyncio.sleep(POLLING_SECONDS)
        after, number = (poll.cpu(), fetch.cpu()), poll.metric("urltree_polls_total") - polls
        return (after[0] - before[0]) / number, (after[1] - before[1]) / number


def _urls() -> list[str]:
    """Return the addresses of all pages; each address has another host than the one before."""
    return [f"http://www.host{n % HOSTS}.example/page/{n}" for n in range(PAGES)]


async def _pages(urls: Sequence[str]) -> AsyncIterator[Message]:
    for url in urls:
        domain = url.split("/")[2].removeprefix("www.")
        title = page_title(int(url.rpartition("/")[2]))
        yield Message(domain, fetches.encode(FetchRequest(url=url, title=title)))


def _figures(measured: Sequence[FeedRound], what: str) -> list[Measurement]:
    """Return the worker's results, and their ratios to the results of the bare loops."""
    (ours,) = {by for asked, by in measured[0] if asked == what} - {BARE, PARSED, IN_POLL}
    name = what if what == PAGE else f"poll, {what}"
    each = [seconds[what, ours] for seconds in measured]
    best = min(measured, key=lambda seconds: seconds[what, ours])
    split = f"{best[what, IN_POLL] * 1e3:.2f} ms of it in poll" if (what, IN_POLL) in best else ""
    figures = [
        Measurement(
            f"{name}: per core", 1 / min(each), "/s", format_spread(1 / one for one in each)
        ),
        Measurement(
            "  CPU", min(each) * 1e3, "ms", format_spread(one * 1e3 for one in each), split
        ),
    ]
    for beside, them in ((BARE, "a bare aiohttp loop"), (PARSED, "aiohttp and feedparser")):
        if (what, beside) in measured[0]:
            bare = [seconds[what, beside] for seconds in measured]
            ratios = [one / other for one, other in zip(each, bare, strict=True)]
            note = f"times {them}, which takes {min(bare) * 1e3:.2f} ms"
            figures.append(Measurement("  beside", min(ratios), "", format_spread(ratios), note))
    return figures
