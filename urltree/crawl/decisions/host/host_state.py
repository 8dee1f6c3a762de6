"""A host, and when it may be asked again: a row of the table `host_state`.

    answered          rests: the largest of setting, k times latency and Crawl-delay, capped
    429, 503          backs off at once: Retry-After, else 1 min doubling to 6 h
    trouble, 5xx      backs off from the third in a row on: a dead host with 10,000 pages waiting
                      costs three timeouts, not 10,000
    no robots.txt     (5xx, 429, unreachable) 5 min doubling to a day: all of it is denied meanwhile

While a host backs off its pages wait, and it is no failure of theirs.
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

_FIRST, _LONGEST = MINUTE, 6 * HOUR
_FIRST_ROBOTS, _LONGEST_ROBOTS = 5 * MINUTE, DAY
_TOLERATED = 2  # troubles in a row that say nothing of the host yet
_FIRST_RETRY, _RETRY_FACTOR = MINUTE, 4.0  # a page's own: 1, 4, 16, 64, 256 min
_GIVE_UP = 6 * HOUR  # as long as a page's own tries take
_KEPT = 30 * DAY
_BRIEF = 5.0  # seconds: a partition is not taken over sooner
_JITTER = 0.25  # of the wait, so that hosts of one server do not come back together

_MAX_ROW = 4 * 1024 * 1024  # of JSON: two robots.txt of 500 KiB, escaped


class HostStateError(Exception):
    """A stored row that this release cannot read."""


@dataclass(frozen=True, slots=True)
class Politeness:
    """How long a host rests (`agents.settings.feeds`).

    Attributes:
        pause: seconds between two requests, at least.
        pause_max: and at most, whatever latency or Crawl-delay say.
        latency_factor: times what the last answer took.
    """

    pause: float
    pause_max: float
    latency_factor: float

    def after(self, latency: float, crawl_delay: float | None = None) -> float:
        """Seconds until the next request."""
        wished = max(self.latency_factor * latency, crawl_delay or 0.0)
        return max(self.pause, min(wished, self.pause_max))


@dataclass(frozen=True, slots=True)
class RobotsText:
    """What a host has answered for robots.txt.

    Attributes:
        status: 200: the body counts; 4xx: everything is allowed (RFC 9309, 2.3.1.3).
        until: when it is to be asked again.
        body: at most 500 KiB.
    """

    status: int
    until: float
    body: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostState:
    """Of one host. Times are seconds since 1970.

    Attributes:
        host: as in a URL: lower case, with its port where that is not the default.
        next_at: no request before.
        backoff_until: no request before, for it has failed or asked for it; 0 where not.
        errors: failures in a row; failing_since: the first of them; trouble: the last in words.
        latency: seconds that the last answer took.
        robots: by scheme, for a host's two ports are two authorities (RFC 9309, 2.3).
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
        """Whether it says something that another owner must know; a pause of seconds is none."""
        same = replace(stored, next_at=self.next_at, latency=self.latency)
        return self != same or self.next_at - now > _BRIEF

    @property
    def next_request_at(self) -> float:
        """When it may be asked."""
        return max(self.next_at, self.backoff_until)

    def robots_at(self, scheme: str, now: float) -> RobotsText | None:
        """What holds of its robots.txt; None: it is to be asked."""
        found = self.robots.get(scheme)
        return found if found is not None and now < found.until else None

    def is_given_up(self, now: float) -> bool:
        """Whether it has failed for so long that nobody waits for it any more."""
        since = self.failing_since
        return since is not None and now - since > _GIVE_UP and now < self.backoff_until

    def is_forgotten(self, now: float) -> bool:
        """Whether its row says nothing any more."""
        return (
            now - max(self.next_request_at, *(r.until for r in self.robots.values()), 0.0) > _KEPT
        )

    def encode(self) -> bytes:
        """The row: its version, then zstd of JSON."""
        return bytes([HOST_STATE_VERSION]) + zstandard.compress(orjson.dumps(asdict(self)))

    @classmethod
    def decode(cls, row: bytes) -> HostState:
        """Read a row.

        Raises:
            HostStateError: it is of a release that this one does not know, or damaged.
        """
        try:
            if row[0] != HOST_STATE_VERSION:
                raise ValueError(f"version {row[0]}")  # noqa: TRY301
            text = zstandard.decompress(row[1:], max_output_size=_MAX_ROW)
            fields: dict[str, Any] = orjson.loads(text)
            robots = {scheme: RobotsText(**r) for scheme, r in fields.pop("robots").items()}
            return cls(**fields, robots=robots)
        except (ValueError, KeyError, TypeError, IndexError, zstandard.ZstdError) as error:
            raise HostStateError(f"host_state: {error}") from None


def update_after_response(  # noqa: PLR0913 - what is known of a request, each by its name
    host: HostState,
    came: Response | WebError,
    now: float,
    rules: Politeness,
    *,
    retry_after: float | None = None,
    crawl_delay: float | None = None,
    took: float = 0.0,
) -> HostState:
    """The host once it has answered, or has not.

    Args:
        host: before.
        came: of the request.
        now: when it ended.
        rules: of politeness.
        retry_after: seconds that the answer asks for (`urltree.crawl.decisions.caching`).
        crawl_delay: seconds that its robots.txt asks for.
        took: seconds of a request without an answer; its host may be at it still.
    """
    if isinstance(came, WebError):
        rested = replace(host, next_at=now + rules.after(max(host.latency, took), crawl_delay))
        if not came.trouble.is_transient:
            return rested
        return _failed(rested, now, str(came.trouble), tolerated=_TOLERATED)
    pause = rules.after(came.seconds, crawl_delay)
    rested = replace(host, latency=came.seconds, next_at=now + pause)
    if came.status in (429, 503):
        failed = _failed(rested, now, f"status {came.status}")
        if retry_after is not None:
            asked = min(max(retry_after, pause), _LONGEST)
            failed = replace(failed, backoff_until=now + asked)
        return failed
    if came.status >= 500:
        return _failed(rested, now, f"status {came.status}", tolerated=_TOLERATED)
    return replace(rested, errors=0, failing_since=None, trouble=None, backoff_until=0.0)


def update_after_robots(
    host: HostState, scheme: str, came: RobotsText | str, now: float
) -> HostState:
    """The host once its robots.txt is known; or the words that say why it is not."""
    if isinstance(came, RobotsText):
        return replace(host, robots={**host.robots, scheme: came})
    return _failed(host, now, f"robots.txt: {came}", first=_FIRST_ROBOTS, longest=_LONGEST_ROBOTS)


def retry_at(url: str, attempt: int, now: float) -> float:
    """When a page that has failed so many times is tried again."""
    wait = min(_FIRST_RETRY * _RETRY_FACTOR ** min(attempt - 1, 10), _LONGEST)
    return now + wait * _jitter(url, attempt)


def _failed(  # noqa: PLR0913
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
    """1 to 1 + _JITTER; chance, but the same for the same."""
    return 1.0 + _JITTER * stable_fraction(f"{count} {key}")
