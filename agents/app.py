"""A stage's Faust app: the options that make Faust safe, each for a reason measured in issue 3."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import faust
from faust.auth import OAuthCredentials
from faust.types.auth import SASLMechanism
from mode import ServiceT

from agents.kafka.client import ssl_context, tokens
from agents.kafka.tables.table import ConfirmedTable
from agents.kafka.transport import SCHEME
from agents.settings.feeds import MIB
from agents.settings.job import Settings

# Seconds, also where sessions are long: by it members hear of a rebalance, in which all wait for
# the last of them. Kafka's default is 3.
_HEARTBEAT = 1.0


class App(faust.App):
    """A Faust app that knows the job's settings.

    Attributes:
        settings: of the job.
        before_stop: called when the app stops, while records in work can still be finished.
        before_wait: called before records in work are waited for, when the app stops and when
            partitions are revoked: nothing more comes in, and what is not begun need not begin.
    """

    settings: Settings
    before_stop: Callable[[], Awaitable[None]] | None = None
    before_wait: Callable[[], Awaitable[None]] | None = None

    async def on_stop(self) -> None:
        """Begin nothing new, then finish what is in work."""
        if self.before_stop is not None:
            await self.before_stop()
        await super().on_stop()

    async def _consumer_wait_empty(self, consumer: Any, logger: Any) -> None:
        if self.before_wait is not None:
            await self.before_wait()
        await super()._consumer_wait_empty(consumer, logger)

    def on_init_dependencies(self) -> Iterable[ServiceT]:
        """Leave out Faust's monitor: it updates six counters a record, our metrics only one."""
        dependencies: Iterable[ServiceT] = super().on_init_dependencies()
        self.sensors.remove(self.monitor)
        return dependencies


def make_app(settings: Settings, stage: str) -> App:
    """The app of a stage, whose id is its consumer group and begins its changelogs' names."""
    app = App(
        f"{settings.prefix}urltree-{stage}",
        broker=";".join(f"{SCHEME}://{broker}" for broker in settings.brokers),
        broker_credentials=_credentials(settings),
        datadir=settings.data_dir.absolute(),
        autodiscover=False,
        TableManager="agents.kafka.tables.recovery:TableManager",
        **_consumer(settings),
        **_producer(settings),
        # topics are declared in topics.yaml, and checked before
        topic_allow_declare=False,
        topic_disable_leader=True,
        # probes and metrics have a server of their own, up before recovery
        web_enabled=False,
        # `exactly_once` lost 29 documents on a crash; replays change nothing here
        processing_guarantee="at_least_once",
        stream_wait_empty=True,
        stream_ack_exceptions=False,
        stream_ack_cancelled_tasks=False,
        # agents.kafka.tables.recovery mends what this would crash on
        recovery_consistency_check=False,
        stream_recovery_delay=0.0,
    )
    app.settings = settings
    return app


def make_table(app: App, name: str) -> ConfirmedTable:
    """A table of bytes by bytes; its changelog is `{app id}-{name}-changelog`."""
    table = ConfirmedTable(app, name=name, key_type=bytes, value_type=bytes)
    app.tables.add(table)
    return table


def source(app: App, *names: str) -> Any:
    """Topics read as bytes: Faust acks a record that it cannot decode before it says so."""
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
        "consumer_max_fetch_size": MIB,  # a partition; a larger record comes alone
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
        # a record a request costs both workers 0.9 ms of CPU a page more (measured, 5 ms: 7.9)
        "producer_linger": 0.05,
        "producer_max_batch_size": MIB // 4,
        # above the largest record of ours, for a dead letter adds headers to what it keeps
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
