"""The wait of simulated requests for the limits of their domains and addresses.

    host's turn ──▶ domain: 4 at once, 10 a second ──▶ address: 8 at once ──▶ request

A simulated reader applies the limits as one worker does (`agents.fetching.host_client`): a request
that waits for its address already counts as one of the four of its domain.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from urltree.address.domain import icann_domain
from urltree.crawl.decisions.host.shared_limits import SharedLimits

Begin = Callable[[float], None]
"""A function that begins a request at a time."""


class _Counted(NamedTuple):
    """A request that its domain allows: the domain, when it was counted, and how it begins."""

    domain: str
    counted_at: float
    begin: Begin


class SimulatedLimits:
    """The requests that wait for their domain or address, in the order in which they came.

    Args:
        limits: limits of all domains.
        address_at_once: largest number of simultaneous requests to an address.
        address_of: returns the address of a host.
        call_at: calls a function at a time.
    """

    def __init__(
        self,
        limits: SharedLimits,
        address_at_once: int,
        address_of: Callable[[str], str],
        call_at: Callable[[float, Begin], None],
    ) -> None:
        self._limits = limits
        self._address_at_once = address_at_once
        self._address_of = address_of
        self._call_at = call_at
        self._domains: defaultdict[str, deque[tuple[str, Begin]]] = defaultdict(deque)
        self._addresses: defaultdict[str, deque[_Counted]] = defaultdict(deque)
        self._running: Counter[str] = Counter()  # by address
        self._woken: set[str] = set()  # domains with a call of `_admit` at a later time

    def wait(self, host: str, now: float, begin: Begin) -> None:
        """Begin a request to a host as soon as the limits allow it."""
        domain = icann_domain(host)
        self._domains[domain].append((host, begin))
        self._admit(domain, now)

    def end(self, host: str, now: float) -> None:
        """Count a request that has ended, and begin those that waited for it."""
        domain, address = icann_domain(host), self._address_of(host)
        self._running[address] -= 1
        self._limits.end(domain, now)
        self._begin(address, now)
        self._admit(domain, now)

    def _admit(self, domain: str, now: float) -> None:
        waiting = self._domains[domain]
        while waiting and domain not in self._woken:
            at = self._limits.may_begin(domain, now)
            if at == math.inf:
                return
            if at > now:
                self._woken.add(domain)
                self._call_at(at, lambda now: self._wake(domain, now))
                return
            self._limits.begin(domain, now)
            host, begin = waiting.popleft()
            address = self._address_of(host)
            self._addresses[address].append(_Counted(domain, now, begin))
            self._begin(address, now)

    def _wake(self, domain: str, now: float) -> None:
        self._woken.discard(domain)
        self._admit(domain, now)

    def _begin(self, address: str, now: float) -> None:
        waiting = self._addresses[address]
        while waiting and self._running[address] < self._address_at_once:
            self._running[address] += 1
            self._begin_in_time(waiting.popleft(), now)

    def _begin_in_time(self, request: _Counted, now: float) -> None:
        at = self._limits.begin_later(request.domain, request.counted_at, now)
        if at > now:
            self._call_at(at, partial(self._begin_in_time, request))
        else:
            request.begin(now)
