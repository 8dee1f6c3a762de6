"""Limits on the requests to all hosts of one domain, for providers with thousands of hosts.

    a.blogspot.com ─┐
    b.blogspot.com ─┼─▶ blogspot.com: at most 4 requests at once, and 10 that begin in a second
    c.blogspot.com ─┘

The domain is the one below a public suffix of the list's ICANN section
(`urltree.address.domain.icann_domain`). Each worker applies the limits for itself.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

_FORGET_EACH = 1_024  # number of new domains after which unused domains are forgotten


@dataclass(slots=True)
class _Domain:
    running: int = 0
    began: deque[float] = field(default_factory=deque)  # times of the last requests, oldest first


class SharedLimits:
    """The requests to each domain that run now or have begun within the last second.

    Args:
        at_once: largest number of simultaneous requests to a domain.
        per_second: largest number of requests to a domain that begin within a second. A number
            below 1 is the inverse of a pause: 0.1 allows one request in ten seconds.
    """

    def __init__(self, at_once: int, per_second: float) -> None:
        self._at_once = at_once
        self._burst = max(1, math.floor(per_second))
        self._window = self._burst / per_second  # seconds
        self._domains: dict[str, _Domain] = {}
        self._forget_at = _FORGET_EACH

    def __len__(self) -> int:
        """Return the number of domains in memory."""
        return len(self._domains)

    def may_begin(self, domain: str, now: float) -> float:
        """Return the time from which a request to a domain may begin.

        Args:
            domain: domain of the host.
            now: current time in seconds; any clock that never goes back.

        Returns:
            `now` or a later time; infinity if the request has to wait until another one ends.
        """
        known = self._domains.get(domain)
        if known is None:
            return now
        if known.running >= self._at_once:
            return math.inf
        if len(known.began) < self._burst:
            return now
        return max(now, known.began[0] + self._window)

    def begin(self, domain: str, now: float) -> None:
        """Count a request that begins."""
        known = self._domains.get(domain)
        if known is None:
            self._forget(now)
            known = self._domains[domain] = _Domain()
        known.running += 1
        known.began.append(now)
        while len(known.began) > self._burst or known.began[0] + self._window <= now:
            known.began.popleft()

    def begin_later(self, domain: str, counted_at: float, now: float) -> float:
        """Count a request as one that begins now, because it has waited since it was counted.

        Without this, the requests of a domain that have waited for other limits would begin
        together with later ones, and would exceed the rate.

        Args:
            domain: domain of the host.
            counted_at: time for which `begin`, or this method, has counted the request.
            now: current time.

        Returns:
            `now`, or a later time from which the request may begin; nothing is counted then.
        """
        known = self._domains[domain]
        others = list(known.began)
        if counted_at in others:
            others.remove(counted_at)
        recent = [at for at in others if at + self._window > now]
        if len(recent) >= self._burst:
            return recent[-self._burst] + self._window
        known.began = deque((*recent, now))
        return now

    def end(self, domain: str, now: float) -> None:
        """Count a request that has ended, with any result."""
        known = self._domains[domain]
        known.running -= 1
        if not known.running and known.began[-1] + self._window <= now:
            del self._domains[domain]

    def _forget(self, now: float) -> None:
        """Forget the domains without running or recent requests, in constant time a request."""
        if len(self._domains) < self._forget_at:
            return
        self._domains = {
            domain: known
            for domain, known in self._domains.items()
            if known.running or known.began[-1] + self._window > now
        }
        self._forget_at = 2 * len(self._domains) + _FORGET_EACH
