"""Units of time in seconds, and reproducible fractions that spread requests over time."""

from __future__ import annotations

import xxhash

MINUTE = 60.0
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def stable_fraction(name: str) -> float:
    """Return a pseudo-random number from 0 to 1 that depends only on the name.

    Decisions use this number instead of random jitter, so that the same decision always has the
    same result.
    """
    return xxhash.xxh3_64_intdigest(name.encode(errors="replace")) / 2**64
