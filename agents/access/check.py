"""The check that Kafka gives a user all rights of a stage or a command.

A worker makes it at its start, and a command when it has failed.

Without this check a missing right shows late: Write on dead-letters at the first bad page, Read on
a changelog when a disk is lost. Kafka tells a client its own rights (KIP-430). A Kafka without an
authorizer answers that everything is allowed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import GroupAuthorizationFailedError, KafkaError, TopicAuthorizationFailedError
from aiokafka.protocol.admin import DescribeGroupsResponse_v3
from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.types import Array, Boolean, Int16, Int32, Schema, String

from agents.access.roles import GROUP, TOPIC, Acl, Names, acls_of, commands, stages
from agents.kafka.client import admin
from agents.kafka.refusal import user_of
from agents.settings.job import Settings, SettingsError

_TEXT = String("utf-8")
_BITS = {  # Kafka's codes of operations, which are the numbers of their bits in an answer
    "Read": 3,
    "Write": 4,
    "Create": 5,
    "Describe": 8,
    "DescribeConfigs": 10,
    "AlterConfigs": 11,
}


async def check_rights(settings: Settings, name: str) -> None:
    """Check that the user of the settings has all rights of a stage or a command.

    Raises:
        NoKafkaError: No broker can be reached.
        SettingsError: Rights are missing; the message names all of them.
    """
    names = Names(settings)
    (role,) = (role for role in (*stages(names), *commands(names)) if role.name == name)
    wanted = sorted(acls_of(role, names))
    async with admin(settings) as client:
        allowed = await _allowed(client, settings, wanted)
    missing = [
        f"{acl.operation} on the {acl.resource} {settings.topic(acl.name)}"
        for acl in wanted
        if not _is_allowed(acl.operation, allowed.get((acl.resource, acl.name)))
    ]
    if missing:
        raise SettingsError(
            f"Kafka does not give {user_of(settings)} all rights of `{name}`; add ACLs for "
            f"{', '.join(missing)} (docs/access.md)"
        )


def command_of(settings: Settings, words: Sequence[str]) -> str | None:
    """Return the name of the operator command that a command line calls, or None."""
    line = " ".join(words)
    found = (role.name for role in commands(Names(settings)))
    return next((name for name in found if f"{line} ".startswith(f"{name} ")), None)


async def _allowed(
    client: AIOKafkaAdminClient, settings: Settings, wanted: Iterable[Acl]
) -> dict[tuple[str, str], int]:
    """Return the allowed operations as bits, by resource and name without prefix.

    The bits of a hidden resource are 0. A topic that does not exist and a group whose coordinator
    does not answer are left out.
    """
    topics = sorted({settings.topic(acl.name) for acl in wanted if acl.resource == TOPIC})
    groups = sorted({settings.topic(acl.name) for acl in wanted if acl.resource == GROUP})
    found: dict[tuple[str, str], int] = {}
    answer = await client._send_request(_DescribeTopics(topics))  # noqa: SLF001 - it has no method
    for code, name, _, _, bits in answer.topics:
        if code in (0, TopicAuthorizationFailedError.errno):
            found[TOPIC, name.removeprefix(settings.prefix)] = 0 if code else _known(bits)
    for group in groups:
        try:
            node = await client.find_coordinator(group)
            described = await client._send_request(_DescribeGroup(group), node)  # noqa: SLF001
        except GroupAuthorizationFailedError:
            found[GROUP, group.removeprefix(settings.prefix)] = 0
        except KafkaError:
            continue  # the coordinator moves, or is not chosen yet
        else:
            code, *_, bits = described.groups[0]
            if not code:
                found[GROUP, group.removeprefix(settings.prefix)] = _known(bits)
    return found


def _known(bits: int) -> int:
    """Return the bits of a resource that Kafka shows, or all bits if they cannot be true.

    Who sees a resource has at least Describe; a Kafka that does not know KIP-430 leaves it out.
    """
    return bits if bits >= 0 and bits >> _BITS["Describe"] & 1 else -1


def _is_allowed(operation: str, bits: int | None) -> bool:
    return bits is None or bool(bits >> _BITS[operation] & 1)


# aiokafka's requests cannot ask for the allowed operations: its Metadata ends at version 5, and it
# reads an answer of DescribeGroups version 3 as one of version 2.


class _MetadataResponse(Response):
    API_KEY = 3
    API_VERSION = 8
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        ("brokers", Array(("id", Int32), ("host", _TEXT), ("port", Int32), ("rack", _TEXT))),
        ("cluster_id", _TEXT),
        ("controller_id", Int32),
        (
            "topics",
            Array(
                ("error_code", Int16),
                ("name", _TEXT),
                ("is_internal", Boolean),
                (
                    "partitions",
                    Array(
                        ("error_code", Int16),
                        ("partition", Int32),
                        ("leader", Int32),
                        ("leader_epoch", Int32),
                        ("replicas", Array(Int32)),
                        ("in_sync", Array(Int32)),
                        ("offline", Array(Int32)),
                    ),
                ),
                ("allowed", Int32),
            ),
        ),
        ("allowed_on_cluster", Int32),
    )


class _MetadataRequest(RequestStruct):
    API_KEY = 3
    API_VERSION = 8
    RESPONSE_TYPE = _MetadataResponse
    SCHEMA = Schema(
        ("topics", Array(_TEXT)),
        ("allow_auto_topic_creation", Boolean),
        ("include_cluster_operations", Boolean),
        ("include_topic_operations", Boolean),
    )


class _DescribeTopics(Request[_MetadataRequest]):
    API_KEY = 3

    def __init__(self, topics: list[str]) -> None:
        self._topics = topics

    def build(self, request_struct_class: type[_MetadataRequest]) -> Any:
        return request_struct_class(self._topics, *(False, False, True))


class _GroupsRequest(RequestStruct):
    API_KEY = 15
    API_VERSION = 3
    RESPONSE_TYPE = DescribeGroupsResponse_v3
    SCHEMA = Schema(("groups", Array(_TEXT)), ("include_operations", Boolean))


class _DescribeGroup(Request[_GroupsRequest]):
    API_KEY = 15

    def __init__(self, group: str) -> None:
        self._group = group

    def build(self, request_struct_class: type[_GroupsRequest]) -> Any:
        return request_struct_class([self._group], *(True,))
