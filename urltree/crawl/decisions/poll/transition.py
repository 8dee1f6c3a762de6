"""State machine of a feed: the conditional headers of the next poll, and what its outcome changes.

    result     changes of the state
    ITEMS      learn the gaps between items, replace the validators; then as for UNCHANGED
    UNCHANGED  check permanent redirects, set the errors to 0, set the next poll after an interval
    FAILED     count an error, set a later poll, after many errors quarantine the feed
    GONE       count an error, poll the feed no more

Each step is a function from one state to the next. `_STEPS` lists the steps of each result.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from urltree.crawl.decisions.poll.feed_state import FeedState, FeedStatus, due_time
from urltree.crawl.decisions.poll.interval import (
    PROBE,
    PollRules,
    add_jitter,
    backoff_seconds,
    poll_interval,
    publication_times,
    publisher_floor,
    skip_forbidden_hours,
    turnover_seconds,
    update_gaps,
    update_window,
)
from urltree.crawl.decisions.poll.outcome import PollOutcome, PollResult
from urltree.crawl.decisions.poll.stored_times import bound_times, spread_time
from urltree.crawl.decisions.timing import DAY, bounded

KEPT_AFTER = 7 * DAY  # a permanent redirect becomes the feed's address after this time

_TRUSTED_MIN = 3_600.0  # seconds; a 304 within this time after a response 200 is always trusted


def conditional_headers(state: FeedState, now: float) -> dict[str, str]:
    """Return the headers of a conditional request; no headers if an unconditional request is due.

    Some servers always respond 304. So a request is unconditional once a day, or more often (up to
    once an hour) if new items may replace all items of the feed within a day. Thus a wrong 304
    rarely hides an item until it has left the feed.
    """
    trusted = min(DAY, max(_TRUSTED_MIN, turnover_seconds(state, now) - state.interval))
    if state.unconditional_at is None or now - state.unconditional_at >= trusted:
        return {}
    named = {"If-None-Match": state.etag, "If-Modified-Since": state.last_modified}
    return {name: value for name, value in named.items() if value is not None}


def is_expected_outcome(state: FeedState, outcome: PollOutcome) -> bool:
    """Return whether an outcome belongs to the next poll of this state; otherwise it is stale."""
    same = (state.site, state.feed) == (outcome.site, outcome.feed)
    return same and outcome.sequence == state.sequence + 1


def is_applied_outcome(state: FeedState, outcome: PollOutcome) -> bool:
    """Return whether an outcome is the one that has led to this state.

    It is read again after a crash. Its new items were sent, because they are sent before the state
    is stored. Another outcome of the same poll, from a worker that was frozen, may have more items.
    """
    same = (state.site, state.feed) == (outcome.site, outcome.feed)
    return same and (outcome.sequence, outcome.at) == (state.sequence, state.last_poll)


def apply_outcome(
    state: FeedState, outcome: PollOutcome, rules: PollRules, now: float | None = None
) -> FeedState:
    """Return the state of a feed after a poll. Its `next_due` is always later than the poll.

    Args:
        state: state before the poll.
        outcome: outcome of the poll.
        rules: the user's settings.
        now: current time, seconds since 1970. If the outcome is later, the clock of the worker that
            made the request is wrong, and `now` is the time of the poll. None trusts the outcome.
    """
    if now is not None and bounded(outcome.at, now) is None:
        outcome = replace(outcome, at=now)
    state = bound_times(state, outcome.at, rules)
    rules = rules.with_options(state.options)
    state = replace(state, sequence=outcome.sequence, last_poll=outcome.at)
    for step in _STEPS[outcome.result]:
        state = step(state, outcome, rules)
    return state


def due_after_takeover(state: FeedState, now: float, rules: PollRules) -> float:
    """Return the time of the next poll of a feed that a worker has just taken over.

    The time is infinity for a feed that is not polled for now; see `due_time`.

    After an outage all feeds are overdue. So a feed that is overdue by more than its interval is
    not polled at once, but at a fixed point of the interval, which is different for each feed. The
    same holds for a feed whose stored time is impossible.
    """
    state = bound_times(state, now, rules)
    due = due_time(state)
    if math.isinf(due) or state.interval <= 0 or now - due <= state.interval:
        return due
    return spread_time(state, now, rules)


def _learn_rhythm(state: FeedState, outcome: PollOutcome, rules: PollRules) -> FeedState:
    times = publication_times(state, outcome)
    return replace(
        state,
        gaps=update_gaps(state, times),
        newest=max([*times, *([] if state.newest is None else [state.newest])], default=None),
        window=update_window(state, outcome),
        floor=publisher_floor(outcome, rules),
        skip_hours=outcome.skip_hours,
        skip_days=outcome.skip_days,
        title=outcome.title or state.title,
        items=state.items + sum(item.is_new for item in outcome.items),
        unread=outcome.unread,
        unlinked=outcome.unlinked,
        is_cut=outcome.is_cut,
        was_read=True,
    )


def _replace_validators(state: FeedState, outcome: PollOutcome, rules: PollRules) -> FeedState:  # noqa: ARG001
    return replace(
        state,
        etag=outcome.etag,
        last_modified=outcome.last_modified,
        body_hash=outcome.body_hash,
        unconditional_at=outcome.at,
    )


def _keep_validators(state: FeedState, outcome: PollOutcome, rules: PollRules) -> FeedState:  # noqa: ARG001
    """Replace validators by those of the response; a 304, or a missing header, replaces none."""
    if outcome.status == 304:
        return state
    return replace(
        state,
        etag=outcome.etag or state.etag,
        last_modified=outcome.last_modified or state.last_modified,
        unconditional_at=outcome.at,
    )


def _update_redirect(state: FeedState, outcome: PollOutcome, rules: PollRules) -> FeedState:  # noqa: ARG001
    """Make the target of a permanent redirect the feed's URL, after the redirect lasted seven days.

    A redirect that only changes http to https is accepted at once. Every successful poll of the
    seven days must have seen the redirect: some sites that were down for a day redirected all
    requests to an error page, with status 301. A failed poll changes nothing.
    """
    to = outcome.moved_to
    if to is None or to == state.url:
        has_none = state.redirect is None
        return state if has_none else replace(state, redirect=None, redirect_since=None)
    since = state.redirect_since if to == state.redirect else None
    lasted = since is not None and outcome.at - since >= KEPT_AFTER
    if lasted or to == _secure(state.url):
        return replace(state, url=to, redirect=None, redirect_since=None)
    return replace(state, redirect=to, redirect_since=outcome.at if since is None else since)


def _record_success(state: FeedState, outcome: PollOutcome, rules: PollRules) -> FeedState:
    wait = poll_interval(state, rules)
    at_least = max(rules.interval_min, min(wait, state.floor))
    due = outcome.at + min(add_jitter(wait, state, at_least), rules.interval_max)
    # An index that has named a change since the request makes the sitemap due after the response.
    is_current = outcome.at >= state.next_due
    return replace(
        state,
        status=FeedStatus.ACTIVE,
        errors=0,
        trouble=None,
        message=None,
        last_success=outcome.at,
        read_modified=state.modified if is_current else state.read_modified,
        interval=wait,
        next_due=skip_forbidden_hours(due, state),
    )


def _record_failure(state: FeedState, outcome: PollOutcome, rules: PollRules) -> FeedState:
    state = replace(
        state, errors=state.errors + 1, trouble=outcome.trouble, message=outcome.message
    )
    is_hopeless = state.errors >= rules.quarantine_errors
    due = outcome.at + backoff_seconds(state, outcome.retry_after, rules)
    return replace(
        state,
        status=FeedStatus.QUARANTINED if is_hopeless else state.status,
        next_due=skip_forbidden_hours(due, state),
    )


def _record_gone(state: FeedState, outcome: PollOutcome, rules: PollRules) -> FeedState:
    state = _record_failure(state, outcome, rules)
    return replace(state, status=FeedStatus.GONE, next_due=outcome.at + PROBE)


def _secure(url: str) -> str:
    return "https:" + url.removeprefix("http:") if url.startswith("http:") else url


_Step = Callable[[FeedState, PollOutcome, PollRules], FeedState]
_STEPS: dict[PollResult, tuple[_Step, ...]] = {
    PollResult.ITEMS: (_learn_rhythm, _replace_validators, _update_redirect, _record_success),
    PollResult.UNCHANGED: (_keep_validators, _update_redirect, _record_success),
    PollResult.FAILED: (_record_failure,),
    PollResult.GONE: (_record_gone,),
}
