"""topics.yaml: the declaration of every topic of the job.

Its fields are named as in Strimzi's KafkaTopic; `models/schemas/topics.json` is its schema.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from agents.settings.job import Settings, SettingsError

ROLES = ("input", "internal", "output", "changelog")

_FIELDS = {"name", "role", "key", "partitions", "replicas", "config"}
_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")


@dataclass(frozen=True, slots=True)
class Topic:
    """Declaration of one topic.

    Attributes:
        name: Name in Kafka, with the prefix.
        role: One of `ROLES`.
        key: Description of the record key, for people.
        partitions: Number of partitions.
        replicas: Number of replicas of each partition.
        config: Kafka's topic configuration, names and values as strings.
    """

    name: str
    role: str
    key: str
    partitions: int
    replicas: int
    config: Mapping[str, str]


def declared_topics(settings: Settings) -> tuple[Topic, ...]:
    """Return the topics of topics.yaml, with the prefix and the replicas of the settings.

    Raises:
        SettingsError: The file does not follow `models/schemas/topics.json`.
    """
    path = settings.topics_file
    try:
        file = yaml.safe_load(path.read_text())
        _check_names(file, {"defaults", "topics"})
        topics = tuple(
            _topic(fields, file.get("defaults", {}), settings) for fields in file["topics"]
        )
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}; check topics_file") from None
    except KeyError as error:
        raise SettingsError(f"{path}: the field {error} is missing; add it") from None
    except (yaml.YAMLError, TypeError, ValueError, AttributeError) as error:
        reason = " ".join(str(error).split())
        raise SettingsError(f"{path} is not a valid declaration of topics: {reason}") from None
    _check_copartitioned(topics, path)
    return topics


def _topic(fields: Mapping[str, Any], defaults: Mapping[str, Any], settings: Settings) -> Topic:
    merged = {**defaults, **fields}
    config = {**defaults.get("config", {}), **fields.get("config", {})}
    _check_names(merged, _FIELDS)
    name = settings.topic(merged["name"])
    if not _NAME.fullmatch(name) or merged["role"] not in ROLES:
        raise ValueError(
            f"{name}: the name should be a Kafka topic name, and the role one of "
            f"{', '.join(ROLES)}; the role is {merged['role']}"
        )
    if not all(isinstance(value, str) for value in config.values()):
        raise ValueError(f"{name}: all values of config should be strings; quote them")
    replicas, partitions = int(merged["replicas"]), int(merged["partitions"])
    if settings.topics_replicas is not None:
        replicas = settings.topics_replicas
        config = _in_sync(replicas) | config
    return Topic(name, merged["role"], merged["key"], partitions, replicas, config)


def _in_sync(replicas: int) -> dict[str, str]:
    """Require all replicas but one to confirm a record, so that one broker may restart."""
    return {"min.insync.replicas": str(replicas - 1)} if replicas > 2 else {}


def _check_names(found: Mapping[str, Any], known: set[str]) -> None:
    if unknown := set(found) - known:
        raise ValueError(f"unknown field {', '.join(sorted(unknown))}; remove it")


def _check_copartitioned(topics: tuple[Topic, ...], path: Path) -> None:
    counts = sorted({topic.partitions for topic in topics})
    if len(counts) != 1 or counts[0] < 1:
        raise SettingsError(
            f"{path}: all topics should have the same number of partitions, at least 1; "
            f"declared are {counts}"
        )
    names = [topic.name for topic in topics]
    if twice := {name for name in names if names.count(name) > 1}:
        raise SettingsError(f"{path}: declared more than once: {', '.join(sorted(twice))}")
