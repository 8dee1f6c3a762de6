"""One line of requests for each host: does the whole job send a host one request at a time?

    python -m bench.one_line --seconds 600

Three workers of `poll` and three of `fetch` follow the feeds of 200 hosts on loopback. The web
server checks every request (`bench.host_observer`): none may begin during another request of its
host, before the end of the host's pause, or in the time that a response 429 asks for. The exit code
is 1 if one does.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterator

import click

from bench.broker import running_broker
from bench.figure import Bar, Benchmark, Measurement, show
from bench.one_line_web import HUBS, PAGE_HOSTS, SITES, OneLineWeb
from bench.workers import job
from urltree.crawl.decisions.host.host_state import Politeness

HOSTS = SITES + PAGE_HOSTS + HUBS
EACH = 3  # number of workers of each stage
PAUSE, PAUSE_MAX, LATENCY_FACTOR = 1.0, 60.0, 2.0
INTERVAL = 15.0  # seconds between two polls of a feed
_LOOK = 1.0  # seconds between two checks that all workers run


@click.command()
@click.option(
    "--seconds",
    type=click.FloatRange(10),
    default=600.0,
    show_default=True,
    help="Time for which feeds are followed.",
)
def main(*, seconds: float) -> None:
    """Follow the feeds of 200 hosts with six workers, and check every request."""
    politeness = Politeness(PAUSE, PAUSE_MAX, LATENCY_FACTOR)
    with running_broker() as broker, OneLineWeb(politeness) as sites:
        pages, cpu = asyncio.run(_follow(broker.address, sites, seconds))
    measured = Benchmark(
        "One line of requests for each host",
        f"{EACH} workers of each stage, {len(sites.feeds())} feeds, {HOSTS} hosts, {seconds:g} s",
        list(_figures(sites, pages, cpu, seconds)),
    )
    show(measured)
    sys.exit(any(figure.is_missed for figure in measured.figures))


async def _follow(brokers: str, sites: OneLineWeb, seconds: float) -> tuple[float, float]:
    """Return the number of published pages, and the CPU time of all workers in seconds."""
    settings = {
        "contact": "bench",
        "connect_to": f"::127.0.0.1:{sites.port}",
        "allow_networks": "127.0.0.0/8",
        "requests_per_address": HOSTS,  # all hosts are at one address here
        "host_pause": PAUSE,
        "host_pause_max": PAUSE_MAX,
        "latency_factor": LATENCY_FACTOR,
        "interval_min": INTERVAL,
        "interval_max": INTERVAL,
    }
    stages = ("poll",) * EACH + ("fetch",) * EACH
    async with job(brokers, stages, settings=settings) as running_job:
        await running_job.follow(sites.feeds())
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for worker in running_job.every:
                worker.look()
            await asyncio.sleep(_LOOK)
        pages = sum(worker.metric("urltree_pages_total") for worker in running_job.every)
        return pages, sum(worker.cpu() for worker in running_job.every)


def _figures(sites: OneLineWeb, pages: float, cpu: float, seconds: float) -> Iterator[Measurement]:
    observer, kinds = sites.observer, sites.kinds
    nothing = Bar(0, is_floor=False)
    responses = ", ".join(f"{number:,} {kind}" for kind, number in kinds.most_common())
    busy = max(observer.requests.values(), default=0)
    yield Measurement(
        "overlapping requests of a host",
        observer.overlapping,
        "requests",
        note=f"at most {observer.most} at once",
        bar=nothing,
    )
    early, host = observer.earliest
    yield Measurement(
        "requests before the pause's end",
        observer.early,
        "requests",
        note=f"by at most {early:.2f} s, {host}" if host else "",
        bar=nothing,
    )
    yield Measurement("requests in the time of a 429", observer.resting, "requests", bar=nothing)
    yield Measurement(
        "hosts that were asked",
        len(observer.requests),
        "hosts",
        bar=Bar(HOSTS, is_floor=True),
        note=f"the busiest one {busy:,} times",
    )
    yield Measurement("requests", observer.requests.total(), "requests", note=responses)
    yield Measurement("responses 429", kinds["429"], "responses", bar=Bar(1, is_floor=True))
    yield Measurement("pages published", pages, "pages", bar=Bar(1, is_floor=True))
    yield Measurement("CPU of six workers", cpu / seconds, "cores", note="with their start")


if __name__ == "__main__":
    main()
