"""What becomes of a feed's state when somebody adds the feed: once, or once more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from urltree.feeds.state import FeedState, Status


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
