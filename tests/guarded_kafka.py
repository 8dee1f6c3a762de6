"""An embedded Kafka that denies everything that no ACL allows (Kafka's own StandardAuthorizer).

The listener PLAINTEXT is the administrator's: its clients have no name, and the user ANONYMOUS may
do everything. On the listener SASL_PLAINTEXT each role of `agents.access.roles` has a login of its
own. The authorizer writes each of its decisions to the broker's log.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.protocol.admin import CreateAclsRequest, DeleteAclsRequest, DescribeAclsRequest

from agents.access.roles import OF_USER, Acl
from agents.kafka.client import admin
from agents.settings.job import Settings
from demo.kafka import Kafka, Security

PASSWORD = "a-good-password"  # noqa: S105 - of an embedded Kafka

_CONFIG = """
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
allow.everyone.if.no.acl.found=false
super.users=User:ANONYMOUS
listener.name.sasl_plaintext.sasl.enabled.mechanisms=PLAIN
listener.name.sasl_plaintext.plain.sasl.jaas.config=\
org.apache.kafka.common.security.plain.PlainLoginModule required {users};
"""
_OPTIONS = ("-Dorg.slf4j.simpleLogger.log.kafka.authorizer.logger=debug",)

# Kafka's codes of resource types, operations, pattern types and permissions
_RESOURCES = {"topic": 2, "group": 3, "transactionalId": 5}
_OPERATIONS = {
    "Read": 3,
    "Write": 4,
    "Create": 5,
    "Describe": 8,
    "DescribeConfigs": 10,
    "AlterConfigs": 11,
}
_LITERAL, _PREFIXED, _ALLOW, _ANY = 3, 4, 3, 1

_DECISION = re.compile(
    r"Principal = User:(?P<user>\S+) is (?P<said>Allowed|Denied) operation = (?P<operation>\w+) .*"
    r"on resource = (?P<resource>\w+):LITERAL:(?P<name>\S+) "
)


class Given(NamedTuple):
    """An ACL of one user, with the full name of its resource."""

    user: str
    acl: Acl
    prefix: str

    @property
    def pattern(self) -> tuple[int, str, int]:
        """Kafka's code of the resource type, the name, and Kafka's code of the pattern type."""
        if self.acl.name == OF_USER:
            return _RESOURCES[self.acl.resource], f"{self.prefix}{self.user}", _PREFIXED
        return _RESOURCES[self.acl.resource], f"{self.prefix}{self.acl.name}", _LITERAL

    def binding(self) -> tuple[Any, ...]:
        """Return the fields of the ACL, as Kafka's requests have them."""
        who = (f"User:{self.user}", "*", _OPERATIONS[self.acl.operation], _ALLOW)
        return *self.pattern, *who


class Decision(NamedTuple):
    """A decision of the authorizer. `name` is the full name of the resource."""

    user: str
    is_allowed: bool
    operation: str
    resource: str
    name: str


class _CreateAcls(CreateAclsRequest):
    """Request that creates many ACLs; aiokafka's class creates one."""

    def __init__(self, bindings: list[tuple[Any, ...]]) -> None:
        self._bindings = bindings

    def build(self, request_struct_class: Any) -> Any:
        return request_struct_class(self._bindings)


class _DeleteAcls(DeleteAclsRequest):
    """Request that deletes many ACLs; aiokafka's class has one filter."""

    def __init__(self, bindings: list[tuple[Any, ...]]) -> None:
        self._bindings = bindings

    def build(self, request_struct_class: Any) -> Any:
        return request_struct_class(self._bindings)


class GuardedKafka:
    """A running broker with an authorizer.

    Attributes:
        brokers: `host:port` of the administrator's listener.
        guarded: `host:port` of the listener with logins.
    """

    def __init__(self, kafka: Kafka) -> None:
        self._kafka = kafka
        self._decisions = set[Decision]()
        self._read = 0  # bytes of the log that were read
        self.brokers = kafka.brokers
        self.guarded = f"127.0.0.1:{kafka.ports['SASL_PLAINTEXT']}"

    def login(self, user: str) -> dict[str, str]:
        """Return the settings of a client that logs in as this user."""
        return {
            "brokers": self.guarded,
            "security": "SASL_PLAINTEXT",
            "sasl_mechanism": "PLAIN",
            "sasl_username": user,
            "sasl_password": PASSWORD,
        }

    def grant(self, given: Iterable[Given]) -> None:
        """Create ACLs, and wait until the broker's authorizer uses them."""
        asyncio.run(self._change(_CreateAcls, list(given), is_there=True))

    def revoke(self, given: Iterable[Given]) -> None:
        """Delete ACLs, and wait until the broker's authorizer does not use them any more."""
        asyncio.run(self._change(_DeleteAcls, list(given), is_there=False))

    def decisions(self, prefix: str) -> set[Decision]:
        """Return the decisions so far about resources whose names begin with `prefix`."""
        with (self._kafka.directory / "server.log").open() as log:
            log.seek(self._read)
            text = log.read()
        complete = text[: text.rfind("\n") + 1]
        self._read += len(complete.encode())
        for match in _DECISION.finditer(complete):
            is_allowed = match["said"] == "Allowed"
            self._decisions.add(
                Decision(
                    *(match["user"], is_allowed, match["operation"]),
                    *(match["resource"], match["name"]),
                )
            )
        return {
            one._replace(name=one.name.removeprefix(prefix))
            for one in self._decisions
            if one.name.startswith(prefix)
        }

    async def _change(self, request: Any, given: list[Given], *, is_there: bool) -> None:
        wanted = {one.binding() for one in given}
        async with admin(Settings.model_validate({"brokers": self.brokers})) as client:
            await client._send_request(request(sorted(wanted)))
            while wanted & await _bindings(client) != (wanted if is_there else set()):  # noqa: ASYNC110
                await asyncio.sleep(0.05)


async def _bindings(client: AIOKafkaAdminClient) -> set[tuple[Any, ...]]:
    """Return all ACLs that the broker's authorizer uses."""
    every = DescribeAclsRequest(_ANY, None, _ANY, None, None, _ANY, _ANY)
    answer = await client._send_request(every)
    return {
        (kind, name, pattern, *acl)
        for kind, name, pattern, acls in answer.resources
        for acl in acls
    }


@contextmanager
def running_guarded(directory: Path, users: Iterable[str]) -> Iterator[GuardedKafka]:
    """Run the broker with its files in `directory`, and with a login for each user."""
    logins = " ".join(f'user_{user}="{PASSWORD}"' for user in users)
    security = Security(("SASL_PLAINTEXT",), _CONFIG.format(users=logins), options=_OPTIONS)
    with Kafka(directory / "kafka", security=security) as kafka:
        yield GuardedKafka(kafka)
