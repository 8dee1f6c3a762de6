"""The state of a host, and when the next request to it may be sent: a row of table `host_state`.

    every request    pause: the setting, or if longer the latency times a factor or the Crawl-delay,
                     up to a maximum
    429, 503         back-off at once: Retry-After, or else 1 min, then doubled up to 6 h
    other 5xx, or    back-off after the third failure in a row: 1 min, then doubled up to 6 h. So a
    no response      dead host with 10,000 waiting pages costs three timeouts instead of 10,000
    no robots.txt    (5xx, 429, no response) back-off: 5 min, then doubled up to a day

During the back-off of a host, no page of the host is requested. This does not count as a failed
attempt of the pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import orjson
import zstandard

from urltree.crawl.decisions.response import Response, WebError
from urltree.crawl.decisions.timing import DAY, HOUR, MINUTE, stable_fraction

HOST_STATE_VERSION = 1

_FIRST, _LONGEST = MINUTE, 6 * HOUR  # first and longest back-off
_FIRST_ROBOTS, _LONGEST_ROBOTS = 5 * MINUTE, DAY  # back-off after failures of robots.txt requests
_TOLERATED = 2  # largest number of failures in a row that cause no back-off
_FIRST_RETRY, _RETRY_FACTOR = MINUTE, 4.0  # retries of a page after 1, 4, 16, 64, 256 min
_GIVE_UP = 6 * HOUR  # about the time from the first to the last attempt of a page
_KEPT = 30 * DAY  # a state that was not used for this time is deleted
_BRIEF = 5.0  # seconds; a shorter pause ends before another worker can take over the partition
_JITTER = 0.25  # largest share added to a wait, so that hosts on one server are not retried at once

_MAX_ROW = 4 * 1024 * 1024  # bytes; enough for two robots.txt of 500 KiB each, with JSON escapes
# MemoryError: zstd allocates the size that its header names, and a damaged header names any size.
_DAMAGED = (ValueError, KeyError, TypeError, IndexError, AttributeError, MemoryError)


class HostStateError(Exception):
    """A stored row of a host that this release cannot read."""


@dataclass(frozen=True, slots=True)
class Politeness:
    """Limits on the request rate of a host (`agents.settings.feeds`).

    Attributes:
        pause: minimum seconds between two requests.
        pause_max: maximum pause in seconds that latency or Crawl-delay can cause.
        latency_factor: factor by which the last response's latency is multiplied to get a pause.
    """

    pause: float
    pause_max: float
    latency_factor: float

    def after(self, latency: float, crawl_delay: float | None = None) -> float:
        """Return the seconds to wait until the next request.

        Args:
            latency: seconds that the last response took.
            crawl_delay: seconds that robots.txt asks to wait; None if it does not.
        """
        wished = max(self.latency_factor * latency, crawl_delay or 0.0)
        return max(self.pause, min(wished, self.pause_max))


@dataclass(frozen=True, slots=True)
class RobotsText:
    """The response of a host to a request for robots.txt.

    Attributes:
        status: status of the response. 2xx: the body has the rules; otherwise there are no rules,
            and every page is allowed (RFC 9309, 2.3.1.3).
        until: time at which the response expires, seconds since 1970.
        body: at most 500 KiB of robots.txt; empty without rules.
    """

    status: int
    until: float
    body: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostState:
    """The state of one host. Times are seconds since 1970.

    Attributes:
        host: host as in a URL: lower case, with its port unless it is the default.
        next_at: end of the pause after the last request.
        backoff_until: end of the back-off; 0 if there is none.
        errors: number of failures in a row.
        failing_since: time of the first of these failures; None if there is none.
        trouble: description of the last failure; None after a success.
        latency: seconds that the last response took.
        robots: robots.txt by scheme: http and https of a host have separate ones (RFC 9309, 2.3).
    """

    host: str
    next_at: float = 0.0
    backoff_until: float = 0.0
    errors: int = 0
    failing_since: float | None = None
    trouble: str | None = None
    latency: float = 0.0
    robots: Mapping[str, RobotsText] = field(default_factory=dict)

    def differs(self, stored: HostState, now: float) -> bool:
        """Return whether the state must be stored for the next owner of the partition.

        It need not be stored if it differs from the stored state only in the latency, or in a pause
        that ends within seconds.
        """
        same = replace(stored, next_at=self.next_at, latency=self.latency)
        return self != same or self.next_at - now > _BRIEF

    @property
    def next_request_at(self) -> float:
        """Time from which a request may be sent, seconds since 1970."""
        return max(self.next_at, self.backoff_until)

    def robots_at(self, scheme: str, now: float) -> RobotsText | None:
        """Return the robots.txt that is valid at `now`; None if it must be requested."""
        found = self.robots.get(scheme)
        return found if found is not None and now < found.until else None

    def is_given_up(self, now: float) -> bool:
        """Return whether the pages of the host are refused and do not wait any more.

        The result is True while the host backs off and has failed for more than six hours.
        """
        since = self.failing_since
        return since is not None and now - since > _GIVE_UP and now < self.backoff_until

    def is_forgotten(self, now: float) -> bool:
        """Return whether the state has expired, so that its row can be deleted."""
        return (
            now - max(self.next_request_at, *(r.until for r in self.robots.values()), 0.0) > _KEPT
        )

    def encode(self) -> bytes:
        """Return the bytes of the row: its version, then JSON compressed by zstd."""
        return bytes([HOST_STATE_VERSION]) + zstandard.compress(orjson.dumps(asdict(self)))

    @classmethod
    def decode(cls, row: bytes) -> HostState:
        """Return the state in the bytes of a row.

        Raises:
            HostStateError: the row is damaged, or was written by another release.
        """
        try:
            if row[0] != HOST_STATE_VERSION:
                raise ValueError(f"its version is {row[0]}, not {HOST_STATE_VERSION}")
            text = zstandard.decompress(row[1:], max_output_size=_MAX_ROW)
            fields: dict[str, Any] = orjson.loads(text)
            robots = {scheme: RobotsText(**r) for scheme, r in fields.pop("robots").items()}
            return cls(**fields, robots=robots)
        except (*_DAMAGED, zstandard.ZstdError) as error:
            raise HostStateError(
                f"a row of table host_state cannot be read: {error}; it is damaged, or another "
                "release has written it"
            ) from None


def update_after_response(  # noqa: PLR0913 - the properties of a request, passed by name
    host: HostState,
    result: Response | WebError,
    now: float,
    rules: Politeness,
    *,
    retry_after: float | None = None,
    crawl_delay: float | None = None,
    took: float = 0.0,
) -> HostState:
    """Return the state of a host after a request.

    Args:
        host: state before the request.
        result: result of the request.
        now: time at which the request ended.
        rules: limits on the request rate.
        retry_after: seconds that the response asks to wait (`urltree.crawl.decisions.caching`).
        crawl_delay: seconds between requests that the host's robots.txt asks for.
        took: duration in seconds of a request without response. It counts like a latency, because
            the host may still be busy with this request.
    """
    if isinstance(result, WebError):
        paused = replace(host, next_at=now + rules.after(max(host.latency, took), crawl_delay))
        if not result.trouble.is_transient:
            return paused
        return _record_failure(paused, now, str(result.trouble), tolerated=_TOLERATED)
    pause = rules.after(result.seconds, crawl_delay)
    paused = replace(host, latency=result.seconds, next_at=now + pause)
    if result.status in (429, 503):
        failed = _record_failure(paused, now, f"status {result.status}")
        if retry_after is not None:
            asked = min(max(retry_after, pause), _LONGEST)
            failed = replace(failed, backoff_until=now + asked)
        return failed
    if result.status >= 500:
        return _record_failure(paused, now, f"status {result.status}", tolerated=_TOLERATED)
    return replace(paused, errors=0, failing_since=None, trouble=None, backoff_until=0.0)


def update_after_robots(
    host: HostState, scheme: str, result: RobotsText | str, now: float
) -> HostState:
    """Return the state of a host after a request for robots.txt.

    Args:
        host: state before the request.
        scheme: scheme of the URL of robots.txt.
        result: robots.txt, or the description of the failure.
        now: time at which the request ended.
    """
    if isinstance(result, RobotsText):
        return replace(host, robots={**host.robots, scheme: result})
    return _record_failure(
        host, now, f"robots.txt: {result}", first=_FIRST_ROBOTS, longest=_LONGEST_ROBOTS
    )


def retry_at(url: str, attempt: int, now: float) -> float:
    """Return the time of the next request for a page whose requests have all failed so far.

    Args:
        url: URL of the page.
        attempt: number of failed requests.
        now: current time, seconds since 1970.
    """
    wait = min(_FIRST_RETRY * _RETRY_FACTOR ** min(attempt - 1, 10), _LONGEST)
    return now + wait * _jitter(url, attempt)


def _record_failure(  # noqa: PLR0913
    host: HostState,
    now: float,
    trouble: str,
    *,
    tolerated: int = 0,
    first: float = _FIRST,
    longest: float = _LONGEST,
) -> HostState:
    errors = host.errors + 1
    failed = replace(host, errors=errors, failing_since=host.failing_since or now, trouble=trouble)
    if errors <= tolerated:
        return failed
    wait = first * 2.0 ** min(errors - tolerated - 1, 20) * _jitter(host.host, errors)
    return replace(failed, backoff_until=now + min(wait, longest))


def _jitter(key: str, count: int) -> float:
    """Return a factor from 1 to 1 + _JITTER that depends only on the key and the count."""
    return 1.0 + _JITTER * stable_fraction(f"{count} {key}")
