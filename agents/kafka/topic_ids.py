"""The id of a topic, by which a topic differs from a later one with the same name.

Kafka 2.8 and later give each topic a random id when it is created (KIP-516). aiokafka has only
older versions of the request that returns the id. So this module contains version 10 of Metadata.
"""

from __future__ import annotations

from io import BytesIO
from typing import Any

from aiokafka.protocol.abstract import AbstractType
from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.types import (
    Boolean,
    CompactArray,
    CompactString,
    Int16,
    Int32,
    Schema,
    TaggedFields,
)

from agents.kafka.client import admin
from agents.settings.job import Settings

_NO_ID = bytes(16)


async def topic_id(settings: Settings, topic: str) -> str | None:
    """Return the id of a topic as 32 hexadecimal digits.

    Args:
        settings: Settings of the job.
        topic: Name of the topic, without prefix.

    Returns:
        None if the topic does not exist, or if the brokers do not know topic ids.

    Raises:
        NoKafkaError: No broker can be reached.
    """
    name = settings.topic(topic)
    async with admin(settings) as client:
        try:
            answer = await client._send_request(_TopicIdRequest(name))  # noqa: SLF001
        except NotImplementedError:
            return None  # the brokers are older than Kafka 2.8
    found = {one["name"]: one["topic_id"] for one in answer.to_object()["topics"]}
    number = found.get(name, _NO_ID)
    return None if number == _NO_ID else number.hex()


class _Uuid(AbstractType[bytes]):
    @classmethod
    def encode(cls, value: bytes) -> bytes:
        return value

    @classmethod
    def decode(cls, data: BytesIO) -> bytes:
        return data.read(16)


_NAME = CompactString("utf-8")
_TAGS = ("tags", TaggedFields)
_NODES = CompactArray(Int32)


class _TopicIdAnswer(Response):
    API_KEY = 3
    API_VERSION = 10
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        (
            "brokers",
            CompactArray(
                ("node_id", Int32), ("host", _NAME), ("port", Int32), ("rack", _NAME), _TAGS
            ),
        ),
        ("cluster_id", _NAME),
        ("controller_id", Int32),
        (
            "topics",
            CompactArray(
                ("error_code", Int16),
                ("name", _NAME),
                ("topic_id", _Uuid),
                ("is_internal", Boolean),
                (
                    "partitions",
                    CompactArray(
                        ("error_code", Int16),
                        ("partition_index", Int32),
                        ("leader_id", Int32),
                        ("leader_epoch", Int32),
                        ("replica_nodes", _NODES),
                        ("isr_nodes", _NODES),
                        ("offline_replicas", _NODES),
                        _TAGS,
                    ),
                ),
                ("topic_authorized_operations", Int32),
                _TAGS,
            ),
        ),
        ("cluster_authorized_operations", Int32),
        _TAGS,
    )


class _TopicIdStruct(RequestStruct):
    FLEXIBLE_VERSION = True
    API_KEY = 3
    API_VERSION = 10
    RESPONSE_TYPE = _TopicIdAnswer
    SCHEMA = Schema(
        ("topics", CompactArray(("topic_id", _Uuid), ("name", _NAME), _TAGS)),
        ("allow_auto_topic_creation", Boolean),
        ("include_cluster_authorized_operations", Boolean),
        ("include_topic_authorized_operations", Boolean),
        _TAGS,
    )


class _TopicIdRequest(Request[_TopicIdStruct]):
    API_KEY = 3

    def __init__(self, name: str) -> None:
        self._name = name

    def build(self, request_struct_class: type[_TopicIdStruct]) -> _TopicIdStruct:
        topics: Any = [(_NO_ID, self._name, {})]
        return request_struct_class(topics, False, False, False, {})  # noqa: FBT003
