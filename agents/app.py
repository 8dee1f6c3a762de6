"""The Faust app of a stage, with options under which Faust loses no record.

Comments give the reasons for options that are not obvious. Several of the values were measured.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import faust
from faust.auth import OAuthCredentials
from faust.types.auth import SASLMechanism
from mode import ServiceT

from agents.kafka.batches.fetching import read_in_bounded_memory
from agents.kafka.client import ssl_context, tokens
from agents.kafka.session.contact import Contact
from agents.kafka.session.instance import Instance
from agents.kafka.tables.table import ConfirmedTable
from agents.kafka.transport import SCHEME
from agents.settings.feeds import MIB
from agents.settings.job import Settings
from agents.telemetry.metrics import Metrics

# Heartbeat interval in seconds (Kafka's default is 3). Members notice a rebalance at their next
# heartbeat, and all of them wait for the slowest member. So the interval is short even if the
# session timeout is long.
_HEARTBEAT = 1.0


class App(faust.App):
    """Faust app that carries the job's settings and hooks for an orderly stop.

    Attributes:
        settings: Settings of the job.
        metrics: Metrics of the worker.
        contact: The time of Kafka's last answer.
        instance: The instance id of the worker, None without one.
        fail: Called when the worker cannot continue, by code that has no caller to raise to.
        before_stop: Called when the app begins to stop, while records in flight can still finish.
        before_wait: Called before the app waits for records in flight: at a stop, and when
            partitions are revoked. No new record arrives after this call, so the stage may drop
            records on which no work has begun.
    """

    settings: Settings
    metrics: Metrics
    contact: Contact
    instance: Instance | None = None
    fail: Callable[[BaseException], None]
    before_stop: Callable[[], Awaitable[None]] | None = None
    before_wait: Callable[[], Awaitable[None]] | None = None

    async def on_stop(self) -> None:
        """Call `before_stop`, then finish the records in flight."""
        if self.before_stop is not None:
            await self.before_stop()
        await super().on_stop()

    async def _consumer_wait_empty(self, consumer: Any, logger: Any) -> None:
        if self.before_wait is not None:
            await self.before_wait()
        await super()._consumer_wait_empty(consumer, logger)

    def on_init_dependencies(self) -> Iterable[ServiceT]:
        """Remove Faust's monitor: it updates six counters per record, but our metrics only one."""
        dependencies: Iterable[ServiceT] = super().on_init_dependencies()
        self.sensors.remove(self.monitor)
        return dependencies


def make_app(settings: Settings, stage: str) -> App:
    """Return the Faust app of a stage.

    The id of the app is also the name of the stage's consumer group and the prefix of the stage's
    changelog topics.

    Raises:
        SettingsError: The library of a codec is missing, or a certificate cannot be loaded.
    """
    read_in_bounded_memory(settings)
    app = App(
        f"{settings.prefix}urltree-{stage}",
        broker=";".join(f"{SCHEME}://{broker}" for broker in settings.brokers),
        broker_credentials=_credentials(settings),
        datadir=settings.data_dir.absolute(),
        autodiscover=False,
        TableManager="agents.kafka.tables.recovery:TableManager",
        **_consumer(settings),
        **_producer(settings),
        # topics.yaml declares all topics, and a worker checks them before it starts
        topic_allow_declare=False,
        topic_disable_leader=True,
        # agents.telemetry.health serves probes and metrics, also during recovery
        web_enabled=False,
        # with `exactly_once`, a crash lost 29 of 20,000 documents; the job's replays are idempotent
        processing_guarantee="at_least_once",
        # A standby costs the memory and disk of another table partition, and 190 µs of CPU time per
        # row; a restore takes 40 µs (docs/decisions/0034-restore-in-bulk.md)
        table_standby_replicas=0,
        stream_wait_empty=True,
        stream_ack_exceptions=False,
        stream_ack_cancelled_tasks=False,
        # Faust's check would end a worker whose disk is ahead of a changelog; our recovery
        # (agents.kafka.tables.recovery) restores such a disk
        recovery_consistency_check=False,
        stream_recovery_delay=0.0,
    )
    app.settings, app.metrics = settings, Metrics()
    app.contact = Contact(settings.brokers, settings.session_seconds)
    if settings.instance_id is not None:
        app.instance = Instance(
            settings.instance_id, settings.data_dir.absolute() / f"{app.conf.id}.replaced"
        )
    return app


def make_table(app: App, name: str) -> ConfirmedTable:
    """Return a new table of byte keys and byte values.

    The table's changelog topic is named `{app id}-{name}-changelog`.
    """
    table = ConfirmedTable(app, name=name, key_type=bytes, value_type=bytes)
    app.tables.add(table)
    return table


def source(app: App, *names: str) -> Any:
    """Return one Faust topic that reads several Kafka topics as bytes.

    Faust would acknowledge a record that it cannot decode before it reports the error. So the
    stages decode the records themselves.
    """
    return app.topic(
        *map(app.settings.topic, names),
        key_type=bytes,
        value_type=bytes,
        key_serializer="raw",
        value_serializer="raw",
        allow_empty=True,
    )


def _consumer(settings: Settings) -> dict[str, Any]:
    return {
        "consumer_auto_offset_reset": "earliest",
        "consumer_group_instance_id": settings.instance_id,
        "consumer_max_fetch_size": MIB,  # bytes per partition; Kafka sends a larger record alone
        # aiokafka leaves the group if no record was read for this time, such as during a restore
        "broker_max_poll_interval": 86_400.0,
        "broker_max_poll_records": 200,
        "stream_buffer_maxsize": 200,
        "broker_commit_interval": settings.commit_seconds,
        "broker_session_timeout": settings.session_seconds,
        "broker_heartbeat_interval": min(_HEARTBEAT, settings.session_seconds / 5),
        "broker_request_timeout": max(40.0, settings.session_seconds + 5),
        "broker_rebalance_timeout": max(30.0, settings.delivery_seconds),
    }


def _producer(settings: Settings) -> dict[str, Any]:
    return {
        "producer_acks": -1,
        # with one record per request, `normalize` and `extract` together need 0.9 ms more CPU time
        # per page (measured)
        "producer_linger": 0.05,
        "producer_max_batch_size": MIB // 4,
        # larger than max_record_bytes, because a dead letter adds headers to the original record
        "producer_max_request_size": settings.max_record_bytes + MIB,
        "producer_request_timeout": settings.delivery_seconds,
    }


def _credentials(settings: Settings) -> Any:
    if settings.security == "PLAINTEXT":
        return None
    context = ssl_context(settings) if settings.security.endswith("SSL") else None
    if settings.security == "SSL":
        return faust.SSLCredentials(context)
    if settings.sasl_mechanism == "OAUTHBEARER":
        return OAuthCredentials(oauth_cb=tokens(settings), ssl_context=context)
    return faust.SASLCredentials(
        username=settings.sasl_username,
        password=settings.password,
        mechanism=SASLMechanism(settings.sasl_mechanism),
        ssl_context=context,
    )
