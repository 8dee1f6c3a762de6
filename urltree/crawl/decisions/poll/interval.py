"""How long to wait until a feed is asked again, and what is learned of its rhythm for that.

    published     │  │   │ │    │  │           │
    gaps           ╰─╯╰──╯╰╯╰───╯╰─╯╰─────────╯╰──── silence ────▶ now
    window        ╰────────── what the feed's list spans ─────────╯

    interval = max(half the median gap, a tenth of the silence, the publisher's floor)
               but at most half the window, unless the feed has been silent for a week,
               within interval_min to interval_max

Half the gap: an item waits a quarter of a gap on average. A tenth of the silence: a feed that has
said nothing for ten days may wait for one more (issue 4).

The floor (ttl, sy:, max-age) beats our own wish: the publisher knows. The window beats the floor:
an item that fell out of its list unseen is lost for good, and the floor is often nobody's will
(WordPress writes `sy:` hourly into each feed); asking more often costs a 304.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from math import exp2, inf
from statistics import median

from urltree.crawl.decisions.poll.feed_state import FeedState
from urltree.crawl.decisions.poll.outcome import PollOutcome
from urltree.crawl.decisions.timing import DAY, HOUR, stable_fraction

GAPS = 20  # that are kept of a feed
JITTER = 0.1
EARLIEST = 631_152_000.0  # 1990: an item that is older than the web has a clock never set

BACKOFF_MAX = DAY / 2  # seconds
PROBE = DAY

_DOUBLINGS = 30  # beyond any cap, and no float overflows

SILENT = 7 * DAY  # no list of who says nothing for so long is about to be replaced

_ANY = 100.0  # days after which a window may have any length, and no float overflows
_THURSDAY = 3  # 1 January 1970; Monday is 0


@dataclass(frozen=True, slots=True)
class PollRules:
    """What a user decides about polls (`agents.settings.feeds`).

    Attributes:
        interval_min, interval_max: seconds between two polls of a feed that works.
        quarantine_errors: in a row, after which a feed is only probed.
    """

    interval_min: float = 900.0
    interval_max: float = 21_600.0
    quarantine_errors: int = 20

    def clamp(self, seconds: float) -> float:
        """The nearest interval that is allowed."""
        return max(self.interval_min, min(seconds, self.interval_max))


def poll_interval(state: FeedState, rules: PollRules) -> float:
    """Seconds until the next poll of a feed that works; see the head of this file.

    A feed that never had an item gives no reason to hurry: interval_max.
    """
    if state.newest is None or state.last_poll is None:
        return rules.interval_max
    silence = state.last_poll - state.newest
    usual = median(state.gaps) if state.gaps else 0.0
    wanted = max(usual / 2, silence / 10, state.floor)
    return rules.clamp(min(wanted, turnover_seconds(state, state.last_poll) / 2))


def turnover_seconds(state: FeedState, now: float) -> float:
    """Seconds in which items can fall out of the feed's list; infinity where nothing is to fear.

    Who has been silent for a week is not about to replace a whole list: blogs that were imported
    in a minute, years ago, would be asked at the highest rate for ever.
    """
    if state.window is None or state.newest is None or now - state.newest > SILENT:
        return inf
    return state.window


def publisher_floor(outcome: PollOutcome, rules: PollRules) -> float:
    """Seconds that the publisher asks for, at most interval_max; `no-cache` beats any max-age."""
    asked = [outcome.ttl or 0.0, 0.0 if outcome.no_cache else outcome.max_age or 0.0]
    return min(max(0.0, *asked), rules.interval_max)


def publication_times(state: FeedState, outcome: PollOutcome) -> list[float]:
    """When the items came out that this poll has found, in order, each time once.

    Of the first poll all items count. Later only new ones do, and what is new came out since the
    last success, whatever its date says: no date, one in the future, one of years ago, a bare day
    all give way to the time at which it was first seen. What another feed of the site has brought
    before is not new: who only repeats others falls silent, and is asked less.
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
    """The feed's gaps with those before `times` (rising), newest first, at most `GAPS`."""
    later = [time for time in times if state.newest is None or time > state.newest]
    known = later if state.newest is None else [state.newest, *later]
    found = [after - before for before, after in pairwise(known)]
    return (*reversed(found), *state.gaps)[:GAPS]


def update_window(state: FeedState, outcome: PollOutcome) -> float | None:
    """Seconds that the feed's list spans at its busiest; what was known where it tells nothing.

    It shrinks at once and at most doubles in a day: a night's long list is not the morning's.
    """
    span = _span(state, outcome)
    if span is None or state.window is None or state.last_success is None:
        return span or state.window
    days = max(0.0, outcome.at - state.last_success) / DAY
    return min(span, state.window * exp2(min(days, _ANY)))


def _span(state: FeedState, outcome: PollOutcome) -> float | None:
    """Seconds that this one list spans; None where it does not show, or all came out at once.

    Dates say it: three quarters of the list are measured, for some feeds pin old items. A list
    without dates spans as much as its share of new items lets expect.
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
    """The items' dates; None for those that cannot be: in the future, before `EARLIEST`.

    Where all have the same time of day they are bare days, and say nothing of hours. (Who really
    publishes each day at noon sharp is got to know in a few polls all the same.)
    """
    dates = [
        item.time if item.time is not None and EARLIEST < item.time <= outcome.at else None
        for item in outcome.items
    ]
    known = [date for date in dates if date is not None]
    are_days = len(known) > 1 and len({date % DAY for date in known}) == 1
    return [None] * len(dates) if are_days else dates


def feed_fraction(state: FeedState, sequence: int = 0) -> float:
    """A number from 0 to 1 that is always the same for this feed and poll."""
    return stable_fraction(f"{state.site} {state.feed} {sequence}")


def add_jitter(seconds: float, state: FeedState, at_least: float = 0.0) -> float:
    """Some seconds more or less, by this feed and poll; thrown back where it would be too few."""
    moved = seconds * (1 + JITTER * (2 * feed_fraction(state, state.sequence) - 1))
    return max(moved, 2 * at_least - moved)


def skip_forbidden_hours(due: float, state: FeedState) -> float:
    """The first time from `due` on, in steps of an hour, that skipHours and skipDays allow.

    Hours and days are in UTC. Who forbids the whole week is not obeyed.
    """
    for hours in range(7 * 24):
        time = due + hours * HOUR
        hour = int(time % DAY // HOUR)
        day = int(time // DAY + _THURSDAY) % 7
        if hour not in state.skip_hours and day not in state.skip_days:
            return time
    return due


def backoff_seconds(state: FeedState, retry_after: float | None, rules: PollRules) -> float:
    """Seconds until a feed is tried again whose `errors` count the one just made.

    Args:
        state: `interval` is that of its last success, 0 before the first.
        retry_after: seconds, None where the server said nothing.
        rules: the user's.
    """
    usual = rules.clamp(state.interval)
    if state.errors >= rules.quarantine_errors:
        wait = max(usual, PROBE)
    else:
        doubled = usual * 2.0 ** min(state.errors - 1, _DOUBLINGS)
        wait = max(usual, min(doubled, BACKOFF_MAX))
    later = 1 + JITTER * feed_fraction(state, state.sequence)  # never before it was asked for
    return max(add_jitter(wait, state, at_least=rules.interval_min), (retry_after or 0.0) * later)
