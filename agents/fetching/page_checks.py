"""What `fetch` remembers about pages: where the pages of each host ended, and their validators.

    host_pages        domain NUL hash of the host    `host.page.host_pages.HostPages`
    page_validators   domain NUL hash of the page    `host.page.validators.PageValidators`

A row of `host_pages` is written only if a later decision depends on it: while a page of the host is
held, or has ended at another path than its own.
"""

from __future__ import annotations

from collections.abc import Callable

import xxhash

from agents.fetching.jobs import HostJob, host_of
from agents.forgetting import fetch_keys_to_delete
from agents.kafka.delivery import Work
from agents.kafka.tables.table import ConfirmedTable, row_key, row_prefix
from agents.memory import Memory
from models.command import Forget
from urltree.crawl.decisions.host.page.host_pages import HostPages
from urltree.crawl.decisions.host.page.page_ends import (
    PageEnd,
    PageRuling,
    add_page,
    judge,
    judge_held,
)
from urltree.crawl.decisions.host.page.validators import PageValidators, validators_key

_PAGES = 16 * 1024 * 1024  # largest size of all host pages in memory, in bytes
_END, _TEXT = 300, 250  # estimated sizes of an entry in memory, in bytes


class PageChecks:
    """Access to both tables.

    Args:
        host_pages: table `host_pages`.
        validators: table `page_validators`.
        clock: returns seconds since 1970.
    """

    def __init__(
        self, host_pages: ConfirmedTable, validators: ConfirmedTable, clock: Callable[[], float]
    ) -> None:
        self._host_pages = host_pages
        self._validators = validators
        self._clock = clock
        self._memory: Memory[HostPages] = Memory(_PAGES, _size)

    async def judge(self, job: HostJob, end: PageEnd, held_since: float | None) -> PageRuling:
        """Remember where a page ended, and decide about it."""
        pages, now = self._pages(job), self._clock()
        add_page(pages, end, now)
        self._memory.measure(job.partition, job.host)
        ruling = judge(end, pages, now, held_since)
        if ruling.is_stored:
            key = row_key(job.domain, _id(job.host))
            job.work.wait_for(await self._host_pages.put(job.partition, key, pages.encode()))
        return ruling

    def judge_held(self, job: HostJob, held_since: float) -> PageRuling:
        """Decide about a held page before it is requested again."""
        return judge_held(job.first_url, job.target, self._pages(job), self._clock(), held_since)

    def validators(self, job: HostJob) -> PageValidators | None:
        """Return the stored validators of the job's next address; None if there are none."""
        row = self._validators.get(job.partition, _page_key(job.domain, job.target))
        return None if row is None else PageValidators.decode(row)

    async def keep_validators(self, job: HostJob, found: PageValidators) -> None:
        """Store the validators of a page that raw-html has confirmed."""
        key = _page_key(job.domain, job.target)
        job.work.wait_for(await self._validators.put(job.partition, key, found.encode()))

    async def sweep(self, job: HostJob) -> None:
        """Delete the expired rows of the job's domain."""
        now, prefix = self._clock(), row_prefix(job.domain)
        past = [
            (self._validators, key)
            for key, row in self._validators.scan(job.partition, prefix)
            if PageValidators.decode(row).is_past(now)
        ]
        past += [
            (self._host_pages, key)
            for key, row in self._host_pages.scan(job.partition, prefix)
            if HostPages.decode(row, now).is_forgotten()
        ]
        for table, key in past:
            job.work.wait_for(await table.delete(job.partition, key))

    async def forget(self, forget: Forget, partition: int, work: Work) -> None:
        """Delete the rows of the addresses, or of the domain, that a command names."""
        tables = (
            (self._validators, validators_key),
            (self._host_pages, lambda url: _id(host_of(url))),
        )
        for table, key_of in tables:
            for key in fetch_keys_to_delete(table, partition, forget, key_of):
                work.wait_for(await table.delete(partition, key))
        self.clear()

    def clear(self) -> None:
        """Remove all pages from memory."""
        self._memory.clear()

    def _pages(self, job: HostJob) -> HostPages:
        found = self._memory.get(job.partition, job.host)
        if found is None:
            row = self._host_pages.get(job.partition, row_key(job.domain, _id(job.host)))
            now = self._clock()
            found = HostPages.empty() if row is None else HostPages.decode(row, now)
            self._memory.add(job.partition, job.host, found)
        return found


def _page_key(domain: str, url: str) -> bytes:
    return row_key(domain, validators_key(url))


def _id(host: str) -> bytes:
    """Return the 16 bytes that identify a host in the key of its row."""
    return xxhash.xxh3_128_digest(host.encode())


def _size(pages: HostPages) -> int:
    return _END * len(pages.ends) + _TEXT * len(pages.texts)
