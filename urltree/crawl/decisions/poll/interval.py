"""The wait until the next poll of a feed, after a successful poll and after a failure.

    publications  │  │   │ │    │  │           │
    gaps           ╰─╯╰──╯╰╯╰───╯╰─╯╰─────────╯╰──── silence ────▶ now
    window        ╰─────── span of the items in the feed ─────────╯

    interval = max(half the median gap, a tenth of the silence, the publisher's floor)
               but at most half the window, unless the feed has been silent for a week,
               within interval_min to interval_max

The silence is the time since the newest item. If the interval is half the gap, an item waits a
quarter of a gap on average until it is found. If the interval is a tenth of the silence, a feed
without new items for ten hours is polled after one more hour.

The floor is the minimum interval that the publisher asks for (ttl, sy:, max-age). It takes
precedence over the gaps and the silence, because the publisher knows the feed. The window takes
precedence over the floor, because an item that leaves the feed between two polls is lost. Many
floors are also unintended (WordPress writes an hourly `sy:` into every feed), and a superfluous
poll costs only a response 304.

After failures the wait grows:

    errors in a row   1    2    3    4    5    6 …            quarantine_errors …
    wait              i    2i   4i   8i   …    half a day     a day

Here `i` is the feed's interval. The first error does not lengthen the wait, because most errors do
not occur again at the next poll. A successful poll ends the back-off (`transition.py`). If
Retry-After asks for a longer wait, the feed is polled after this longer wait.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from math import exp2, inf
from statistics import median

from urltree.crawl.decisions.caching import RETRY_AFTER_MAX
from urltree.crawl.decisions.poll.feed_state import FeedState
from urltree.crawl.decisions.poll.outcome import PollOutcome
from urltree.crawl.decisions.poll.source_options import SourceOptions
from urltree.crawl.decisions.timing import DAY, HOUR, stable_fraction

GAPS = 20  # maximum number of gaps in a feed's state
JITTER = 0.1  # largest change of a wait, as a share of the wait
EARLIEST = 631_152_000.0  # 1990; an older date must be wrong, because there was no web

BACKOFF_MAX = DAY / 2  # longest wait in seconds for a failing feed that is not yet quarantined
PROBE = DAY  # seconds between two polls of a quarantined feed

_DOUBLINGS = 30  # maximum number of doublings: enough to exceed every limit, but no overflow

SILENT = 7 * DAY  # seconds without new items after which `turnover_seconds` returns infinity

_ANY = 100.0  # days; limits the growth of a window, so that no float overflows
_THURSDAY = 3  # weekday of 1 January 1970; Monday is 0


@dataclass(frozen=True, slots=True)
class PollRules:
    """The user's settings for polls (`agents.settings.feeds`).

    Attributes:
        interval_min, interval_max: limits of the seconds between two polls of a working feed.
        quarantine_errors: number of errors in a row after which a feed is polled only once a day.
    """

    interval_min: float = 900.0
    interval_max: float = 21_600.0
    quarantine_errors: int = 20

    def clamp(self, seconds: float) -> float:
        """Return the nearest interval within the limits."""
        return max(self.interval_min, min(seconds, self.interval_max))

    def with_options(self, options: SourceOptions) -> PollRules:
        """Return the rules for one source, whose own bounds take precedence over the job's.

        If a bound of the source contradicts a bound of the job, the job's one gives way. If the
        bounds of the source contradict each other, the longer interval applies.
        """
        lower, upper = options.interval_min, options.interval_max
        if lower is None and upper is None:
            return self
        if lower is None:
            lower = min(self.interval_min, upper or self.interval_min)
        upper = self.interval_max if upper is None else upper
        return replace(self, interval_min=lower, interval_max=max(lower, upper))


def poll_interval(state: FeedState, rules: PollRules) -> float:
    """Return the seconds until the next poll of a working feed.

    The formula is at the top of this file. A feed that never had an item is polled every
    `interval_max` seconds.
    """
    if state.newest is None or state.last_poll is None:
        return rules.interval_max
    silence = state.last_poll - state.newest
    usual = median(state.gaps) if state.gaps else 0.0
    wanted = max(usual / 2, silence / 10, state.floor)
    return rules.clamp(min(wanted, turnover_seconds(state, state.last_poll) / 2))


def turnover_seconds(state: FeedState, now: float) -> float:
    """Return the seconds in which new items may replace all items of a feed.

    The result is infinity for a feed that has been silent for a week. Without this rule, a blog
    whose posts were imported within one minute years ago would always be polled at the highest
    rate.
    """
    if state.window is None or state.newest is None or now - state.newest > SILENT:
        return inf
    return state.window


def publisher_floor(outcome: PollOutcome, rules: PollRules) -> float:
    """Return the minimum interval in seconds that the publisher asks for, at most `interval_max`.

    If the response has `no-cache`, its max-age is ignored.
    """
    asked = [outcome.ttl or 0.0, 0.0 if outcome.no_cache else outcome.max_age or 0.0]
    return min(max(0.0, *asked), rules.interval_max)


def publication_times(state: FeedState, outcome: PollOutcome) -> list[float]:
    """Return the times at which the items of a poll were published, sorted and without duplicates.

    The first poll counts all items. Each later poll counts only new items, which must have been
    published since the last successful poll. An item gets the time of the poll if its date is
    missing, is before the last successful poll, is in the future, or has no time of day. Items that
    another feed of the site had before are not new, so a feed that only repeats other feeds is
    polled less often.
    """
    since = state.last_success
    times = set()
    for item, date in zip(outcome.items, _dates(outcome), strict=True):
        if since is None:
            times.add(outcome.at if date is None else date)
        elif item.is_new:
            times.add(outcome.at if date is None or date <= since else date)
    return sorted(times)


def update_gaps(state: FeedState, times: Iterable[float]) -> tuple[float, ...]:
    """Return the gaps between new publications, then the feed's known gaps, at most `GAPS`.

    Args:
        state: state before the poll.
        times: publication times in ascending order.
    """
    later = [time for time in times if state.newest is None or time > state.newest]
    known = later if state.newest is None else [state.newest, *later]
    found = [after - before for before, after in pairwise(known)]
    return (*reversed(found), *state.gaps)[:GAPS]


def update_window(state: FeedState, outcome: PollOutcome) -> float | None:
    """Return the seconds between the oldest and the newest item in the feed.

    If this poll does not show the value, return the value in the state. The window may shrink at
    once, but it at most doubles in a day, because the items after a quiet night span more time than
    the items of the next morning.
    """
    span = _span(state, outcome)
    if span is None or state.window is None or state.last_success is None:
        return span or state.window
    days = max(0.0, outcome.at - state.last_success) / DAY
    return min(span, state.window * exp2(min(days, _ANY)))


def _span(state: FeedState, outcome: PollOutcome) -> float | None:
    """Return the seconds between the oldest and the newest item of one poll; None if unknown or 0.

    Only the newest three quarters of the dates are used, because some feeds keep a few old items.
    If most items have no date, the span is estimated from the share of new items.
    """
    count, new = len(outcome.items), sum(item.is_new for item in outcome.items)
    dates = sorted((date for date in _dates(outcome) if date is not None), reverse=True)
    if len(dates) > max(1, count // 2):
        measured = max(1, 3 * (len(dates) - 1) // 4)
        return (dates[0] - dates[measured]) * (count - 1) / measured or None
    if new and state.newest is not None:
        return max(0.0, outcome.at - state.newest) * count / new or None
    return None


def _dates(outcome: PollOutcome) -> list[float | None]:
    """Return the date of each item, None if it is in the future or before `EARLIEST`.

    If all dates have the same time of day, this time is probably not real, and all dates become
    None. If a feed really publishes at the same time each day, its gaps are learned from the times
    of a few polls.
    """
    dates = [
        item.time if item.time is not None and EARLIEST < item.time <= outcome.at else None
        for item in outcome.items
    ]
    known = [date for date in dates if date is not None]
    are_days = len(known) > 1 and len({date % DAY for date in known}) == 1
    return [None] * len(dates) if are_days else dates


def feed_fraction(state: FeedState, sequence: int = 0) -> float:
    """Return a number from 0 to 1 that depends only on the feed and on the number of the poll."""
    return stable_fraction(f"{state.site} {state.feed} {sequence}")


def add_jitter(seconds: float, state: FeedState, at_least: float = 0.0) -> float:
    """Lengthen or shorten a wait by up to `JITTER`, depending on the feed and the number of polls.

    If the result would be shorter than `at_least`, it becomes longer than `at_least` by the same
    difference.
    """
    moved = seconds * (1 + JITTER * (2 * feed_fraction(state, state.sequence) - 1))
    return max(moved, 2 * at_least - moved)


def skip_forbidden_hours(due: float, state: FeedState) -> float:
    """Return the first allowed time, which is `due` or a number of whole hours after `due`.

    The feed's skipHours and skipDays forbid hours and days in UTC. If they forbid the whole week,
    they are ignored.
    """
    for hours in range(7 * 24):
        time = due + hours * HOUR
        hour = int(time % DAY // HOUR)
        day = int(time // DAY + _THURSDAY) % 7
        if hour not in state.skip_hours and day not in state.skip_days:
            return time
    return due


def backoff_seconds(state: FeedState, retry_after: float | None, rules: PollRules) -> float:
    """Return the seconds until the next poll of a feed whose last poll failed.

    Args:
        state: state of the feed. `errors` includes this failure; `interval` is 0 before the first
            successful poll.
        retry_after: seconds that the response asks to wait; None if it does not.
        rules: the user's settings.
    """
    usual = rules.clamp(state.interval)
    if state.errors >= rules.quarantine_errors:
        wait = max(usual, PROBE)
    else:
        doubled = usual * 2.0 ** min(state.errors - 1, _DOUBLINGS)
        wait = max(usual, min(doubled, BACKOFF_MAX))
    later = 1 + JITTER * feed_fraction(state, state.sequence)  # jitter only lengthens Retry-After
    asked = min(retry_after or 0.0, RETRY_AFTER_MAX)
    return max(add_jitter(wait, state, at_least=rules.interval_min), asked * later)


def longest_wait(state: FeedState, rules: PollRules) -> float:
    """Return the longest wait in seconds after a poll that the rules can have given a feed."""
    rules = rules.with_options(state.options)
    if state.errors:
        usual = max(rules.interval_max, PROBE, RETRY_AFTER_MAX) * (1 + JITTER)
    else:
        usual = rules.interval_max
    return usual + (7 * DAY if state.skip_hours or state.skip_days else 0.0)
