"""The state of a host, and when the next request to it may be sent: a row of table `host_state`.

    every request    pause: the setting, or if longer the latency times a factor or the Crawl-delay,
                     up to a maximum
    429, 503         back-off at once: Retry-After, or else 1 min, then doubled up to 6 h
    other 5xx, or    back-off after the third failure in a row: 1 min, then doubled up to 6 h. So a
    no response      dead host with 10,000 waiting pages costs three timeouts instead of 10,000
    403              back-off as after 429, at the third in a row from different pages, or at once
                     if the response is a wall
    TLS              back-off of the scheme after the third failure in a row: pages of the other
                     scheme are requested
    no robots.txt    (5xx, 429, no response) back-off of pages: 5 min, then doubled up to a day.
                     Feeds are requested, because robots.txt does not apply to them

During the back-off of a host, no page of the host is requested. This does not count as a failed
attempt of the pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import orjson
import xxhash
import zstandard

from urltree.crawl.decisions.response import Response, Trouble, WebError
from urltree.crawl.decisions.timing import DAY, HOUR, MINUTE, stable_fraction

HOST_STATE_VERSION = 1

_FIRST, _LONGEST = MINUTE, 6 * HOUR  # first and longest back-off
_FIRST_ROBOTS, _LONGEST_ROBOTS = 5 * MINUTE, DAY  # back-off after failures of robots.txt requests
_LONGEST_ASKED = 7 * DAY  # longest back-off that Retry-After causes
_TOLERATED = 2  # largest number of failures in a row that cause no back-off
_REFUSING = 3  # pages that the host refused in a row (403) from which on it backs off
_FIRST_RETRY, _RETRY_FACTOR = MINUTE, 4.0  # retries of a page after 1, 4, 16, 64, 256 min
_GIVE_UP = 6 * HOUR  # about the time from the first to the last attempt of a page
# A page that was refused is requested again for seven hours; a host that refuses waits up to six.
_GIVE_UP_REFUSING = DAY
_REFUSAL_WAITS = (5 * MINUTE, HOUR, 6 * HOUR)  # retries of a new page after 404 and 403
_NEW = DAY  # time since a page was named in which 404 and 403 are not final
_KEPT = 30 * DAY  # a state that was not used for this time is deleted
_LONGEST_FILE = DAY + HOUR  # a stored robots.txt is used for a day at most
BRIEF = 5.0  # seconds; a shorter pause ends before another worker can take over the partition
_LONGEST_PAUSE = DAY  # a stored pause that ends later was written by a wrong clock
_JITTER = 0.25  # largest share added to a wait, so that hosts on one server are not retried at once

_MAX_ROW = 4 * 1024 * 1024  # bytes; enough for two robots.txt of 500 KiB each, with JSON escapes
_ADDED = (
    "tdmrep",
    "refused",
    "resting",
    "no_robots_until",
)  # fields that releases before 0.3 do not know
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


@dataclass(frozen=True, slots=True)
class SchemeRest:
    """The back-off of one scheme of a host, after TLS failures.

    Attributes:
        until: end of the back-off, seconds since 1970; 0 if there is none.
        errors: number of failures in a row.
        since: time of the first of these failures.
    """

    until: float
    errors: int
    since: float


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
        tdmrep: tdmrep.json by scheme; a status other than 2xx means that there is none.
        refused: hashes of the pages to which the last answers were 403, each page once.
        resting: back-offs of single schemes.
        no_robots_until: time until which no page may be requested, because the host did not give
            its robots.txt; 0 if there is none.
    """

    host: str
    next_at: float = 0.0
    backoff_until: float = 0.0
    errors: int = 0
    failing_since: float | None = None
    trouble: str | None = None
    latency: float = 0.0
    robots: Mapping[str, RobotsText] = field(default_factory=dict)
    tdmrep: Mapping[str, RobotsText] = field(default_factory=dict)
    refused: tuple[int, ...] = ()
    resting: Mapping[str, SchemeRest] = field(default_factory=dict)
    no_robots_until: float = 0.0

    def differs(self, stored: HostState, now: float) -> bool:
        """Return whether the state must be stored for the next owner of the partition.

        It need not be stored if it differs from the stored state only in the latency, or in a pause
        that ends within seconds.
        """
        same = replace(stored, next_at=self.next_at, latency=self.latency)
        return self != same or self.next_at - now > BRIEF

    @property
    def next_request_at(self) -> float:
        """Time from which a request for a feed may be sent, seconds since 1970."""
        return max(self.next_at, self.backoff_until)

    @property
    def is_refusing(self) -> bool:
        """Whether the host backs off because it refuses every page with 403."""
        return len(self.refused) >= _REFUSING

    def ready_at(self, scheme: str) -> float:
        """Return the time from which a feed with this scheme may be requested."""
        return max(self.next_request_at, self.rests_until(scheme))

    def rests_until(self, scheme: str) -> float:
        """Return the end of the back-off of one scheme; 0 if there is none."""
        rest = self.resting.get(scheme)
        return rest.until if rest else 0.0

    def page_ready_at(self, scheme: str) -> float:
        """Return the time from which a page with this scheme may be requested."""
        return max(self.ready_at(scheme), self.no_robots_until)

    def robots_at(self, scheme: str, now: float) -> RobotsText | None:
        """Return the robots.txt that is valid at `now`; None if it must be requested."""
        found = self.robots.get(scheme)
        return found if found is not None and now < found.until else None

    def tdmrep_at(self, scheme: str, now: float) -> RobotsText | None:
        """Return the tdmrep.json that is valid at `now`; None if it must be requested."""
        found = self.tdmrep.get(scheme)
        return found if found is not None and now < found.until else None

    def is_given_up(self, now: float, scheme: str | None = None) -> bool:
        """Return whether the pages of the host are refused and do not wait any more.

        The result is True while the host backs off and has failed for more than six hours, or a day
        if it has answered 403. A single failure with a long Retry-After does not give up its pages.

        Args:
            now: current time.
            scheme: scheme of the page; its own back-off counts, too.
        """
        rest = self.resting.get(scheme or "")
        if rest is not None and now - rest.since > _GIVE_UP and now < rest.until:
            return True
        if self.failing_since is None or self.errors <= 1:
            return False
        longest = _GIVE_UP_REFUSING if self.is_refusing else _GIVE_UP
        rests_until = max(self.backoff_until, self.no_robots_until)
        return now - self.failing_since > longest and now < rests_until

    def is_forgotten(self, now: float) -> bool:
        """Return whether the state has expired, so that its row can be deleted."""
        ends = [file.until for file in (*self.robots.values(), *self.tdmrep.values())]
        ends += [rest.until for rest in self.resting.values()]
        return now - max(self.next_request_at, self.no_robots_until, *ends) > _KEPT

    def bounded(self, now: float) -> HostState:
        """Return the state without times that are later than their rule allows.

        Such times were written by a wrong clock.

        Args:
            now: current time.
        """
        found = self
        if self.next_at > now + _LONGEST_PAUSE:
            found = replace(found, next_at=0.0)
        if self.backoff_until > now + _LONGEST_ASKED:
            found = replace(found, backoff_until=0.0)
        if self.no_robots_until > now + _LONGEST_ASKED:
            found = replace(found, no_robots_until=0.0)
        if (self.failing_since or 0.0) > now:
            found = replace(found, failing_since=None, errors=0)
        return replace(
            found,
            robots=_soon(self.robots, now + _LONGEST_FILE),
            tdmrep=_soon(self.tdmrep, now + _LONGEST_FILE),
            resting={
                scheme: rest
                for scheme, rest in self.resting.items()
                if rest.until <= now + _LONGEST_ASKED and rest.since <= now
            },
        )

    def encode(self) -> bytes:
        """Return the bytes of the row: its version, then JSON compressed by zstd.

        Fields that older releases do not know are written only if they are set.
        """
        fields = asdict(self)
        for name in _ADDED:
            if not fields[name]:
                del fields[name]
        return bytes([HOST_STATE_VERSION]) + zstandard.compress(orjson.dumps(fields))

    @classmethod
    def decode(cls, row: bytes, now: float | None = None) -> HostState:
        """Return the state in the bytes of a row.

        Args:
            row: bytes of the row.
            now: current time, to drop times that are too late (`bounded`); None to keep all times.

        Raises:
            HostStateError: the row is damaged, or was written by another release.
        """
        try:
            if row[0] != HOST_STATE_VERSION:
                raise ValueError(f"its version is {row[0]}, not {HOST_STATE_VERSION}")
            text = zstandard.decompress(row[1:], max_output_size=_MAX_ROW)
            fields: dict[str, Any] = orjson.loads(text)
            found = cls(
                **fields
                | {
                    "robots": _texts(fields["robots"]),
                    "tdmrep": _texts(fields.get("tdmrep", {})),
                    "refused": tuple(map(int, fields.get("refused", ()))),
                    "resting": {
                        scheme: SchemeRest(**rest)
                        for scheme, rest in fields.get("resting", {}).items()
                    },
                }
            )
            return found if now is None else found.bounded(now)
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
    page: str | None = None,
    scheme: str | None = None,
    is_wall: bool = False,
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
        page: address of the page in its feed. None if the request was for another file: its answer
            does not show whether the host refuses pages.
        scheme: scheme of the request; None if the caller does not know it.
        is_wall: whether the response is a wall (`walls.py`).
    """
    if isinstance(result, WebError):
        paused = replace(host, next_at=now + rules.after(max(host.latency, took), crawl_delay))
        if not result.trouble.is_transient:
            return paused
        if result.trouble is Trouble.TLS and scheme is not None:
            return _rest_scheme(paused, scheme, now)
        return _record_failure(paused, now, str(result.trouble), tolerated=_TOLERATED)
    pause = rules.after(result.seconds, crawl_delay)
    paused = replace(host, latency=result.seconds, next_at=now + pause)
    if scheme in host.resting:
        others = {name: rest for name, rest in host.resting.items() if name != scheme}
        paused = replace(paused, resting=others)
    if page is not None:
        paused = replace(paused, refused=_refused(host.refused, result, page))
    is_refused = result.status == 403 and (is_wall or (page is not None and paused.is_refusing))
    if result.status in (429, 503) or is_refused:
        failed = _record_failure(paused, now, f"status {result.status}")
        if retry_after is not None:
            asked = min(max(retry_after, pause), _LONGEST_ASKED)
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
        return replace(host, robots={**host.robots, scheme: result}, no_robots_until=0.0)
    failed = _record_failure(
        host, now, f"robots.txt: {result}", first=_FIRST_ROBOTS, longest=_LONGEST_ROBOTS
    )
    return replace(failed, backoff_until=host.backoff_until, no_robots_until=failed.backoff_until)


def update_after_tdmrep(host: HostState, scheme: str, file: RobotsText) -> HostState:
    """Return the state of a host after a request for tdmrep.json.

    Args:
        host: state before the request.
        scheme: scheme of the URL of tdmrep.json.
        file: file, or the status that shows that there is none.
    """
    return replace(host, tdmrep={**host.tdmrep, scheme: file})


def retry_refused_at(  # noqa: PLR0913, PLR0917 - fields of the record and of the answer
    url: str,
    status: int,
    refusals: int,
    named_at: float | None,
    is_first_poll: bool,
    now: float,
) -> float | None:
    """Return the time of the next request for a page that was answered by 404 or 403.

    Some sites announce a page before all of their servers have it. So these answers are not final
    while the page is new: the page is requested again after 5 minutes, 1 and 6 hours.

    Args:
        url: URL of the page.
        status: status of the response.
        refusals: number of such answers before this one.
        named_at: time at which a poll found the page; None if it is unknown.
        is_first_poll: whether this was the first poll of the feed, so that the page may be old.
        now: current time, seconds since 1970.

    Returns:
        The time in seconds since 1970; None if the answer is final.
    """
    if status not in (403, 404) or refusals >= len(_REFUSAL_WAITS):
        return None
    if named_at is None or is_first_poll or not -HOUR <= now - named_at < _NEW:
        return None
    return now + _REFUSAL_WAITS[refusals] * _jitter(url, refusals)


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


def _rest_scheme(host: HostState, scheme: str, now: float) -> HostState:
    """Return the state after a TLS failure, which says nothing about the other scheme."""
    known = host.resting.get(scheme)
    errors, since = (known.errors + 1, known.since) if known else (1, now)
    until = 0.0
    if errors > _TOLERATED:
        wait = _FIRST * 2.0 ** min(errors - _TOLERATED - 1, 20) * _jitter(host.host, errors)
        until = now + min(wait, _LONGEST)
    rest = SchemeRest(until, errors, since)
    return replace(host, trouble=str(Trouble.TLS), resting={**host.resting, scheme: rest})


def _refused(refused: tuple[int, ...], result: Response, page: str) -> tuple[int, ...]:
    """Return the pages that were refused in a row. Redirects and failures do not end the row."""
    if result.status == 403:
        name = xxhash.xxh3_64_intdigest(page.encode(errors="replace")) >> 16
        return refused if name in refused else (*refused, name)[-_REFUSING:]
    return (
        refused
        if result.is_redirect or result.status in (408, 425, 429) or result.status >= 500
        else ()
    )


def _soon(files: Mapping[str, RobotsText], latest: float) -> dict[str, RobotsText]:
    return {scheme: file for scheme, file in files.items() if file.until <= latest}


def _texts(files: Mapping[str, Mapping[str, Any]]) -> dict[str, RobotsText]:
    return {scheme: RobotsText(**file) for scheme, file in files.items()}


def _jitter(key: str, count: int) -> float:
    """Return a factor from 1 to 1 + _JITTER that depends only on the key and the count."""
    return 1.0 + _JITTER * stable_fraction(f"{count} {key}")
