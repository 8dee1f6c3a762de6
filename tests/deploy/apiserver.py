"""A real Kubernetes API server on loopback: etcd and kube-apiserver, without controllers or nodes.

    with running(etcd, kube_apiserver, directory) as server:
        server.kubeconfig      # for helm
        server.version         # "v1.36.4"

The server admits, defaults, validates and stores objects as in any cluster, but no controller acts
on them. The server accepts pods without a service account, because no controller creates the
default account of a namespace.
"""

from __future__ import annotations

import json
import secrets
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import trustme

from demo.child import ChildProcess
from demo.ports import free_port

PATIENCE = 300.0  # seconds for a start, which usually takes 5


class ApiServerError(Exception):
    """The API server does not start. The message contains the end of the server's log."""


@dataclass(frozen=True)
class Answer:
    """An answer of the API server.

    Attributes:
        status: status of the HTTP response.
        body: the object, the list or, on an error, the Status.
        warnings: texts of the Warning headers, which PodSecurity uses.
    """

    status: int
    body: Mapping[str, Any]
    warnings: Sequence[str]

    @property
    def error(self) -> str:
        """Message of the error; empty if the server accepted the request."""
        return "" if self.status < 400 else str(self.body.get("message", self.status))


class ApiServer:
    """A client of a running API server, with the rights of the group `system:masters`."""

    def __init__(self, directory: Path) -> None:
        self.url = f"https://127.0.0.1:{free_port()}"
        self.token = secrets.token_hex()
        self.kubeconfig = directory / "kubeconfig"
        self._ca = directory / "ca.pem"
        self._context = ssl.create_default_context()

    @property
    def version(self) -> str:
        """Version of the server, such as "v1.36.4"."""
        return str(self.request("GET", "/version").body["gitVersion"])

    def trust(self, authority: trustme.CA) -> None:
        """Trust the server's CA in this client and in helm's kubeconfig."""
        authority.cert_pem.write_to_path(self._ca)
        authority.configure_trust(self._context)
        cluster = {"server": self.url, "certificate-authority": str(self._ca)}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": "test", "user": {"token": self.token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
            "current-context": "test",
        }
        self.kubeconfig.write_text(json.dumps(config))

    def request(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, **query: str
    ) -> Answer:
        """Send a request and return the answer. A PATCH is a server-side apply."""
        kind = "application/apply-patch+yaml" if method == "PATCH" else "application/json"
        return self._send(method, f"{path}?{urlencode(query)}", kind, body)

    def merge(self, path: str, body: Mapping[str, Any]) -> Answer:
        """Change some fields of an object by a merge patch (RFC 7396)."""
        return self._send("PATCH", path, "application/merge-patch+json", body)

    def _send(self, method: str, path: str, kind: str, body: Mapping[str, Any] | None) -> Answer:
        request = urllib.request.Request(  # noqa: S310 - https, above
            f"{self.url}{path}",
            method=method,
            data=json.dumps(body).encode() if body is not None else None,
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": kind},
        )
        try:
            with urllib.request.urlopen(request, context=self._context) as answer:  # noqa: S310
                return _answer(answer.status, answer.read(), answer.headers)
        except urllib.error.HTTPError as error:
            with error:
                return _answer(error.code, error.read(), error.headers)


def _answer(status: int, body: bytes, headers: Any) -> Answer:
    # Warning: 299 - "text" (RFC 7234, section 5.5)
    warnings = [line.split(" ", 2)[2].strip('"') for line in headers.get_all("Warning") or ()]
    is_json = headers.get_content_type() == "application/json"
    return Answer(status, json.loads(body) if is_json else {"message": body.decode()}, warnings)


@contextmanager
def running(etcd: Path, kube_apiserver: Path, directory: Path) -> Iterator[ApiServer]:
    """Run an empty API server with its etcd; end both processes, also after an error.

    Raises:
        ApiServerError: etcd or the API server ends, or is not ready in time.
    """
    server, authority = ApiServer(directory), trustme.CA()
    server.trust(authority)
    client, peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
    with ExitStack() as ends:
        children = []
        for program, options in (
            (etcd, _etcd_options(directory, client, peer)),
            (kube_apiserver, _apiserver_options(directory, client, server, authority)),
        ):
            command = [str(program), *(f"--{name}={value}" for name, value in options.items())]
            child = ChildProcess(command, directory / f"{program.name}.log")
            ends.callback(child.stop)
            children.append(child)
        _wait(server, children)
        yield server


def _etcd_options(directory: Path, client: str, peer: str) -> dict[str, object]:
    return {
        "data-dir": directory / "etcd",
        "listen-client-urls": client,
        "advertise-client-urls": client,
        "listen-peer-urls": peer,
        "initial-advertise-peer-urls": peer,
        "initial-cluster": f"default={peer}",
        "unsafe-no-fsync": "true",
    }


def _apiserver_options(
    directory: Path, etcd: str, server: ApiServer, authority: trustme.CA
) -> dict[str, object]:
    """Write a TLS certificate, whose key also signs tokens of service accounts."""
    certificate = authority.issue_cert("127.0.0.1")
    key, chain = directory / "key.pem", directory / "certificate.pem"
    certificate.private_key_pem.write_to_path(key)
    for blob in certificate.cert_chain_pems:
        blob.write_to_path(chain, append=True)
    tokens = directory / "tokens.csv"
    tokens.write_text(f"{server.token},test,test,system:masters\n")
    return {
        "etcd-servers": etcd,
        "bind-address": "127.0.0.1",
        "secure-port": server.url.rsplit(":", 1)[1],
        "tls-cert-file": chain,
        "tls-private-key-file": key,
        "token-auth-file": tokens,
        "authorization-mode": "RBAC",
        "service-account-issuer": "https://kubernetes.default.svc",
        "service-account-key-file": key,
        "service-account-signing-key-file": key,
        "service-cluster-ip-range": "10.0.0.0/24",
        "disable-admission-plugins": "ServiceAccount",
    }


def _wait(server: ApiServer, children: Sequence[ChildProcess]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not _is_ready(server):
        for child in children:
            if child.poll() is not None or time.monotonic() > deadline:
                raise ApiServerError(f"not ready:\n{child.tail()}")
        time.sleep(0.1)


def _is_ready(server: ApiServer) -> bool:
    try:
        return server.request("GET", "/readyz").status == 200
    except OSError:
        return False
