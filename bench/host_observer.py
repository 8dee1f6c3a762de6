"""An observer in a web server that checks whether the requests of each host are polite.

    |── request ──|   pause   |── request ──|       polite
    |── request ──|  |── request ──|                before the end of the pause
    |── request ──|                                 overlapping
           |── request ──|

The observer is in the server, so a pause that it sees is never shorter than the client's pause: it
begins before the response is sent, and ends after the next request has arrived.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from urltree.crawl.decisions.host.host_state import Politeness

TOLERANCE = 0.05  # seconds; the clocks of client and server round differently


@dataclass(slots=True)
class HostRecord:
    """What is known about the requests of a host. Times are seconds.

    Attributes:
        running: number of requests that have begun and not ended.
        ready_at: end of the pause after the last request.
        rests_until: end of the time that a response 429 asked for.
        crawl_delay: Crawl-delay of the host's robots.txt; None until the file was sent.
    """

    running: int = 0
    ready_at: float = 0.0
    rests_until: float = 0.0
    crawl_delay: float | None = None


class HostObserver:
    """The requests of all hosts.

    Args:
        politeness: limits that the job's settings promise.

    Attributes:
        requests: number of requests of each host.
        overlapping: number of requests that began during another request of their host.
        early: number of requests that began before the end of their host's pause.
        resting: number of requests that began in the time that a response 429 asked for.
        earliest: seconds before the end of the pause, and host, of the earliest such request.
        most: largest number of simultaneous requests of a host.
    """

    def __init__(self, politeness: Politeness) -> None:
        self._politeness = politeness
        self._hosts: defaultdict[str, HostRecord] = defaultdict(HostRecord)
        self.requests: Counter[str] = Counter()
        self.overlapping = self.early = self.resting = self.most = 0
        self.earliest = (0.0, "")

    def begin(self, host: str, now: float) -> None:
        """Record that a request has arrived."""
        record = self._hosts[host]
        self.requests[host] += 1
        self.overlapping += record.running > 0
        self.resting += now + TOLERANCE < record.rests_until
        if now + TOLERANCE < record.ready_at:
            self.early += 1
            self.earliest = max(self.earliest, (record.ready_at - now, host))
        record.running += 1
        self.most = max(self.most, record.running)

    def end(
        self,
        host: str,
        now: float,
        seconds: float,
        *,
        retry_after: float | None = None,
        crawl_delay: float | None = None,
    ) -> None:
        """Record that the response is complete.

        Args:
            host: host of the request.
            now: current time.
            seconds: time that the response took.
            retry_after: seconds that a response 429 asks for; None for another response.
            crawl_delay: seconds that the response, a robots.txt, asks for; None if it does not.
        """
        record = self._hosts[host]
        record.running -= 1
        if crawl_delay is not None:
            record.crawl_delay = crawl_delay
        record.ready_at = now + self._politeness.after(seconds, record.crawl_delay)
        if retry_after is not None:
            record.rests_until = now + retry_after
