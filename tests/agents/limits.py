"""Time limits for tests that end only work that hangs.

A shared machine may stop for seconds, and be ten times slower for minutes. With the limits of
production a worker would lose its session then, or a site's response would come too late.
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
    """Return the limits as environment variables for a process."""
    return {f"URLTREE_{name.upper()}": str(seconds) for name, seconds in limits.items()}
