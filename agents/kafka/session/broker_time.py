"""The time of the broker, from records that Kafka has just stamped.

    confirmation of a record ──▶ time that the broker gave it ──▶ how far is our clock ahead?

Only topics with `message.timestamp.type=LogAppendTime` count. The time of a record that is read
says nothing, because the record may be old.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

_LOG_APPEND_TIME = 1  # timestamp type in a confirmation (KIP-32)


class BrokerTime:
    """The newest time that a broker has given to one of this worker's records.

    Args:
        ticks: returns seconds that no change of the system's clock affects.
    """

    def __init__(self, ticks: Callable[[], float] = monotonic) -> None:
        self._ticks = ticks
        self._stamped: tuple[float, float] | None = None

    def confirm(self, confirmation: Any) -> None:
        """Take the time from the confirmation of a record, if the broker has set it.

        Args:
            confirmation: `aiokafka.structs.RecordMetadata`.
        """
        if confirmation.timestamp_type == _LOG_APPEND_TIME:
            self._stamped = confirmation.timestamp / 1_000, self._ticks()

    def now(self) -> float | None:
        """Return the time of the broker in seconds since 1970; None before the first record."""
        if self._stamped is None:
            return None
        stamp, at = self._stamped
        return stamp + self._ticks() - at
