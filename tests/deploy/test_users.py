"""The KafkaUsers of the chart have exactly the rights of `agents.access.roles`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
import yaml

from agents.access.roles import OF_USER, Acl, Names, acls_of, clients, operator, stages
from agents.settings.job import Settings
from tests.deploy.conftest import Render

pytestmark = pytest.mark.deploy

PREFIX = "text-"  # kafka.prefix in values/strimzi-users.yaml


def test_each_user_has_exactly_the_rights_of_its_role(rendered: Render) -> None:
    """Stages, commands, KEDA, producers and consumers have the rights of the list, no others."""
    found = users(rendered("strimzi-users"))
    names = Names(Settings.model_validate({}))
    roles = {role.name: acls_of(role, names) for role in (*stages(names), *clients())}
    expected = {f"urltree-{role.name}": roles[role.name] for role in stages(names)} | {
        "urltree-operator": operator(names),
        "urltree-autoscaling": roles["autoscaler"],
        "crawler": roles["producer"],
        "importer": roles["producer with transactions"],
        "search": roles["consumer"],
    }
    assert found == {user: rights(user, acls) for user, acls in expected.items()}


def test_each_pod_logs_in_as_its_own_user(rendered: Render) -> None:
    """A worker uses the user of its stage, commands use that of the operators.

    KEDA uses the user `urltree-autoscaling`.
    """
    objects = [o for o in yaml.safe_load_all(rendered("strimzi-users")) if o]
    logins = {
        o["metadata"]["name"]: login(o) for o in objects if o["kind"] in ("StatefulSet", "Pod")
    }
    stages = {f"urltree-{stage}" for stage in ("poll", "fetch", "normalize", "extract")}
    assert logins == {name: (name, name) for name in stages} | {
        "urltree-round-trip": ("urltree-operator", "urltree-operator")
    }
    (keda,) = (o for o in objects if o["kind"] == "TriggerAuthentication")
    secrets = {s["parameter"]: s["name"] for s in keda["spec"]["secretTargetRef"]}
    assert set(secrets.values()) == {"main-cluster-ca-cert", "urltree-autoscaling"}


def users(manifests: str) -> dict[str, frozenset[tuple[str, ...]]]:
    """Return the rights of each KafkaUser: resource, name, pattern, operation."""
    found = {}
    for one in yaml.safe_load_all(manifests):
        if one and one["kind"] == "KafkaUser":
            found[one["metadata"]["name"]] = frozenset(
                (rule["resource"]["type"], rule["resource"]["name"], pattern, operation)
                for rule in one["spec"]["authorization"]["acls"]
                for pattern in [rule["resource"]["patternType"]]
                for operation in rule["operations"]
            )
    return found


def rights(user: str, acls: Iterable[Acl]) -> frozenset[tuple[str, ...]]:
    """Return rights in the form of `users`."""
    return frozenset(
        (acl.resource, user, "prefix", acl.operation)
        if acl.name == OF_USER
        else (acl.resource, f"{PREFIX}{acl.name}", "literal", acl.operation)
        for acl in acls
    )


def login(pod: dict[str, Any]) -> tuple[str, str]:
    """Return the user name of a pod, and the Secret with its password."""
    spec = pod["spec"]["template"]["spec"] if "template" in pod["spec"] else pod["spec"]
    (name,) = (
        variable["value"]
        for variable in spec["containers"][0]["env"]
        if variable["name"] == "URLTREE_SASL_USERNAME"
    )
    (secret,) = (
        source["secret"]["name"]
        for volume in spec["volumes"]
        if volume["name"] == "secrets"
        for source in volume["projected"]["sources"]
        if source["secret"]["items"][0]["path"] == "sasl-password"
    )
    return name, secret
