"""The process of a worker, from the check of the topics to the last commit of its stage.

    check topics ──▶ join group ──▶ recover tables ──▶ process records ──▶ SIGTERM: drain, commit

Exit codes: 0 after an orderly stop, 2 if settings or topics are wrong, 70 if the worker cannot
continue. After code 70 the unfinished records are replayed.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable

from aiokafka.errors import KafkaConnectionError, KafkaError

from agents.settings.job import Settings
from agents.stage import MakeStage, Stage
from agents.telemetry.health import Health
from agents.telemetry.logs import log

FAILED = 70  # EX_SOFTWARE in sysexits.h
REFUSED = 2

CheckTopics = Callable[[Settings], Awaitable[list[str]]]

_RETRY_SECONDS = 5.0  # time between two attempts to reach Kafka
_WATCH_SECONDS = 1.0  # time between two checks for a crash or a stall


def end_process(error: BaseException) -> None:
    """End the process at once; unfinished records are not committed, so they will be replayed."""
    log.critical(
        "worker cannot continue and exits; unfinished records will be replayed",
        error=repr(error),
    )
    os._exit(FAILED)


async def run(make: MakeStage, settings: Settings, check: CheckTopics) -> int:
    """Run a worker until SIGTERM or SIGINT, and return its exit code."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signum in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signum, stop.set)
    stage = make(settings, end_process)
    health = Health(stage, settings.web_host, settings.web_port)
    await health.start()
    try:
        problems = await _check(check, settings, stop)
        for problem in problems:
            log.error("worker refuses to start: topics differ from topics.yaml", problem=problem)
        if problems:
            return REFUSED
        return 0 if stop.is_set() else await _work(stage, stop)
    finally:
        await health.stop()


async def _check(check: CheckTopics, settings: Settings, stop: asyncio.Event) -> list[str]:
    """Return the problems with the topics; retry while Kafka is unreachable."""
    while not stop.is_set():
        try:
            return await check(settings)
        except (KafkaConnectionError, OSError) as error:
            log.warning("Kafka is unreachable, retrying", brokers=settings.brokers, error=error)
        await _wait(stop, _RETRY_SECONDS)
    return []


async def _work(stage: Stage, stop: asyncio.Event) -> int:
    app = stage.app
    log.info("worker starting", stage=stage.name, group=app.conf.id)
    if not stage.settings.header_keys.keys:
        log.warning(
            "urltree- headers of every producer count, because no key is set; set header_key_file"
        )
    starting = asyncio.create_task(app.start())
    starting.add_done_callback(_end_if_failed)
    while not stop.is_set():
        await _wait(stop, _WATCH_SECONDS)
        if app.crashed:
            end_process(app.crash_reason or KafkaError("the consumer crashed"))
        if not app.started or app.rebalancing:
            continue
        stalled = stage.delivery.stalled_for()
        if stalled > stage.settings.stall_seconds:
            end_process(
                TimeoutError(
                    f"records are in flight, but none was finished for {stalled:.0f} s "
                    f"(stall_seconds: {stage.settings.stall_seconds:g})"
                )
            )
    log.info("worker stopping", stage=stage.name)
    try:
        async with asyncio.timeout(stage.settings.shutdown_seconds):
            await app.stop()
    except TimeoutError:
        log.warning(
            "shutdown_seconds are over; unfinished records will be replayed",
            records=stage.delivery.records,
        )
        os._exit(0)  # end the process at once, because threads of Faust may still wait for Kafka
    log.info("worker stopped", stage=stage.name)
    return 0


def _end_if_failed(starting: asyncio.Task[None]) -> None:
    if not starting.cancelled() and starting.exception() is not None:
        end_process(starting.exception() or KafkaError())


async def _wait(stop: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        pass
