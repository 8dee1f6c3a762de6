"""Whether a feed is followed: when it is due, and what becomes of it when it is added again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from urltree.crawl.decisions.poll.state import FeedState, Status


def added_again(
    state: FeedState, now: float, title: str | None, meta: Mapping[str, str]
) -> FeedState:
    """The state of a feed that was there: it goes on, with what its user says of it now.

    One that was given up, gone or quarantined, is followed again and due at once: whoever adds it
    knows better.

    Args:
        state: so far.
        now: seconds since 1970.
        title: for people; None leaves the one that is there.
        meta: the user's own strings, instead of those before.
    """
    state = replace(state, title=title or state.title, meta=dict(meta))
    if state.status is Status.ACTIVE:
        return state
    return replace(state, status=Status.ACTIVE, errors=0, trouble=None, message=None, next_due=now)


def due_of(state: FeedState | None) -> float:
    """When a feed is to be polled; never, where nobody follows it or it is gone."""
    return math.inf if state is None or state.status is Status.GONE else state.next_due
