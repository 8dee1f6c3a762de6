"""Every pod that the chart renders: what it may do, how it is stopped, where its secrets are.

The committed sets of values are read from files. `make test-deploy` renders the other sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agents.settings.job import Settings
from tests.deploy.chart import every_set, objects, pods

# Kubernetes, "Pod Security Standards": volumes that "restricted" allows
_VOLUMES = {
    *("configMap", "csi", "downwardAPI", "emptyDir", "ephemeral"),
    *("persistentVolumeClaim", "projected", "secret"),
}


@every_set
def test_a_pod_meets_pod_security_restricted(values: str) -> None:
    """Each pod meets the Pod Security Standard "restricted", by the list in the standard.

    `make test-apiserver` checks this with an API server.
    """
    assert {
        name: found for name, spec in pods(values).items() if (found := _violations(spec))
    } == {}


@every_set
def test_a_pod_writes_nowhere_but_its_data_and_tmp(values: str) -> None:
    """In each pod, only the data directory and /tmp are writable."""
    for name, spec in pods(values).items():
        (container,) = spec["containers"]
        assert container["securityContext"]["readOnlyRootFilesystem"] is True, name
        writable = {m["mountPath"] for m in container["volumeMounts"] if not m.get("readOnly")}
        assert writable == {"/tmp", "/var/lib/urltree"}, name  # noqa: S108 - a path in the image
        assert spec["automountServiceAccountToken"] is False, name
        assert spec["enableServiceLinks"] is False, name


@every_set
def test_a_secret_is_a_file(values: str) -> None:
    """No variable contains a secret or refers to one. Each secret file of a variable is mounted."""
    for pod, spec in pods(values).items():
        (container,) = spec["containers"]
        mounted = {
            f"/etc/urltree/secrets/{item['path']}"
            for volume in spec["volumes"]
            for source in volume.get("projected", {}).get("sources", ())
            for item in source["secret"]["items"]
        }
        named = set()
        for variable in container["env"]:
            name = variable["name"]
            assert "secretKeyRef" not in variable.get("valueFrom", {}), pod
            assert name not in {"URLTREE_SASL_PASSWORD", "URLTREE_OAUTH_CLIENT_SECRET"}, pod
            if variable.get("value", "").startswith("/etc/urltree/secrets/"):
                named.add(variable["value"])
        assert named == mounted, pod


@every_set
def test_each_variable_is_a_setting_of_the_job(values: str) -> None:
    """Each variable is a setting and is set once. The job only warns of a misspelt variable."""
    for pod, spec in pods(values).items():
        (container,) = spec["containers"]
        names = [variable["name"] for variable in container["env"]]
        ours = [each for each in names if each.startswith("URLTREE_")]
        assert len(set(names)) == len(names), pod
        settings = {each.removeprefix("URLTREE_").lower() for each in ours}
        assert settings <= set(Settings.model_fields), pod


@every_set
def test_a_command_has_the_settings_of_the_workers(values: str) -> None:
    """The pod of a command has the settings of every stage, with the values of `normalize`.

    The settings of `normalize` determine the keys of pages. The Job for topics sends no records, so
    it gets no key for headers; the chart's own Secret does not exist when it runs.
    """
    workers = {worker: _environment(spec) for worker, spec in _workers(values).items()}
    commands = {name: spec for name, spec in pods(values).items() if name not in workers}
    assert commands
    for name, spec in commands.items():
        given = _environment(spec)
        for worker, settings in workers.items():
            absent = OF_WORKERS | ({"URLTREE_HEADER_KEY_FILE"} if name in OF_TOPICS else set())
            wanted = {each: value for each, value in settings.items() if each not in absent}
            assert set(wanted) <= set(given), name
            if worker.endswith("-normalize"):
                assert {each: given[each] for each in wanted} == wanted, name


@every_set
def test_a_worker_is_not_killed_while_it_drains(values: str) -> None:
    """The grace period of a pod is longer than the setting `shutdown_seconds`.

    The session timeout in Kafka is at least 60 seconds, which is longer than a restart.
    """
    for name, spec in _workers(values).items():
        given = _environment(spec)
        shutdown = given.get(
            "URLTREE_SHUTDOWN_SECONDS", Settings.model_fields["shutdown_seconds"].default
        )
        assert spec["terminationGracePeriodSeconds"] >= float(shutdown) + 10, name
        assert float(given["URLTREE_SESSION_SECONDS"]) >= 60, name


@every_set
def test_a_worker_fits_into_its_memory(values: str) -> None:
    """Caches, write buffers, trees and records in flight fit into the memory limit of a worker.

    The formula is in docs/operations.md, "Sizes".
    """
    for name, spec in _workers(values).items():
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
        assert 96 * MIB + in_flight + caches + trees <= 0.9 * limit, name


@every_set
def test_a_worker_with_a_claim_keeps_it(values: str) -> None:
    """A claim is kept after scaling and uninstalling. A disk without a claim has a size limit."""
    for name, pod in _workers(values).items():
        spec = next(each for each in objects(values) if _is(each, name))["spec"]
        assert spec["podManagementPolicy"] == "Parallel", name
        if claims := spec.get("volumeClaimTemplates"):
            assert [claim["metadata"]["name"] for claim in claims] == ["data"], name
            kept = {"whenScaled": "Retain", "whenDeleted": "Retain"}
            assert spec["persistentVolumeClaimRetentionPolicy"] == kept, name
        else:
            volumes = {volume["name"]: volume for volume in pod["volumes"]}
            assert volumes["data"]["emptyDir"]["sizeLimit"], name


@every_set
def test_a_worker_is_alive_before_it_has_recovered(values: str) -> None:
    """Only the readiness probe uses /readyz, which fails until the tables are recovered."""
    for name, spec in _workers(values).items():
        (container,) = spec["containers"]
        paths = {probe: container[f"{probe}Probe"]["httpGet"]["path"] for probe in PROBES}
        assert paths == {"startup": "/livez", "liveness": "/livez", "readiness": "/readyz"}, name


def test_the_committed_sets_have_claims_and_disks_without_one() -> None:
    """The committed sets contain workers with claims and workers without claims.

    So the tests above check both kinds without helm.
    """
    found = [each for each in objects("everything") if each["kind"] == "StatefulSet"]
    assert {"volumeClaimTemplates" in each["spec"] for each in found} == {True, False}


# Settings that only workers have: id, address, port, and sizes that the chart derives from memory.
OF_WORKERS = {
    *("URLTREE_INSTANCE_ID", "URLTREE_WEB_HOST", "URLTREE_WEB_PORT"),
    *("URLTREE_BLOCK_CACHE_BYTES", "URLTREE_TREES_BYTES"),
}
OF_TOPICS = {"Job/urltree-topics-apply"}
MIB = 1024 * 1024
TABLES = {"poll": 2, "fetch": 1, "normalize": 1, "extract": 2}
PROBES = ("startup", "liveness", "readiness")


def _workers(values: str) -> dict[str, dict[str, Any]]:
    """Return the specs of the workers' pods, by kind and name."""
    found = {n: spec for n, spec in pods(values).items() if n.startswith("StatefulSet/")}
    assert found
    return found


def _violations(spec: dict[str, Any]) -> list[str]:
    """Return the parts of a pod that break the standard "restricted"."""
    return [*_violations_of_pod(spec)]


def _violations_of_pod(spec: dict[str, Any]) -> Iterator[str]:
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
    """Return the smallest number of workers to which KEDA scales."""
    scaled = next(
        each for each in objects(values) if _is(each, name.replace("StatefulSet", "ScaledObject"))
    )
    return int(scaled["spec"]["minReplicaCount"])


def _bytes(quantity: str) -> int:
    units = {"Mi": MIB, "Gi": 1024 * MIB}
    return int(quantity[:-2]) * units[quantity[-2:]]
