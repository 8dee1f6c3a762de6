"""Time limits of the tests, so long that they end only a worker or a request that hangs.

A shared machine may stop for seconds, and may be ten times slower for minutes. With the limits of
production, a worker would then lose its session, or a site's response would be too late.
"""

from __future__ import annotations

from collections.abc import Mapping

GUARD = 180.0  # seconds after which a request or a wait counts as hanging

OF_ANSWERS: dict[str, float] = dict.fromkeys(
    ("connect_seconds", "header_seconds", "read_seconds", "total_seconds"), GUARD
)
OF_STAGES: dict[str, float] = {
    "session_seconds": 60.0,
    "delivery_seconds": GUARD,
    "shutdown_seconds": GUARD,
    "stall_seconds": 4 * GUARD,
}
OF_WORKERS: dict[str, float] = {**OF_ANSWERS, **OF_STAGES, "parse_seconds": GUARD}


def environment(limits: Mapping[str, float] = OF_WORKERS) -> dict[str, str]:
    """Return time limits as environment variables for a child process."""
    return {f"URLTREE_{name.upper()}": str(seconds) for name, seconds in limits.items()}
