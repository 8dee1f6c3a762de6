"""The commands for helm and kubectl in docs/operations.md fit the chart."""

from __future__ import annotations

import shlex
import subprocess

import pytest
import yaml

from deploy.tools.chart import NEWEST, ROOT, VALUES
from tests.agents.runbook import shown
from tests.deploy.chart import objects
from tests.deploy.conftest import FindTool
from tests.deploy.release import claims_of

LINES = sorted(set(shown()))
HELM = [line for line in LINES if line.startswith(("helm upgrade ", "helm install "))]
PLACE = ("POD", "urltree-round-trip")


@pytest.mark.parametrize("line", [line for line in LINES if line.startswith("kubectl ")])
def test_kubectl_is_given_what_the_chart_makes(line: str) -> None:
    """Each object in a kubectl command is one that the chart renders with all stages and KEDA."""
    made = {(o["kind"].lower(), o["metadata"]["name"]) for o in objects("everything")}
    made |= {("pod", f"{name}-{n}") for kind, name in made if kind == "statefulset" for n in (0, 1)}
    words = shlex.split(line.replace("exec -i ", "exec "))
    kinds = {"exec": ("pod", 2), "logs": ("pod", 2), "rollout": (words[3], 4)}
    kind, at = kinds.get(words[1], (words[2], 3))
    if words[at] == "--selector":
        wanted = dict(pair.split("=") for pair in words[at + 1].split(","))
        claims = [claim for found in objects("everything") for claim in claims_of(found)]
        labels = [claim["metadata"]["labels"] for claim in claims]
        assert any(wanted.items() <= found.items() for found in labels)
    elif words[at] not in PLACE:
        assert (kind, words[at]) in made


@pytest.mark.deploy
@pytest.mark.parametrize("line", HELM)
def test_helm_takes_the_values_that_are_typed(line: str, tool: FindTool) -> None:
    """The helm commands of the runbook render the chart with the values of a small release."""
    _, _, *words = shlex.split(line.replace("values.yaml", str(VALUES / "minimal.yaml")))
    done = subprocess.run(
        [str(tool("helm")), "template", *words, "--is-upgrade", "--kube-version", NEWEST],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.deploy
def test_a_pod_waits_for_commands(tool: FindTool) -> None:
    """The runbook's `helm template` command renders the pod of `helm test`, which only sleeps."""
    (line,) = [line for line in LINES if line.startswith("helm template ")]
    line = line.removesuffix(" | kubectl apply -f -")
    line = line.replace("helm template", f"{tool('helm')} template --kube-version {NEWEST}")
    line = line.replace("values.yaml", str(VALUES / "tls-sasl.yaml"))
    done = subprocess.run(["bash", "-c", line], cwd=ROOT, capture_output=True, check=True)
    pod = yaml.safe_load(done.stdout)
    (container,) = pod["spec"]["containers"]
    assert pod["metadata"]["name"] == "urltree-round-trip"
    assert container["command"] == ["sh", "-c", "sleep infinity"]
    assert "URLTREE_BROKERS" in [variable["name"] for variable in container["env"]]
