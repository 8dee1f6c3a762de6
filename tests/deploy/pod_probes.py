"""The HTTP probes of a container. A probe succeeds after one good answer.

startup ──succeeded once──▶ liveness, readiness
   └─ failureThreshold failures in a row ─▶ restart ◀─┘ liveness
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

Ask = Callable[[str, float], tuple[int, str]]  # gets path and timeout, returns status and text

_NAMES = ("startup", "liveness", "readiness")


class Probe:
    """A probe of a container.

    Args:
        probe: the rendered probe.
        ask: sends an HTTP request to the container.

    Attributes:
        is_good: whether the probe has succeeded, and has not reached its failure threshold since.
        has_failed: whether the probe has reached its failure threshold.
    """

    def __init__(self, probe: Mapping[str, Any], ask: Ask) -> None:
        self._path, self._seconds = probe["httpGet"]["path"], probe["timeoutSeconds"]
        self._period, self._threshold = probe["periodSeconds"], probe["failureThreshold"]
        self._ask = ask
        self._due, self._failures = 0.0, 0
        self.is_good = self.has_failed = False

    def turn(self) -> None:
        """Run the probe if it is due."""
        if time.monotonic() < self._due:
            return
        self._due = time.monotonic() + self._period
        status, _ = self._ask(self._path, self._seconds)
        is_success = 200 <= status < 400
        self._failures = 0 if is_success else self._failures + 1
        self.has_failed = self._failures >= self._threshold
        self.is_good = is_success or (self.is_good and not self.has_failed)


class Probes:
    """The three probes of a container that has just started.

    Args:
        container: the rendered container.
        ask: sends an HTTP request to the container.
    """

    def __init__(self, container: Mapping[str, Any], ask: Ask) -> None:
        (port,) = container["ports"]
        rendered = {name: container[f"{name}Probe"] for name in _NAMES}
        assert {each["httpGet"]["port"] for each in rendered.values()} == {port["name"]}
        self._probes = {name: Probe(each, ask) for name, each in rendered.items()}

    @property
    def is_ready(self) -> bool:
        """Result of the readiness probe."""
        return self._probes["readiness"].is_good

    @property
    def is_dead(self) -> bool:
        """Whether the container must be restarted."""
        return self._probes["startup"].has_failed or self._probes["liveness"].has_failed

    def turn(self) -> None:
        """Run the probes that are due."""
        names = _NAMES[1:] if self._probes["startup"].is_good else _NAMES[:1]
        for name in names:
            self._probes[name].turn()
