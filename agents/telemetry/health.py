"""HTTP server for probes and metrics, which also answers while tables are being recovered.

    /livez    200 while the event loop runs, 503 if it was blocked for a minute
    /readyz   200 while records are processed, otherwise 503 and the reason
    /metrics  metrics in Prometheus' text format

Faust's own server is not used, because it starts after recovery and always answers 200.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from aiohttp import web
from faust.types import TP
from prometheus_client import CONTENT_TYPE_LATEST

from agents.settings.job import SettingsError
from agents.telemetry.logs import log

if TYPE_CHECKING:
    from agents.kafka.transport import Consumer
    from agents.stage import Stage

_TURN_SECONDS = 1.0  # pause between two runs of the task that shows that the event loop runs
# /livez fails if the event loop was blocked for this time. A page of 10 MB blocks it for about 1 s.
_DEAD_SECONDS = 60.0


class Health:
    """HTTP server of a worker.

    Args:
        stage: The stage whose state is reported.
        host, port: Address to listen on; port 0 takes a free one.
    """

    def __init__(self, stage: Stage, host: str, port: int) -> None:
        self._stage = stage
        self._host, self._port = host, port
        self._turned_at = monotonic()
        self._turning: asyncio.Task[None] | None = None
        app = web.Application()
        app.router.add_get("/livez", self._livez)
        app.router.add_get("/readyz", self._readyz)
        app.router.add_get("/metrics", self._metrics)
        self._runner = web.AppRunner(app, access_log=None)
        gauge = stage.metrics.gauge
        gauge("in_flight", "Records that are being processed.", lambda: stage.delivery.records)
        size = "Size of the records that are being processed and of those sent for them, in bytes."
        gauge("in_flight_bytes", size, lambda: stage.delivery.bytes)
        lag = "Records of the assigned partitions that are not confirmed yet."
        gauge("lag", lag, self._lag)
        age = "Seconds for which confirmed records have waited for a commit."
        gauge("commit_age_seconds", age, self._age)
        silent = "Seconds since Kafka last answered; a worker asks every second."
        gauge("kafka_silent_seconds", silent, stage.app.contact.silent_for)
        tables = stage.app.tables
        left = "Changelog offsets that recovery still has to read."
        gauge("recovery_records", left, lambda: tables.remaining)
        size = "Size on disk of the tables of the assigned partitions, in bytes."
        gauge("state_bytes", size, lambda: sum(table.bytes_on_disk for table in tables.values()))
        rows = {name: partial(getattr, table, "rows") for name, table in tables.items()}
        stage.metrics.gauges("rows", "Estimated number of rows, by table.", "table", rows)
        open_for = "Seconds for which an open transaction has blocked a partition, or 0."
        stage.metrics.gauge_by_partition("open_transaction_seconds", open_for, self._open)
        ready = "1 while the worker processes records, 0 otherwise."
        gauge("ready", ready, lambda: not self.unready())

    async def start(self) -> None:
        """Start the server.

        Raises:
            SettingsError: The address cannot be used, for example because the port is in use.
        """
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, self._port)
        try:
            await site.start()
        except OSError as error:
            await self._runner.cleanup()
            raise SettingsError(
                f"probes and metrics cannot be served on {self._host}:{self._port}, check web_host "
                f"and web_port: {error.strerror}"
            ) from None
        self._turning = asyncio.create_task(self._turn())
        port = self._runner.addresses[0][1]
        log.info("serving probes and metrics", url=f"http://{self._host}:{port}")

    async def stop(self) -> None:
        """Stop the server."""
        if self._turning is not None:
            self._turning.cancel()
            with suppress(asyncio.CancelledError):
                await self._turning
        await self._runner.cleanup()

    def unready(self) -> str | None:
        """Return the reason why the worker processes no records, or None if it processes them."""
        return self._disturbance() or self._preparation()

    def _disturbance(self) -> str | None:
        """Return what keeps the worker from its group, or None."""
        app = self._stage.app
        if app.should_stop:
            return "stopping"
        if app.contact.is_lost:
            return f"Kafka has not answered since {app.contact.since()}"
        if app.instance is not None and app.instance.is_waiting:
            return f"waiting until another worker gives up the instance_id {app.instance.name}"
        return None

    def _preparation(self) -> str | None:
        """Return what a worker does before it processes records, or None afterwards."""
        app = self._stage.app
        if app.consumer_generation_id and app.consumer.waits_for:
            return str(app.consumer.waits_for)
        if not app.started:
            return "starting"
        if app.tables.remaining:
            return f"recovering tables: {app.tables.remaining:,} records left"
        if app.rebalancing or not app.tables.actives_ready:
            return "rebalancing"
        if not any(tp.topic in self._stage.sources for tp in app.consumer.assignment()):
            return "no partition is assigned"
        return None

    async def _livez(self, _: web.Request) -> web.Response:
        age = monotonic() - self._turned_at
        status = 200 if age < _DEAD_SECONDS else 503
        return web.Response(
            text=f"{age:.1f} s since the last turn of the event loop\n", status=status
        )

    async def _readyz(self, _: web.Request) -> web.Response:
        reason = self.unready()
        return web.Response(text=f"{reason or 'ready'}\n", status=503 if reason else 200)

    async def _metrics(self, _: web.Request) -> web.Response:
        body = self._stage.metrics.text()
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def _turn(self) -> None:
        while True:
            self._turned_at = monotonic()
            await asyncio.sleep(_TURN_SECONDS)

    def _lag(self) -> float:
        consumer = self._consumer()
        return consumer.lag(self._stage.sources) if consumer else 0.0

    def _age(self) -> float:
        consumer = self._consumer()
        return consumer.commit_age() if consumer else 0.0

    def _open(self) -> Mapping[TP, float]:
        consumer = self._consumer()
        return consumer.open_transactions() if consumer else {}

    def _consumer(self) -> Consumer | None:
        """Return the consumer, or None if the consumer has not joined its group yet."""
        app = self._stage.app
        return app.consumer if app.started and app.consumer_generation_id else None
