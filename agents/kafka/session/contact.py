"""When Kafka answered a worker last, and what the log says about an outage.

The libraries log every failed attempt: a worker whose broker had been killed wrote 73 lines per
second. Here one line says since when Kafka has not answered, and one how long that lasted. The
lines of the libraries are thinned out by `agents.telemetry.logs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from time import monotonic

from agents.telemetry.logs import log


class Contact:
    """The time of Kafka's last answer.

    Args:
        brokers: The brokers, for the log.
        limit: Seconds without an answer after which the log says so. It is the session timeout:
            after this time the worker processes no record.

    Attributes:
        is_lost: Whether the log says that Kafka has not answered.
        is_ended: Whether the worker has left its group, so that no answer is expected.
    """

    def __init__(self, brokers: Sequence[str], limit: float) -> None:
        self._brokers, self.limit = ",".join(brokers), limit
        self._answered_at = monotonic()
        self.is_lost = self.is_ended = False

    def answered(self) -> None:
        """Note an answer of Kafka, and log the end of an outage."""
        seconds = self.silent_for()
        self._answered_at = monotonic()
        if self.is_lost:
            self.is_lost = False
            log.warning("Kafka answers again", brokers=self._brokers, seconds=round(seconds))

    def silent_for(self) -> float:
        """Return the seconds since Kafka's last answer."""
        return monotonic() - self._answered_at

    def check(self, patience: float = 0.0) -> None:
        """Log once if Kafka has not answered for the session timeout plus `patience` seconds."""
        if self.silent_for() > self.limit + patience:
            self.lost()

    def lost(self, error: Exception | None = None) -> None:
        """Log once that Kafka has not answered."""
        if not self.is_lost:
            self.is_lost = True
            why = {} if error is None else {"error": str(error)}
            log.warning(
                f"Kafka has not answered since {self.since()}", brokers=self._brokers, **why
            )

    def since(self) -> str:
        """Return the time of Kafka's last answer, in UTC."""
        at = datetime.now(UTC) - timedelta(seconds=self.silent_for())
        return at.isoformat(timespec="seconds")
