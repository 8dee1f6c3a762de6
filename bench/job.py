"""Benchmark of the CPU time of the whole job through Kafka, compared with trafilatura alone.

Two workers are started, and a tenth of the pages is used to warm them up. Then the other pages are
published, a hundred at a time. While the workers process these pages, this process gives the same
pages to trafilatura, so that a slow moment of the machine affects both. The CPU time of all threads
of both workers is counted until the last offset is committed.

Afterwards the same documents go through a worker that only passes records on: first without a table
write, then with a table write for each record. The first run shows the cost of passing a record
through a worker, and the second run also includes the cost of the write.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence

from agents.commands.audit.command import account
from bench.algorithm import PARSE, TRAFILATURA, beside, ratios
from bench.broker import MeasuredBroker, running_broker
from bench.figure import Benchmark, Measurement, format_spread
from bench.pages import Pages, mean_kilobytes
from bench.pass_on import ROW
from bench.processor_time import Laps, Round, sums
from bench.workers import MeasuredJob, Message, cpu, job
from models import document as documents
from models import raw_html
from urltree.address.url_key import KeyScheme
from urltree.document import Document
from urltree.html.tokenizer import tokenize
from urltree.page import Page

PAGES = 1_100
BATCH = 100  # pages published at once
FLOOR = 3.0  # required speed, as a multiple of trafilatura's
ROW_BYTES = 900  # size of a typical row, see bench.state
WORKERS = ("normalize", "extract")
HOP, PUT, BROKER = "record passed on", "record passed on, and a row written", "broker"


def measure(pages: Pages, number: int) -> Benchmark:
    """Measure several rounds, each with new topics and new workers."""
    sample = pages.sample(PAGES)
    warm_up, rest = sample[: len(sample) // 10], sample[len(sample) // 10 :]
    found = PreparedPages(warm_up, rest)
    with running_broker() as broker:
        measured = [_round(broker, found) for _ in range(number)]
    return Benchmark(
        "Whole job through Kafka: CPU per page",
        f"{len(rest)} pages of {len(pages.sites)} sites ({pages.name}) after {len(warm_up)} pages "
        f"of warm-up, mean HTML {mean_kilobytes(rest):.1f} kB, documents {found.kilobytes:.1f} kB; "
        f"best of {number} rounds; 0 pages missing in the audit of each",
        [*ratios(measured, WORKERS, "both workers", FLOOR), *_parts(measured, len(rest))],
    )


class PreparedPages:
    """The pages as records of raw-html and of documents, ready to be published."""

    def __init__(self, warm_up: Sequence[Page], rest: Sequence[Page]) -> None:
        self.pages = rest
        self.warm_up = [_raw(page) for page in warm_up]
        self.raw = [_raw(page) for page in rest]
        self.documents = [_document(page) for page in rest]
        self.kilobytes = sum(len(made.value) for made in self.documents) / len(rest) / 1_000


def _raw(page: Page) -> Message:
    return Message(_SCHEME.domain(page.final_url or ""), raw_html.encode(page))


def _document(page: Page) -> Message:
    key = _SCHEME.key(page.final_url or "", lambda: page.title)
    document = Document.of(page, key, tokenize(page.html), "raw-html/0/0")
    return Message(key.domain, documents.encode(document))


def _round(broker: MeasuredBroker, found: PreparedPages) -> Round:
    seconds = asyncio.run(_through(broker, found))
    for part, row in ((HOP, 0), (PUT, ROW_BYTES)):
        seconds[part] = asyncio.run(_passed_on(broker, found, row))
    return seconds


async def _through(broker: MeasuredBroker, found: PreparedPages) -> dict[str, float]:
    """Return the CPU time of each process of the job and of each other extractor, in seconds."""
    laps = Laps()
    async with job(broker.address) as running_job:
        await _publish(running_job, "raw-html", found.warm_up)
        before = _seconds(running_job, broker)
        for start in range(0, len(found.raw), BATCH):
            batch = slice(start, start + BATCH)
            await running_job.publish("raw-html", _stream(found.raw[batch]))
            beside(found.pages[batch], laps)
        await running_job.wait_through()
        after = _seconds(running_job, broker)
        accounts = await account(running_job.settings)
        if accounts.missing or accounts.origins != len(found.warm_up) + len(found.raw):
            raise RuntimeError(f"the audit finds missing pages: {accounts}")
    return {**laps.seconds, **{part: after[part] - before[part] for part in after}}


async def _passed_on(broker: MeasuredBroker, found: PreparedPages, row: int) -> float:
    """Return the CPU time of a worker that only sends documents on, in seconds.

    The worker also writes a row of `row` bytes for each document, unless `row` is 0.
    """
    command = ("-m", "bench.pass_on")
    variables = {ROW: str(row)}
    async with job(broker.address, ("extract",), command, variables) as running_job:
        await _publish(running_job, "documents", found.documents[:100])
        before = running_job.workers["extract"].cpu()
        await _publish(running_job, "documents", found.documents)
        return running_job.workers["extract"].cpu() - before


async def _publish(running_job: MeasuredJob, topic: str, records: Iterable[Message]) -> None:
    await running_job.publish(topic, _stream(records))
    await running_job.wait_through()


async def _stream(records: Iterable[Message]) -> AsyncIterator[Message]:
    for record in records:
        yield record


def _seconds(running_job: MeasuredJob, broker: MeasuredBroker) -> dict[str, float]:
    seconds = {stage: worker.cpu() for stage, worker in running_job.workers.items()}
    return seconds | ({BROKER: cpu(broker.process)} if broker.process else {})


def _parts(measured: Sequence[Round], pages: int) -> list[Measurement]:
    best = min(sums(measured, (PARSE,)))
    figures = []
    for name, parts in (
        ("both workers", WORKERS),
        *((f"  {stage}", (stage,)) for stage in WORKERS),
        *((part, (part,)) for part in (BROKER, PARSE, TRAFILATURA, HOP, PUT)),
    ):
        each = [seconds / pages * 1e6 for seconds in sums(measured, parts)]
        note = f"{min(each) * pages / 1e6 / best:.2f} of a parse"
        figures.append(Measurement(name, min(each), "µs", format_spread(each), note))
    return figures


_SCHEME = KeyScheme()
