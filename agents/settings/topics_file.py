"""topics.yaml: every topic of the job, in Strimzi's words (`models/schemas/topics.json`)."""

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
    """A topic as declared.

    Attributes:
        name: with the prefix.
        role: input, internal, output or changelog.
        key: what its records are keyed by, for a person.
        config: Kafka's own names and values, as strings.
    """

    name: str
    role: str
    key: str
    partitions: int
    replicas: int
    config: Mapping[str, str]


def declared(settings: Settings) -> tuple[Topic, ...]:
    """The topics of topics.yaml, under the prefix and with the replicas of the settings.

    Raises:
        SettingsError: the file is not what `models/schemas/topics.json` says.
    """
    path = settings.topics_file
    try:
        file = yaml.safe_load(path.read_text())
        _check_names(file, {"defaults", "topics"})
        topics = tuple(
            _topic(fields, file.get("defaults", {}), settings) for fields in file["topics"]
        )
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise SettingsError(f"{path}: {type(error).__name__}: {error}") from None
    _check_copartitioned(topics, path)
    return topics


def _topic(fields: Mapping[str, Any], defaults: Mapping[str, Any], settings: Settings) -> Topic:
    merged = {**defaults, **fields}
    config = {**defaults.get("config", {}), **fields.get("config", {})}
    _check_names(merged, _FIELDS)
    name = settings.topic(merged["name"])
    if not _NAME.fullmatch(name) or merged["role"] not in ROLES:
        raise ValueError(f"{name}: not a topic's name, or a role that is not one of {ROLES}")
    if not all(isinstance(value, str) for value in config.values()):
        raise ValueError(f"{name}: values of config should be strings")
    replicas, partitions = int(merged["replicas"]), int(merged["partitions"])
    if settings.topics_replicas is not None:
        replicas = settings.topics_replicas
        config = _in_sync(replicas) | config
    return Topic(name, merged["role"], merged["key"], partitions, replicas, config)


def _in_sync(replicas: int) -> dict[str, str]:
    """How many replicas confirm a record: all but one, so that a broker may restart meanwhile."""
    return {"min.insync.replicas": str(replicas - 1)} if replicas > 2 else {}


def _check_names(found: Mapping[str, Any], known: set[str]) -> None:
    if unknown := set(found) - known:
        raise ValueError(f"unknown: {', '.join(sorted(unknown))}")


def _check_copartitioned(topics: tuple[Topic, ...], path: Path) -> None:
    counts = sorted({topic.partitions for topic in topics})
    if len(counts) != 1 or counts[0] < 1:
        raise SettingsError(f"{path}: all topics should have the same partitions, have {counts}")
    if len({topic.name for topic in topics}) != len(topics):
        raise SettingsError(f"{path}: a topic is declared twice")
