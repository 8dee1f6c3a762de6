"""Run `python -m agents` with a clock that is off: `clock.py SECONDS worker STAGE`.

Only the process of the worker is affected. `time.time` is replaced before any other module is
imported; `time.monotonic` is right, as on a machine whose clock was set wrong before it started.
"""

from __future__ import annotations

import runpy
import sys
import time


def main() -> None:
    """Set the clock, then run `python -m agents` with the other arguments."""
    _, seconds, *rest = sys.argv
    right, right_ns = time.time, time.time_ns
    off = float(seconds)
    time.time = lambda: right() + off
    time.time_ns = lambda: right_ns() + int(off * 1e9)
    sys.argv = ["agents", *rest]
    runpy.run_module("agents", run_name="__main__")


if __name__ == "__main__":
    main()
