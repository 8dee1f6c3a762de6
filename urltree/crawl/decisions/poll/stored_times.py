"""Bounds of the times in a feed's state, which a wrong clock may have written.

    time            latest possible value when it is read
    next_due        now + the longest wait that the rules can have given the feed
    all others      now, because they are times of past events

A time that is later than possible counts as missing. A feed without a possible `next_due` is polled
at a point of its interval that depends on the feed, as after an outage.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from urltree.crawl.decisions.poll.feed_state import FeedState
from urltree.crawl.decisions.poll.interval import PollRules, feed_fraction, longest_wait
from urltree.crawl.decisions.timing import bounded

_PAST = (
    "redirect_since",
    "newest",
    "last_poll",
    "last_success",
    "unconditional_at",
    "swept_at",
    "seen_before",
    "content_decided_at",
)


def bound_times(state: FeedState, now: float, rules: PollRules) -> FeedState:
    """Return the state without times that no correct clock can have written.

    Args:
        state: state as it was stored.
        now: current time, seconds since 1970.
        rules: the user's settings.
    """
    late: dict[str, Any] = {
        name: None
        for name in _PAST
        if (time := getattr(state, name)) is not None and bounded(time, now) is None
    }
    if bounded(state.next_due, now, longest_wait(state, rules)) is None:
        late["next_due"] = spread_time(state, now, rules)
    return replace(state, **late) if late else state


def spread_time(state: FeedState, now: float, rules: PollRules) -> float:
    """Return the feed's fixed point of an interval that comes next.

    The point depends only on the feed. If another worker takes the feed over before that time, the
    result is the same.
    """
    interval = state.interval or rules.with_options(state.options).interval_max
    phase = feed_fraction(state) * interval
    rounds = math.ceil((now - phase) / interval)
    return max(now, phase + rounds * interval)
