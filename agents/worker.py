"""The process of a worker, from the check of the topics to the last commit of its stage.

    check topics ──▶ join group ──▶ recover tables ──▶ process records ──▶ SIGTERM: drain, commit

Exit codes, in which unfinished records are replayed by the next worker:

    0   an orderly stop
    2   settings or topics are wrong; a restart does not help
    70  the worker cannot continue; a restart helps
    74  the disk is full, read-only or forbidden; nothing was wiped
    75  another worker has joined with the same instance_id; a restart waits for that worker
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from time import monotonic

from aiokafka.errors import KafkaError, KafkaTimeoutError

from agents.kafka.refusal import explain
from agents.kafka.session.contact import Contact
from agents.kafka.session.instance import ReplacedError
from agents.kafka.tables.damage import DiskError
from agents.settings.job import Settings
from agents.stage import MakeStage, Stage
from agents.telemetry.health import Health
from agents.telemetry.logs import log

REFUSED = 2
FAILED = 70  # EX_SOFTWARE in sysexits.h
DISK_REFUSED = 74  # EX_IOERR
REPLACED = 75  # EX_TEMPFAIL

_CODES = {DiskError: DISK_REFUSED, ReplacedError: REPLACED}

CheckTopics = Callable[[Settings], Awaitable[list[str]]]

_RETRY_SECONDS = 5.0  # time between two attempts to reach Kafka
_WATCH_SECONDS = 1.0  # time between two checks for a crash or a stall
_STOP_WATCH_SECONDS = 0.1  # time between two checks whether a stop goes on
# A stopping worker leaves if Kafka has not answered for this time. A worker asks every second.
_LEAVE_SECONDS = 5.0


def end_process(error: BaseException) -> None:
    """End the process at once; unfinished records are not committed, so they will be replayed."""
    code = next((code for kind, code in _CODES.items() if isinstance(error, kind)), FAILED)
    log.critical(
        "worker cannot continue and exits; unfinished records will be replayed",
        error=explain(error) if code == FAILED else str(error),
        code=code,
    )
    os._exit(code)


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
        problems = await _check(check, settings, stage.app.contact, stop)
        for problem in problems:
            log.error("worker refuses to start: topics differ from topics.yaml", problem=problem)
        if problems:
            return REFUSED
        return 0 if stop.is_set() else await _work(stage, stop)
    finally:
        await health.stop()


async def _check(
    check: CheckTopics, settings: Settings, contact: Contact, stop: asyncio.Event
) -> list[str]:
    """Return the problems with the topics; retry while Kafka is unreachable or not ready.

    A broker that starts refuses requests with several errors, which are all marked as retriable.
    """
    while not stop.is_set():
        try:
            problems = await check(settings)
        except KafkaError as error:
            if not (error.retriable or isinstance(error, KafkaTimeoutError)):
                raise
            contact.lost(error)
        except OSError as error:
            contact.lost(error)
        else:
            contact.answered()
            return problems
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
        # While other members join a rebalance, Kafka answers none of them.
        app.contact.check(app.conf.broker_rebalance_timeout if app.rebalancing else 0.0)
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
    stopping = asyncio.create_task(app.stop())
    until = monotonic() + stage.settings.shutdown_seconds
    while not (await asyncio.wait([stopping], timeout=_STOP_WATCH_SECONDS))[0]:
        if monotonic() > until:
            _leave("shutdown_seconds are over", stage)
        if app.contact.silent_for() > _LEAVE_SECONDS and not app.contact.is_ended:
            _leave("Kafka does not answer", stage)
    stopping.result()
    log.info("worker stopped", stage=stage.name)
    return 0


def _leave(reason: str, stage: Stage) -> None:
    """End the process at once, because threads of Faust may still wait for Kafka."""
    log.warning(f"{reason}; unfinished records will be replayed", records=stage.delivery.records)
    os._exit(0)


def _end_if_failed(starting: asyncio.Task[None]) -> None:
    if not starting.cancelled() and starting.exception() is not None:
        end_process(starting.exception() or KafkaError())


async def _wait(stop: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        pass
