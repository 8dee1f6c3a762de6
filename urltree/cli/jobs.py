"""Run several processes (`--jobs`). All pages of a site go to the same process.

pages ──▶ by domain ──┬▶ process 1: Extractor ──┐
                      └▶ process 2: Extractor ──┴──▶ Extractions, in the order of the pages
"""

from __future__ import annotations

import signal
from array import array
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from urltree.address.url_key import KeyScheme
from urltree.extractor import MEMORY, Extractor
from urltree.output.extraction import Extraction
from urltree.page import PageError
from urltree.reading.source import Source, check_source
from urltree.site.spool import Spool
from urltree.site.state_directory import StateDirectory

IN_FLIGHT = 128 << 20  # characters of HTML that may be read before their results are returned
PAGE = 4096  # characters that are added to the HTML of each page, for its other fields


class Jobs:
    """An extractor that runs several processes, each with an Extractor.

    Args:
        jobs: number of processes.
        scheme: key scheme, which returns the domain of a page; the domain selects the process.
        state: state directory, which this process locks and all processes share; None keeps no
            state.
        options: options of each Extractor.
    """

    def __init__(
        self, jobs: int, scheme: KeyScheme, state: Path | None, options: Mapping[str, Any]
    ) -> None:
        self._scheme = scheme
        self._two_pass = options["two_pass"]
        self._state = StateDirectory(state)
        self._load: Counter[int] = Counter(dict.fromkeys(range(jobs), 0))
        self._job_of: dict[str, int] = {}
        self._waiting: deque[tuple[int, Future[Any]]] = deque()
        self._in_flight = 0
        options = {**options, "memory": MEMORY // jobs}
        self._pools = [
            ProcessPoolExecutor(1, get_context("spawn"), _start, (state, options))
            for _ in range(jobs)
        ]
        with _held_back(signal.SIGINT):  # processes inherit the mask; this one ends them
            for started in [pool.submit(int) for pool in self._pools]:
                started.result()

    def extract_all(self, pages: Iterable[Source]) -> Iterator[Extraction]:
        """Yield one Extraction for each page, in the order of the pages.

        With `revise`, revisions follow the page that caused them.
        """
        if not self._two_pass:
            for page in pages:
                self._submit(self._job(page), _size(page), _extract, page, self._origin())
                yield from chain.from_iterable(self._done())
        else:
            jobs = array("H")
            for page in pages:
                jobs.append(self._job(page))
                self._submit(jobs[-1], _size(page), _learn, page, self._origin())
                deque(self._done(), 0)
            deque(self._done(bound=0), 0)
            for job in jobs:
                self._submit(job, PAGE, _judge_next)
                yield from chain.from_iterable(self._done())
        yield from chain.from_iterable(self._done(bound=0))

    def finish(self) -> Iterator[Extraction]:
        """Yield the results of pages that had begun before an interruption; cancel the others."""
        for _, future in list(self._waiting):
            if not future.cancel():
                yield from future.result()
        self._waiting.clear()

    def close(self) -> None:
        """Save the state, then end the processes."""
        try:
            for closing in [pool.submit(_close) for pool in self._pools]:
                closing.result()
            self._state.commit()
        finally:
            for pool in self._pools:
                pool.shutdown(cancel_futures=True)
            self._state.close()

    def _origin(self) -> str:
        self._state.pages += 1
        return f"library/0/{self._state.pages - 1}"

    def _job(self, source: Source) -> int:
        """Return the index of the process for a page.

        A page of a known site belongs to the process of the site. A page of a new site, or without
        a valid URL, belongs to the process that has got the fewest pages.
        """
        try:
            page, _ = check_source(source, "")
            domain = self._scheme.domain(page.final_url) if page.final_url else None
        except PageError:
            domain = None
        job = self._job_of.get(domain, -1) if domain else -1
        if job < 0:
            job = min(self._load, key=self._load.__getitem__)
            if domain:
                self._job_of[domain] = job
        self._load[job] += 1
        return job

    def _submit(self, job: int, size: int, function: Any, *arguments: Any) -> None:
        self._waiting.append((size, self._pools[job].submit(function, *arguments)))
        self._in_flight += size

    def _done(self, bound: int = IN_FLIGHT) -> Iterator[list[Extraction]]:
        """Yield results in the order of the pages, until the next result is not finished.

        Args:
            bound: characters of HTML in flight. If there are more, wait for the next result; with
                0, wait for all results.
        """
        waiting = self._waiting
        while waiting and (bound == 0 or self._in_flight > bound or waiting[0][1].done()):
            result = waiting[0][1].result()
            self._in_flight -= waiting.popleft()[0]
            yield result


@contextmanager
def _held_back(number: signal.Signals) -> Iterator[None]:
    """Block a signal until the end of the context; on Windows the signal is not blocked."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    former = signal.pthread_sigmask(signal.SIG_BLOCK, [number])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)


class _Job:
    """The state of one process: its Extractor, and a spool that only `two_pass` uses."""

    extractor: Extractor
    spool: Spool
    spooled: Iterator[Any] | None = None


def _start(state: Path | None, options: Mapping[str, Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _Job.extractor = Extractor(**options, state=StateDirectory(state, is_member=True))
    _Job.spool = Spool()


def _extract(page: Source, origin: str) -> list[Extraction]:
    extraction = _Job.extractor.extraction(_Job.extractor.learn(page, origin))
    return [extraction, *_Job.extractor.revisions()]


def _learn(page: Source, origin: str) -> list[Extraction]:
    _Job.spool.put(_Job.extractor.learn(page, origin))
    return []


def _judge_next() -> list[Extraction]:
    if _Job.spooled is None:
        _Job.spooled = iter(_Job.spool)
    return [_Job.extractor.extraction(_Job.extractor.judge_again(next(_Job.spooled)))]


def _close() -> None:
    _Job.extractor.close()


def _size(source: Source) -> int:
    html = source.get("html") if isinstance(source, Mapping) else None
    return PAGE + (len(html) if isinstance(html, str | bytes) else 0)
