"""Logging: one line per event on stderr, as key=value text or as JSON."""

from __future__ import annotations

import logging
import sys
from typing import Any

import structlog

# Loggers of libraries. At levels below warning they write a line per rebalance, batch or request.
_NOISY = ("aiokafka", "asyncio", "faust", "mode", "aiohttp", "kafka")

_REPEAT_SECONDS = 60.0

log: Any = structlog.get_logger("urltree")


class Throttle(logging.Filter):
    """Filter that passes each line of a library once a minute, with the number of repetitions.

    While a broker is lost, aiokafka and Faust log every failed attempt: 73 lines per second. A line
    is known by its place in the source, because its text may contain numbers.
    """

    def __init__(self) -> None:
        super().__init__()
        self._passed: dict[tuple[str, int], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to log a line."""
        if record.name.startswith("urltree"):
            return True
        place = record.pathname, record.lineno
        at, held_back = self._passed.get(place, (-_REPEAT_SECONDS, 0))
        if record.created - at < _REPEAT_SECONDS:
            self._passed[place] = at, held_back + 1
            return False
        self._passed[place] = record.created, 0
        if held_back:
            record.msg = f"{record.getMessage()} ({held_back} more such lines were left out)"
            record.args = ()
        return True


def configure(level: str, form: str) -> None:
    """Set up logging for this process.

    The root logger keeps the level warning: at debug it takes 11 % of a worker's CPU time.

    Args:
        level: Least severe level of the job's own log lines.
        form: `text`, or `json` for a log collector.
    """
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    line: Any = (
        structlog.processors.JSONRenderer()
        if form == "json"
        else structlog.processors.KeyValueRenderer(
            key_order=["timestamp", "level", "event"], drop_missing=True
        )
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.add_logger_name],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                line,
            ],
        )
    )
    handler.addFilter(Throttle())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    for name in _NOISY:
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger("urltree").setLevel(level.upper())
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level.upper())),
    )
