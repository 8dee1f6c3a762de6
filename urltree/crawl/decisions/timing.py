"""Units of time in seconds, bounds of stored times, and fractions that spread requests."""

from __future__ import annotations

import xxhash

MINUTE = 60.0
HOUR = 60 * MINUTE
DAY = 24 * HOUR

CLOCK_TOLERANCE = 5 * MINUTE  # largest difference in seconds between two clocks that are set


def stable_fraction(name: str) -> float:
    """Return a pseudo-random number from 0 to 1 that depends only on the name.

    Decisions use this number instead of random jitter, so that the same decision always has the
    same result.
    """
    return xxhash.xxh3_64_intdigest(name.encode(errors="replace")) / 2**64


def bounded(time: float | None, now: float, longest: float = 0.0) -> float | None:
    """Return a stored time, or None if no correct clock can have written it.

    A clock that was ahead for a few seconds writes times that no rule allows. Without this check
    they would be obeyed for as long as the clock was ahead.

    Args:
        time: stored time in seconds since 1970; None if there is none.
        now: current time, seconds since 1970.
        longest: longest wait in seconds that the rule of this time allows; 0 for a past event.
    """
    return None if time is None or time > now + longest + CLOCK_TOLERANCE else time


def has_clock_moved(before: tuple[float, float], after: tuple[float, float]) -> bool:
    """Return whether the clock was set between two readings of both clocks.

    A worker then reads all stored times again, because those in its memory may be impossible.

    Args:
        before: seconds since 1970, and seconds of a clock that nobody sets, at the first reading.
        after: the same at the second reading.
    """
    moved = (after[0] - before[0]) - (after[1] - before[1])
    return abs(moved) > CLOCK_TOLERANCE


def may_sweep(now: float, broker_time: float | None) -> bool:
    """Return whether expired rows may be deleted: the worker's clock is not far ahead of Kafka's.

    Args:
        now: current time of the worker, seconds since 1970.
        broker_time: newest time with which the broker has stamped a record, seconds since 1970.
            A record that waited for long only delays the deletion. None if no record was read.
    """
    return broker_time is not None and now <= broker_time + DAY
