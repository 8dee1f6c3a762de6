"""The commands `topics apply` and `topics check`, and the validation of the file topics.yaml."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import jsonschema
import orjson
import pytest
import yaml
from aiokafka.admin import NewPartitions
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from click.testing import CliRunner
from structlog.testing import capture_logs

from agents.commands.topics import apply, check_topics, topics
from agents.kafka.client import admin, producer
from agents.settings.job import Settings, SettingsError
from agents.settings.topics_file import declared_topics
from tests.agents.limits import GUARD

ROOT = Path(__file__).parents[2]
FILE = ROOT / "topics.yaml"
LOG_APPEND_TIME = 1  # as Kafka's protocol numbers the types of record times


def with_admin(settings: Settings, work: Callable[[Any], Awaitable[Any]]) -> Any:
    """Run a function with an admin client, and return its result."""

    async def run() -> Any:
        async with admin(settings) as client:
            return await work(client)

    return asyncio.run(run())


def seen(settings: Settings) -> list[str]:
    """Wait until `topics check` finds differences, and return them."""
    until = time.monotonic() + GUARD
    while not (found := asyncio.run(check_topics(settings))) and time.monotonic() < until:
        time.sleep(0.1)
    return found


def declared_in(tmp_path: Path, change: Callable[[dict[str, Any]], None]) -> Settings:
    """Write a changed copy of topics.yaml, and return settings that use it."""
    file = yaml.safe_load(FILE.read_text())
    change(file)
    (tmp_path / "topics.yaml").write_text(yaml.safe_dump(file))
    return Settings.model_validate({"topics_file": tmp_path / "topics.yaml"})


def test_the_file_is_as_its_schema_says() -> None:
    """The file topics.yaml is valid under the schema models/schemas/topics.json."""
    schema = orjson.loads((ROOT / "models/schemas/topics.json").read_bytes())
    jsonschema.validate(yaml.safe_load(FILE.read_text()), schema)


def test_the_prefix_stands_before_every_name_changelogs_included() -> None:
    """All topics, changelogs included, begin with the prefix, so two jobs share no topic."""
    names = [topic.name for topic in declared_topics(Settings.model_validate({"prefix": "blue-"}))]
    assert "blue-raw-html" in names
    assert "blue-urltree-extract-rows-changelog" in names
    assert all(name.startswith("blue-") for name in names)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda file: file["topics"][0].update(partitions=7), r"declared are \[6, 7\]"),
        (lambda file: file["topics"][0].pop("name"), "the field 'name' is missing"),
        (
            lambda file: file["topics"][0].update(name="a b"),
            "the name should be a Kafka topic name",
        ),
        (lambda file: file["topics"][0].update(retention=1), "unknown field retention"),
        (lambda file: file.update(default={}), "unknown field default"),
        (lambda file: file["topics"].append(file["topics"][0]), "declared more than once"),
        (
            lambda file: file["defaults"]["config"].update(a=1),
            "all values of config should be strings",
        ),
        (lambda file: file.clear(), "the field 'topics' is missing"),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], sentence: str
) -> None:
    """An invalid topics.yaml raises an error that names the invalid field."""
    with pytest.raises(SettingsError, match=sentence):
        declared_topics(declared_in(tmp_path, change))


@pytest.mark.parametrize(
    ("replicas", "in_sync"), [(None, None), (1, None), (2, None), (3, "2"), (5, "4")]
)
def test_replicas_of_the_settings_are_those_of_every_topic(
    replicas: int | None, in_sync: str | None
) -> None:
    """Topics have `topics_replicas` replicas; of three or more, all but one must confirm a record.

    So one broker may restart while records are written.
    """
    found = declared_topics(Settings.model_validate({"topics_replicas": replicas}))
    assert {topic.replicas for topic in found} == {replicas or 1}
    assert {topic.config.get("min.insync.replicas") for topic in found} == {in_sync}
    assert all(topic.config["max.message.bytes"] for topic in found)


def test_the_file_decides_how_many_replicas_confirm_a_record(tmp_path: Path) -> None:
    """A topic's min.insync.replicas in topics.yaml takes precedence over the file's defaults.

    Both take precedence over the value that follows from `topics_replicas`.
    """

    def change(file: dict[str, Any]) -> None:
        file["defaults"]["config"]["min.insync.replicas"] = "1"
        file["topics"][0]["config"]["min.insync.replicas"] = "3"

    settings = declared_in(tmp_path, change).model_copy(update={"topics_replicas": 3})
    first, *others = declared_topics(settings)
    assert first.config["min.insync.replicas"] == "3"
    assert {topic.config["min.insync.replicas"] for topic in others} == {"1"}


@pytest.mark.kafka
def test_apply_and_check_agree_on_the_replicas_of_the_settings(settings: Settings) -> None:
    """`apply` fails with more replicas than brokers, and `check` reports missing replicas."""
    more = settings.model_copy(update={"topics_replicas": 3})
    with pytest.raises(SettingsError, match=r"Kafka refuses the change: .*[Rr]eplication"):
        asyncio.run(apply(more))
    one = settings.model_copy(update={"topics_replicas": 1})
    asyncio.run(apply(one))
    assert asyncio.run(check_topics(one)) == []
    differ = asyncio.run(check_topics(more))
    assert f"{settings.topic('raw-html')}: replicas should be 3, but is 1" in differ
    assert f"{settings.topic('raw-html')}: min.insync.replicas should be 2, but is 1" in differ


@pytest.mark.kafka
def test_apply_makes_what_check_misses_and_does_nothing_twice(settings: Settings) -> None:
    """`apply` creates the topics that `check` misses, and a second `apply` changes nothing."""
    missing = asyncio.run(check_topics(settings))
    assert missing == [f"{topic.name} does not exist" for topic in declared_topics(settings)]
    done, refused = asyncio.run(apply(settings))
    assert len(done) == len(missing)
    assert refused == []
    assert asyncio.run(check_topics(settings)) == []
    assert asyncio.run(apply(settings)) == ([], [])


@pytest.mark.kafka
def test_apply_mends_a_config_and_leaves_what_others_set(settings: Settings) -> None:
    """`apply` resets a changed value that topics.yaml declares, and keeps all other values."""
    asyncio.run(apply(settings))
    name = settings.topic("raw-html")

    async def change(client: Any) -> None:
        config = {"retention.ms": "1000", "segment.bytes": "1048576"}
        await client.alter_configs([ConfigResource(ConfigResourceType.TOPIC, name, config)])

    async def segment(client: Any) -> str:
        asked = [ConfigResource(ConfigResourceType.TOPIC, name, {"segment.bytes": ""})]
        (response,) = await client.describe_configs(asked)
        return str(response.resources[0][4][0][1])

    with_admin(settings, change)
    assert f"{name}: retention.ms should be 604800000, but is 1000" in seen(settings)
    asyncio.run(apply(settings))
    assert asyncio.run(check_topics(settings)) == []
    assert with_admin(settings, segment) == "1048576"


@pytest.mark.kafka
def test_apply_never_changes_partitions(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`apply` refuses to change a number of partitions, and exits with 1."""
    asyncio.run(apply(settings))
    name = settings.topic("documents")
    with_admin(settings, lambda client: client.create_partitions({name: NewPartitions(7)}))
    assert seen(settings) == [f"{name}: partitions should be 6, but is 7"]
    monkeypatch.setenv("URLTREE_BROKERS", ",".join(settings.brokers))
    monkeypatch.setenv("URLTREE_PREFIX", settings.prefix)
    result = CliRunner().invoke(topics, ["apply"])
    assert result.exit_code == 1
    assert (
        f"refused: {name}: partitions should be 6, but is 7; the number of partitions cannot change"
        in result.output
    )
    result = CliRunner().invoke(topics, ["check", "--json"])
    assert orjson.loads(result.stdout) == {
        "differences": [f"{name}: partitions should be 6, but is 7"]
    }


def test_without_a_broker_a_command_says_so() -> None:
    """If no broker can be reached, the error names the address."""
    settings = Settings.model_validate({"brokers": "127.0.0.1:1"})
    with pytest.raises(SettingsError, match=r"Kafka cannot be reached at 127\.0\.0\.1:1"):
        asyncio.run(check_topics(settings))


@pytest.mark.kafka
def test_two_runs_of_apply_at_once_both_succeed(settings: Settings) -> None:
    """Several `apply` may run at the same time, such as hooks of two releases: all succeed."""

    async def at_once() -> list[Any]:
        return await asyncio.gather(*(apply(settings) for _ in range(3)))

    runs = asyncio.run(at_once())
    assert [refused for _, refused in runs] == [[], [], []]
    assert asyncio.run(check_topics(settings)) == []


def of_the_release_before(file: dict[str, Any]) -> None:
    """Remove from topics.yaml what the release before did not have."""
    new = ("message.timestamp.type", "max.compaction.lag.ms", "segment.ms")
    file["topics"] = [t for t in file["topics"] if "forgotten" not in t["name"]]
    for fields in (file["defaults"], *file["topics"]):
        fields["config"] = {n: v for n, v in fields.get("config", {}).items() if n not in new}


@pytest.mark.kafka
def test_an_upgrade_changes_the_topics_first(settings: Settings, tmp_path: Path) -> None:
    """`apply` changes the topics of the release before, and workers of both accept the result.

    A worker of the new release does not start before.
    """
    before = settings.model_copy(
        update={"topics_file": declared_in(tmp_path, of_the_release_before).topics_file}
    )
    asyncio.run(apply(before))
    name = settings.topic("raw-html")
    found = asyncio.run(check_topics(settings))
    assert (
        f"{settings.topic('urltree-extract-forgotten_documents-changelog')} does not exist" in found
    )
    sentence = f"{name}: message.timestamp.type should be LogAppendTime, but is CreateTime"
    assert any(line.startswith(sentence) and "accept_producer_times" in line for line in found)
    asyncio.run(apply(settings))
    assert asyncio.run(check_topics(settings)) == []
    assert asyncio.run(check_topics(before)) == []


@pytest.mark.kafka
def test_record_times_of_producers_can_be_accepted(settings: Settings, tmp_path: Path) -> None:
    """With `accept_producer_times`, `apply` leaves the record times, and `check` only warns."""
    before = settings.model_copy(
        update={"topics_file": declared_in(tmp_path, of_the_release_before).topics_file}
    )
    asyncio.run(apply(before))
    accepting = settings.model_copy(update={"accept_producer_times": True})
    asyncio.run(apply(accepting))
    with capture_logs() as lines:
        assert asyncio.run(check_topics(accepting)) == []
    assert [line["topics"] for line in lines] == [
        [
            settings.topic(name)
            for name in ("feeds", "rules", "requests", "poll-outcomes", "fetches", "raw-html")
        ]
    ]
    assert len(asyncio.run(check_topics(settings))) == 6


@pytest.mark.kafka
def test_a_refused_change_names_the_setting(settings: Settings, tmp_path: Path) -> None:
    """If Kafka refuses a config, the error names it and the setting `accept_producer_times`."""

    def change(file: dict[str, Any]) -> None:
        file["topics"][0]["config"]["message.timestamp.type"] = "Unknown"

    refused = settings.model_copy(update={"topics_file": declared_in(tmp_path, change).topics_file})
    with pytest.raises(SettingsError, match=r"Kafka refuses the change: .*accept_producer_times"):
        asyncio.run(apply(refused))


@pytest.mark.kafka
def test_a_page_with_an_old_record_time_stays(job: Settings) -> None:
    """Kafka replaces a producer's record time in raw-html with its own time.

    With the producer's time, retention deletes a page of last year before it is read.
    """

    async def published() -> int:
        async with producer(job) as out:
            topic = job.topic("raw-html")
            sent = await out.send_and_wait(topic, b"a page", b"k", 0, timestamp_ms=1)
            return int(sent.timestamp_type)

    assert asyncio.run(published()) == LOG_APPEND_TIME
