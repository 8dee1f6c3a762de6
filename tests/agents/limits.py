"""Limits that end only a worker or a request that hangs.

A shared machine may stop for seconds, and may be ten times slower for minutes. With the limits of
production, a worker would lose its session then, or the answer of a site would come too late.
"""

from __future__ import annotations

from collections.abc import Mapping

GUARD = 180.0  # seconds

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
    """Return the same limits as environment variables of a child process."""
    return {f"URLTREE_{name.upper()}": str(seconds) for name, seconds in limits.items()}
