"""What is made from the list of rights (`agents.access.roles`): the chart's file and the table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import yaml

from agents.access.roles import (
    GROUP,
    OF_USER,
    TOPIC,
    TRANSACTION,
    Acl,
    Names,
    Role,
    acls_of,
    clients,
    commands,
    stages,
)
from agents.access.roles import operator as rights_of_operator
from agents.settings.job import Settings

_ORDER = ("Read", "Write", "Create", "AlterConfigs", "Describe", "DescribeConfigs")
_HEAD = "# Made from agents/access/roles.py by `make generate`. Names have no prefix here.\n"


def chart_file() -> bytes:
    """Return the content of the chart's acls.yaml: the rules of each KafkaUser."""
    names = Names(Settings.model_validate({}))
    users = {role.name: acls_of(role, names) for role in (*stages(names), *clients())}
    users["operator"] = rights_of_operator(names)
    # the chart adds this rule only to the producers that use transactions
    users["transactions"] = users.pop("producer with transactions") - users["producer"]
    rules = {user: list(_rules(acls)) for user, acls in users.items()}
    text = yaml.safe_dump(rules, sort_keys=False, default_flow_style=None, width=200)
    return f"{_HEAD}{text}".encode()


def table() -> str:
    """Return a table of the rights of each role; rights on all topics are written as words."""
    names = Names(Settings.model_validate({}))
    rows = [_row(role, names) for role in (*stages(names), *commands(names), *clients())]
    head = ("who", "Read", "Write", "other topics", "groups, transactional ids")
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines)


def _row(role: Role, names: Names) -> tuple[str, ...]:
    found = acls_of(role, names)

    def of(operation: str, kind: str = TOPIC) -> list[str]:
        return sorted(a.name for a in found if (a.resource, a.operation) == (kind, operation))

    others = []
    if role.manages:
        others.append("Create, Describe and AlterConfigs on every topic")
    elif role.checks:
        others.append("Describe and DescribeConfigs on every topic")
    elif seen := of("Describe"):
        others.append(f"Describe: {_codes(seen)}")
    ids = [
        f"{operation}: {_codes(of(operation, kind))}"
        for kind in (GROUP, TRANSACTION)
        for operation in ("Read", "Write", "Describe")
        if of(operation, kind)
    ]
    who = role.what or f"`{role.name}`"
    cells = (who, _codes(of("Read")), _codes(of("Write")), ", ".join(others), "; ".join(ids))
    return tuple(cells)


def _codes(names: Iterable[str]) -> str:
    return ", ".join("its own" if name == OF_USER else f"`{name}`" for name in names)


def _rules(acls: Iterable[Acl]) -> Iterator[dict[str, Any]]:
    """Yield the rules of a KafkaUser: one for each resource, with all its operations."""
    by_resource: dict[tuple[str, str], list[str]] = {}
    for acl in sorted(acls, key=lambda acl: (acl.resource, acl.name, _ORDER.index(acl.operation))):
        by_resource.setdefault((acl.resource, acl.name), []).append(acl.operation)
    for (resource, name), operations in by_resource.items():
        yield {"resource": resource, "name": name, "operations": operations}
