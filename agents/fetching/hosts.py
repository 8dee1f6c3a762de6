"""The states of the hosts that a worker requests, in memory and in the table `host_state`.

    memory   the current state, including the end of the pause
    table    the parts that the next owner of the partition needs: robots.txt, back-off, and a
             pause of more than 5 seconds

The short pause after a page is not written to the table. It is over before a partition can move to
another worker, and writing a row for each page would cost 160 µs.
"""

from __future__ import annotations

from collections.abc import Callable
from time import time

import xxhash

from agents.kafka.delivery import Work
from agents.kafka.tables.table import ConfirmedTable, row_key, row_prefix
from agents.memory import Memory
from urltree.crawl.decisions.host.host_state import HostState
from urltree.crawl.decisions.host.robots import Robots

_STATES = 16 * 1024 * 1024  # largest size of all states in memory, in bytes
_RULES = 4 * 1024 * 1024  # bytes of all robots.txt; the parsed rules take ten times as much
_SWEPT = 20_000  # largest number of domains that are remembered as swept
_ROW = 500  # estimated size of a state without its robots.txt, in bytes


class Hosts:
    """States of hosts, by partition and host.

    Args:
        table: table `host_state`.
        clock: returns seconds since 1970.
    """

    def __init__(self, table: ConfirmedTable, clock: Callable[[], float] = time) -> None:
        self._table = table
        self._clock = clock
        self._states: Memory[HostState] = Memory(_STATES, _size)
        self._rules: Memory[Robots] = Memory(_RULES, lambda robots: _ROW + robots.bytes)
        self._swept: set[str] = set()

    def __len__(self) -> int:
        return len(self._states)

    def get(self, partition: int, domain: str, host: str) -> HostState:
        """Return the state of a host.

        Raises:
            HostStateError: the row of the host cannot be read.
        """
        found = self._states.get(partition, host)
        if found is None:
            found = self._stored(partition, domain, host)
            self._states.add(partition, host, found)
        return found

    def robots(self, partition: int, state: HostState, scheme: str, now: float) -> Robots | None:
        """Return the rules of the host's robots.txt; None if the file must be requested."""
        text = state.robots_at(scheme, now)
        if text is None:
            return None
        name = f"{scheme}://{state.host} {text.until}"
        rules = self._rules.get(partition, name)
        if rules is None:
            rules = Robots(text)
            self._rules.add(partition, name, rules)
        return rules

    async def put(
        self, partition: int, domain: str, state: HostState, now: float, work: Work
    ) -> None:
        """Store the state of a host in memory, and in the table if the next owner needs it.

        The write is part of the work on a page.
        """
        before = self.get(partition, domain, state.host)
        self._states.drop(partition, state.host)
        self._states.add(partition, state.host, state)
        if state.differs(before, now):
            key = row_key(domain, _id(state.host))
            work.wait_for(await self._table.put(partition, key, state.encode()))

    async def sweep(self, partition: int, domain: str, now: float, work: Work) -> bool:
        """Delete the expired rows of a domain, unless this worker did so recently.

        Return whether the domain was due.
        """
        if domain in self._swept:
            return False
        if len(self._swept) >= _SWEPT:
            self._swept.clear()
        self._swept.add(domain)
        past = [
            key
            for key, row in self._table.scan(partition, row_prefix(domain))
            if HostState.decode(row, now).is_forgotten(now)
        ]
        for key in past:
            work.wait_for(await self._table.delete(partition, key))
        return True

    def clear(self) -> None:
        """Remove all states and rules from memory."""
        self._swept.clear()
        self._states.clear()
        self._rules.clear()

    def _stored(self, partition: int, domain: str, host: str) -> HostState:
        row = self._table.get(partition, row_key(domain, _id(host)))
        return HostState(host=host) if row is None else HostState.decode(row, self._clock())


def _id(host: str) -> bytes:
    """Return the 16 bytes that identify a host in the key of its row."""
    return xxhash.xxh3_128_digest(host.encode())


def _size(state: HostState) -> int:
    return _ROW + sum(len(robots.body) for robots in state.robots.values())
