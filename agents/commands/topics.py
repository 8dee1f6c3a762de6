"""`python -m agents topics apply|check`: compare Kafka's topics with topics.yaml.

The number of partitions never changes: more partitions would send a domain's pages to a partition
without its tree (docs/operations.md, Repartition). So `apply` creates topics and changes their
config, but refuses to change partitions or replicas.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import click
import orjson
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import (
    InvalidConfigurationError,
    PolicyViolationError,
    TopicAlreadyExistsError,
    UnknownTopicOrPartitionError,
    for_code,
)

from agents.access.check import check_rights
from agents.kafka.client import admin
from agents.settings.job import Settings, SettingsError, load_settings
from agents.settings.topics_file import Topic, declared_topics
from agents.telemetry.logs import log

_PATIENCE = 30  # seconds to wait until the brokers report the changes
_TIMES = "message.timestamp.type"
_SET_ON_TOPIC = 1  # ConfigSource DYNAMIC_TOPIC_CONFIG of Kafka: the value was set on the topic


class Difference(NamedTuple):
    """One difference between Kafka and topics.yaml.

    Attributes:
        topic: Name of the topic.
        what: `topic`, `partitions`, `replicas`, or the name of a config value.
        declared: Value in topics.yaml.
        found: Value in Kafka, or None if the topic does not exist.
    """

    topic: str
    what: str
    declared: str
    found: str | None

    def __str__(self) -> str:
        if self.what == "topic":
            return f"{self.topic} does not exist"
        sentence = f"{self.topic}: {self.what} should be {self.declared}, but is {self.found}"
        return f"{sentence}; {_IF_TIMES}" if self.what == _TIMES else sentence

    @property
    def is_refused(self) -> bool:
        """Whether `apply` refuses to remove this difference, so that a person must do it."""
        return self.what in ("partitions", "replicas")


async def check_topics(settings: Settings) -> list[str]:
    """Return a sentence for each difference between Kafka and topics.yaml; a worker calls this.

    With `accept_producer_times`, producers' record times are logged as a warning instead.
    """
    async with admin(settings) as client:
        found = await find_differences(client, declared_topics(settings))
    if not settings.accept_producer_times:
        return [str(difference) for difference in found]
    if times := [difference.topic for difference in found if difference.what == _TIMES]:
        log.warning(
            "producers set the record times of these topics; Kafka deletes pages with old record "
            "times before they are read",
            topics=times,
        )
    return [str(difference) for difference in found if difference.what != _TIMES]


async def find_differences(
    client: AIOKafkaAdminClient, topics: Sequence[Topic]
) -> list[Difference]:
    """Compare Kafka's topics with the declared ones.

    More replicas than declared are allowed, because a reassignment adds replicas for a while.
    """
    # List all topics: with auto.create.topics.enable, a request by name would create topics.
    described = {found["topic"]: found for found in await client.describe_topics()}
    configs = await _configs(client, [topic.name for topic in topics if topic.name in described])
    found = []
    for topic in topics:
        if topic.name not in configs:
            found.append(Difference(topic.name, "topic", "there", None))
            continue
        layout = described[topic.name]["partitions"]
        replicas = min((len(partition["replicas"]) for partition in layout), default=0)
        if len(layout) != topic.partitions:
            found.append(_difference(topic, "partitions", topic.partitions, len(layout)))
        if replicas < topic.replicas:
            found.append(_difference(topic, "replicas", topic.replicas, replicas))
        actual = configs[topic.name]
        found += [
            _difference(topic, name, value, actual.get(name, ("nothing", 0))[0])
            for name, value in topic.config.items()
            if actual.get(name, (None, 0))[0] != value
        ]
    return found


async def apply(settings: Settings) -> tuple[list[Difference], list[Difference]]:
    """Create missing topics, and change configs that differ. A second call changes nothing.

    Two calls may run at the same time.

    Returns:
        The differences that were removed, and those that were refused.

    Raises:
        SettingsError: Kafka refuses a change.
    """
    topics = declared_topics(settings)
    if settings.accept_producer_times:
        topics = tuple(map(_without_times, topics))
    async with admin(settings) as client:
        found = await find_differences(client, topics)
        missing = {d.topic for d in found if d.what == "topic"}
        await _create(client, [topic for topic in topics if topic.name in missing])
        altered = {d.topic for d in found if not d.is_refused} - missing
        await _alter(client, [topic for topic in topics if topic.name in altered])
        await _wait(client, topics)
    return [d for d in found if not d.is_refused], [d for d in found if d.is_refused]


@click.group()
def topics() -> None:
    """Create and check the topics that topics.yaml declares."""


@topics.command("apply")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def apply_command(*, as_json: bool) -> None:
    """Create missing topics, and change configs that differ from topics.yaml.

    Exit code 1: a difference remains that a person must solve.
    """
    done, refused = asyncio.run(apply(load_settings()))
    if as_json:
        click.echo(orjson.dumps({"done": _rows(done), "refused": _rows(refused)}))
    else:
        for difference in done:
            click.echo(
                f"changed: {difference}" if difference.found else f"created: {difference.topic}"
            )
        for difference in refused:
            click.echo(f"refused: {difference}; {_ADVICE[difference.what]}", err=True)
        if not done and not refused:
            click.echo("All topics are as declared.")
    raise SystemExit(1 if refused else 0)


@topics.command("check")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check_command(*, as_json: bool) -> None:
    """Compare the topics in Kafka with topics.yaml.

    Exit code 1: the topics differ from topics.yaml.
    """
    settings = load_settings()
    # without Describe, a topic seems not to exist
    asyncio.run(check_rights(settings, "topics check"))
    found = asyncio.run(check_topics(settings))
    if as_json:
        click.echo(orjson.dumps({"differences": found}))
    else:
        click.echo("\n".join(found) or "All topics are as declared.")
    raise SystemExit(1 if found else 0)


_OF_CONFIGS = (InvalidConfigurationError, PolicyViolationError)
_IF_TIMES = (
    f"if this Kafka does not allow {_TIMES}=LogAppendTime, set accept_producer_times "
    "(docs/operations.md, Record times)"
)
_ADVICE = {
    "partitions": "the number of partitions cannot change, see docs/operations.md, Repartition",
    "replicas": "reassign the replicas with kafka-reassign-partitions",
}


def _without_times(topic: Topic) -> Topic:
    config = {name: value for name, value in topic.config.items() if name != _TIMES}
    return replace(topic, config=config)


def _difference(topic: Topic, what: str, declared: object, found: object) -> Difference:
    return Difference(topic.name, what, str(declared), str(found))


async def _configs(
    client: AIOKafkaAdminClient, names: list[str]
) -> dict[str, dict[str, tuple[str, int]]]:
    """Return for each topic the value of each config name, and where it was set.

    A topic that was created a moment ago may still be missing on some brokers; it is left out.
    """
    if not names:
        return {}
    asked = [ConfigResource(ConfigResourceType.TOPIC, name) for name in names]
    configs = {}
    for response in await client.describe_configs(asked):
        for code, message, _, name, entries in response.resources:
            if code == UnknownTopicOrPartitionError.errno:
                continue
            _raise(code, f"{name}: {message}")
            configs[name] = {entry[0]: (entry[1], entry[3]) for entry in entries}
    return configs


async def _create(client: AIOKafkaAdminClient, topics: list[Topic]) -> None:
    """Create the topics; another `apply` may have created some of them in the meantime."""
    if topics:
        wanted = [
            NewTopic(t.name, t.partitions, t.replicas, topic_configs=dict(t.config)) for t in topics
        ]
        for name, code, message in (await client.create_topics(wanted)).topic_errors:
            if code != TopicAlreadyExistsError.errno:
                _raise(code, f"{name}: {message}")


async def _alter(client: AIOKafkaAdminClient, topics: list[Topic]) -> None:
    """Set the declared config; other values that were set on the topic remain."""
    configs = await _configs(client, [topic.name for topic in topics])
    wanted = []
    for topic in topics:
        kept = {n: v for n, (v, source) in configs[topic.name].items() if source == _SET_ON_TOPIC}
        merged = {**kept, **topic.config}
        wanted.append(ConfigResource(ConfigResourceType.TOPIC, topic.name, merged))
    if wanted:
        for response in await client.alter_configs(wanted):
            for code, message, *_ in response.resources:
                _raise(code, str(message))


async def _wait(client: AIOKafkaAdminClient, topics: Sequence[Topic]) -> None:
    """Wait until the brokers report the changes, so that a worker may start at once."""
    for _ in range(_PATIENCE * 10):
        if all(difference.is_refused for difference in await find_differences(client, topics)):
            return
        await asyncio.sleep(0.1)
    raise SettingsError(
        f"the topics were changed, but the brokers do not report the changes after {_PATIENCE} s; "
        "run `topics check`"
    )


def _raise(code: int, what: str) -> None:
    if code:
        error = for_code(code)
        advice = f"; {_IF_TIMES}" if error in _OF_CONFIGS else ""
        raise SettingsError(f"Kafka refuses the change: {what} ({error.__name__}){advice}")


def _rows(differences: list[Difference]) -> list[dict[str, str | None]]:
    return [difference._asdict() for difference in differences]
