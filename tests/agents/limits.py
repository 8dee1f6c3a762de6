"""Time limits for tests, which end only work that hangs.

A shared machine may pause for seconds, and run ten times slower for minutes. With production limits
a worker would then lose its session, or a site's response would arrive too late.
"""

from __future__ import annotations

GUARD = 180.0  # seconds

OF_ANSWERS: dict[str, float] = dict.fromkeys(
    ("connect_seconds", "header_seconds", "read_seconds", "total_seconds"), GUARD
)
OF_WORKERS: dict[str, float] = {
    **OF_ANSWERS,
    "parse_seconds": GUARD,
    "session_seconds": 60.0,
    "delivery_seconds": GUARD,
    "shutdown_seconds": GUARD,
    "stall_seconds": 4 * GUARD,
}


def environment(limits: dict[str, float] = OF_WORKERS) -> dict[str, str]:
    """Return the same limits as environment variables of a process."""
    return {f"URLTREE_{name.upper()}": str(seconds) for name, seconds in limits.items()}
