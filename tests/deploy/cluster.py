"""A client of the test cluster: custom resources, dry runs, and the contents of namespaces.

Like kubectl, the client asks the server for the kinds of objects, so it needs no list of them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.deploy.apiserver import PATIENCE, Answer, ApiServer

Object = Mapping[str, Any]

STRICT = {"fieldValidation": "Strict"}
DRY_RUN = {"dryRun": "All"}
BY_US = {"fieldManager": "test", "force": "true"}


class Cluster:
    """A running API server with the custom resources of some operators."""

    def __init__(self, server: ApiServer, crds: Iterable[Path]) -> None:
        self.server = server
        self._resources: dict[tuple[str, str], Mapping[str, Any]] = {}
        names = [self._define(yaml.safe_load(crd.read_text())) for crd in crds]
        for name in names:
            self._await_established(name)
        self._discover()

    def make_namespace(self, name: str) -> str:
        """Create a namespace that refuses unrestricted pods, and warns of their templates."""
        level = {"enforce": "restricted", "warn": "restricted"}
        labels = {f"pod-security.kubernetes.io/{mode}": said for mode, said in level.items()}
        body = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "labels": labels},
        }
        _accepted(self.server.request("POST", "/api/v1/namespaces", body))
        return name

    def make_priority_class(self, name: str) -> None:
        """Create a PriorityClass that pods can refer to."""
        body = {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": 1,
        }
        _accepted(self.create(body, ""))

    def apply(self, wanted: Object, namespace: str, **query: str) -> Answer:
        """Send a strict server-side apply. With `dryRun` nothing is stored."""
        path = f"{self.path(wanted, namespace)}/{wanted['metadata']['name']}"
        return self.server.request("PATCH", path, wanted, **BY_US, **STRICT, **query)

    def create(self, wanted: Object, namespace: str, **query: str) -> Answer:
        """Send a strict POST, as a controller would."""
        return self.server.request("POST", self.path(wanted, namespace), wanted, **STRICT, **query)

    def path(self, wanted: Object, namespace: str) -> str:
        """Return the path of objects of this kind, in the namespace if the kind has namespaces."""
        version = wanted["apiVersion"]
        resource = self._resources[version, wanted["kind"]]
        scope = f"/namespaces/{namespace}" if resource["namespaced"] else ""
        return f"{_root(version)}{scope}/{resource['name']}"

    def contents(self, namespace: str) -> dict[str, Object]:
        """Return all objects of all kinds in a namespace, by "Kind/name"."""
        found: dict[str, Object] = {}
        for (version, kind), resource in self._resources.items():
            if resource["namespaced"] and "list" in resource["verbs"]:
                path = self.path({"apiVersion": version, "kind": kind}, namespace)
                # items of a list have no `kind` and no `apiVersion`
                for item in _accepted(self.server.request("GET", path)).body["items"]:
                    found[f"{kind}/{item['metadata']['name']}"] = {
                        **item,
                        "apiVersion": version,
                        "kind": kind,
                    }
        return found

    def _define(self, crd: Object) -> str:
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        name = str(crd["metadata"]["name"])
        _accepted(self.server.request("PATCH", f"{path}/{name}", crd, **BY_US))
        return f"{path}/{name}"

    def _await_established(self, path: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            status = self.server.request("GET", path).body.get("status", {})
            conditions = {each["type"]: each["status"] for each in status.get("conditions", ())}
            if conditions.get("Established") == "True":
                return
            time.sleep(0.1)
        raise AssertionError(f"{path} is not established")

    def _discover(self) -> None:
        groups = self.server.request("GET", "/apis").body["groups"]
        versions = [each["groupVersion"] for group in groups for each in group["versions"]]
        for version in ("v1", *versions):
            listed = self.server.request("GET", _root(version)).body["resources"]
            for resource in listed:
                if "/" not in resource["name"]:
                    self._resources[version, resource["kind"]] = resource


def _root(version: str) -> str:
    return f"/apis/{version}" if "/" in version else f"/api/{version}"


def _accepted(answer: Answer) -> Answer:
    assert not answer.error, answer.error
    return answer
