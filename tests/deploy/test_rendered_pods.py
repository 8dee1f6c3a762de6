"""Every pod of every golden: what it may do, how it is stopped, where its secrets come from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from agents.settings.job import Settings
from tests.deploy.chart import SETS, objects, pods

PODS = [(values, name) for values in SETS for name in pods(values)]
WORKERS = [(values, name) for values, name in PODS if name.startswith("StatefulSet/")]
COMMANDS = [place for place in PODS if place not in WORKERS]

every_pod = pytest.mark.parametrize(("values", "name"), PODS)
every_worker = pytest.mark.parametrize(("values", "name"), WORKERS)
every_command = pytest.mark.parametrize(("values", "name"), COMMANDS)

# Kubernetes, "Pod Security Standards": volumes that "restricted" allows
_VOLUMES = {
    *("configMap", "csi", "downwardAPI", "emptyDir", "ephemeral"),
    *("persistentVolumeClaim", "projected", "secret"),
}


@every_pod
def test_a_pod_meets_pod_security_restricted(values: str, name: str) -> None:
    """By the standard's own list; the API server asks the same in `make test-apiserver`."""
    assert list(_violations(pods(values)[name])) == []


@every_pod
def test_a_pod_writes_nowhere_but_its_data_and_tmp(values: str, name: str) -> None:
    """The root is read-only, and every other mount, too."""
    spec = pods(values)[name]
    (container,) = spec["containers"]
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    writable = {m["mountPath"] for m in container["volumeMounts"] if not m.get("readOnly")}
    assert writable == {"/tmp", "/var/lib/urltree"}  # noqa: S108 - a path in the image
    assert spec["automountServiceAccountToken"] is False
    assert spec["enableServiceLinks"] is False


@every_pod
def test_a_secret_is_a_file(values: str, name: str) -> None:
    """No environment holds one or refers to one, and each file that is named is mounted."""
    spec = pods(values)[name]
    (container,) = spec["containers"]
    mounted = {
        f"/etc/urltree/secrets/{item['path']}"
        for volume in spec["volumes"]
        for source in volume.get("projected", {}).get("sources", ())
        for item in source["secret"]["items"]
    }
    named = set()
    for variable in container["env"]:
        assert "secretKeyRef" not in variable.get("valueFrom", {})
        assert variable["name"] not in {"URLTREE_SASL_PASSWORD", "URLTREE_OAUTH_CLIENT_SECRET"}
        if variable.get("value", "").startswith("/etc/urltree/secrets/"):
            named.add(variable["value"])
    assert named == mounted


@every_pod
def test_each_variable_is_a_setting_of_the_job(values: str, name: str) -> None:
    """And none is there twice; the job would only warn of a misspelt one."""
    (container,) = pods(values)[name]["containers"]
    names = [variable["name"] for variable in container["env"]]
    ours = [each for each in names if each.startswith("URLTREE_")]
    assert len(set(names)) == len(names)
    assert {each.removeprefix("URLTREE_").lower() for each in ours} <= set(Settings.model_fields)


@every_command
def test_a_command_has_the_settings_of_the_workers(values: str, name: str) -> None:
    """Of each stage, and those of `normalize` to the letter: a page's key is what it says."""
    given = _environment(pods(values)[name])
    workers = {worker: _environment(pods(values)[worker]) for at, worker in WORKERS if at == values}
    for worker, settings in workers.items():
        wanted = {each: value for each, value in settings.items() if each not in OF_WORKERS}
        assert set(wanted) <= set(given)
        if worker.endswith("-normalize"):
            assert {each: given[each] for each in wanted} == wanted


@every_worker
def test_a_worker_is_not_killed_while_it_drains(values: str, name: str) -> None:
    """The grace period is longer than shutdown_seconds, and the session than a restart."""
    spec = pods(values)[name]
    given = _environment(spec)
    shutdown = given.get(
        "URLTREE_SHUTDOWN_SECONDS", Settings.model_fields["shutdown_seconds"].default
    )
    assert spec["terminationGracePeriodSeconds"] >= float(shutdown) + 10
    assert float(given["URLTREE_SESSION_SECONDS"]) >= 60


@every_worker
def test_a_worker_fits_into_its_memory(values: str, name: str) -> None:
    """Caches, write buffers, trees and what is in flight, by docs/operations.md, "Sizes"."""
    spec = pods(values)[name]
    (container,) = spec["containers"]
    given = _environment(spec)
    stage = container["args"][1]
    found = next(each for each in objects(values) if _is(each, name))
    workers = found["spec"].get("replicas") or _scaled(values, name)
    stores = TABLES[stage] * -(-6 // max(1, workers - 1))
    caches = stores * (int(given["URLTREE_BLOCK_CACHE_BYTES"]) + 24 * MIB)
    trees = int(given.get("URLTREE_TREES_BYTES", 0))
    in_flight = Settings.model_fields["in_flight_bytes"].default
    limit = _bytes(container["resources"]["limits"]["memory"])
    assert 96 * MIB + in_flight + caches + trees <= 0.9 * limit


@every_worker
def test_a_worker_with_a_claim_keeps_it(values: str, name: str) -> None:
    """A claim outlives scaling and the release; a pod without one has a bounded disk."""
    spec = next(each for each in objects(values) if _is(each, name))["spec"]
    assert spec["podManagementPolicy"] == "Parallel"
    if claims := spec.get("volumeClaimTemplates"):
        assert [claim["metadata"]["name"] for claim in claims] == ["data"]
        kept = {"whenScaled": "Retain", "whenDeleted": "Retain"}
        assert spec["persistentVolumeClaimRetentionPolicy"] == kept
    else:
        volumes = {volume["name"]: volume for volume in pods(values)[name]["volumes"]}
        assert volumes["data"]["emptyDir"]["sizeLimit"]


@every_worker
def test_a_worker_is_alive_before_it_has_recovered(values: str, name: str) -> None:
    """Only readiness asks whether tables are recovered."""
    (container,) = pods(values)[name]["containers"]
    paths = {probe: container[f"{probe}Probe"]["httpGet"]["path"] for probe in PROBES}
    assert paths == {"startup": "/livez", "liveness": "/livez", "readiness": "/readyz"}


# What a worker alone has: its name and port, and what the chart derives from its memory.
OF_WORKERS = {
    *("URLTREE_INSTANCE_ID", "URLTREE_WEB_HOST", "URLTREE_WEB_PORT"),
    *("URLTREE_BLOCK_CACHE_BYTES", "URLTREE_TREES_BYTES"),
}
MIB = 1024 * 1024
TABLES = {"poll": 2, "fetch": 1, "normalize": 1, "extract": 2}
PROBES = ("startup", "liveness", "readiness")


def _violations(spec: dict[str, Any]) -> Iterator[str]:
    """In which points a pod is not as "restricted" asks."""
    yield from (name for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name))
    for volume in spec["volumes"]:
        if not set(volume) - {"name"} <= _VOLUMES:
            yield f"volume {volume['name']}"
    pod = spec["securityContext"]
    if pod.get("runAsNonRoot") is not True or pod.get("runAsUser") == 0:
        yield "runAsNonRoot"
    if pod.get("seccompProfile", {}).get("type") not in {"RuntimeDefault", "Localhost"}:
        yield "seccompProfile"
    for container in (*spec["containers"], *spec.get("initContainers", ())):
        yield from _violations_of_container(container)


def _violations_of_container(container: dict[str, Any]) -> Iterator[str]:
    own = container.get("securityContext", {})
    if own.get("privileged") or own.get("allowPrivilegeEscalation") is not False:
        yield "allowPrivilegeEscalation"
    if own.get("capabilities", {}).get("drop") != ["ALL"] or "add" in own["capabilities"]:
        yield "capabilities"
    if any("hostPort" in port for port in container.get("ports", ())):
        yield "hostPort"


def _environment(spec: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each.get("value", "") for each in spec["containers"][0]["env"]}


def _is(found: dict[str, Any], name: str) -> bool:
    return f"{found['kind']}/{found['metadata']['name']}" == name


def _scaled(values: str, name: str) -> int:
    """The fewest workers that KEDA leaves."""
    scaled = next(
        each for each in objects(values) if _is(each, name.replace("StatefulSet", "ScaledObject"))
    )
    return int(scaled["spec"]["minReplicaCount"])


def _bytes(quantity: str) -> int:
    units = {"Mi": MIB, "Gi": 1024 * MIB}
    return int(quantity[:-2]) * units[quantity[-2:]]
