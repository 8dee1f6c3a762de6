"""How long a feed that failed is left alone.

    errors in a row   1    2    3    4    5    6 …            quarantine_errors …
    waits             i    2i   4i   8i   …    half a day     a day: a probe

`i` is the feed's interval: the first error costs nothing, for most are gone by the next poll.
One success ends the back-off (`poll/polling.py`). A longer Retry-After is obeyed.
"""

from __future__ import annotations

from urltree.crawl.decisions.durations import DAY
from urltree.crawl.decisions.poll.interval import JITTER, Rules, chance, jittered
from urltree.crawl.decisions.poll.state import FeedState

BACKOFF_MAX = DAY / 2  # seconds
PROBE = DAY

_DOUBLINGS = 30  # beyond any cap, and no float overflows


def backoff(state: FeedState, retry_after: float | None, rules: Rules) -> float:
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
    later = 1 + JITTER * chance(state, state.sequence)  # never before it was asked for
    return max(jittered(wait, state, at_least=rules.interval_min), (retry_after or 0.0) * later)
