"""Waiting for what has no event."""

from __future__ import annotations

import time
from collections.abc import Callable

from tests.agents.limits import GUARD


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + GUARD
    while not holds():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.1)
