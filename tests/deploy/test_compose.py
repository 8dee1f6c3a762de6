"""The containers of compose.yaml are bounded, and its Kafka fits the job."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from agents.__main__ import _STAGES
from agents.commands.topics import apply, check_topics
from agents.settings.job import PREFIX, Settings
from demo.child import ChildProcess
from demo.kafka import answers
from demo.kafka_install import install
from demo.ports import free_ports
from deploy.tools.chart import CHART, ROOT
from tests.job.harness import wait_until
from tests.job.kafka_records import run

COMPOSE = ROOT / "deploy" / "compose"
FILE = COMPOSE / "compose.yaml"
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load(FILE.read_text())["services"]
STAGES = tuple(_STAGES)
OURS = ("topics", *STAGES)

_YAMLLINT = "{extends: default, rules: {document-start: disable, line-length: {max: 115}, \
comments: {min-spaces-from-content: 1}, braces: {max-spaces-inside: 0}}}"

services = pytest.mark.parametrize("name", SERVICES)


def here(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a program of this virtual environment."""
    program = Path(sys.executable).with_name(str(command[0]))
    return subprocess.run([program, *command[1:]], capture_output=True, text=True, check=False)


def test_compose_yaml_is_what_the_compose_specification_says() -> None:
    """The file fits the JSON Schema of the Compose Specification in check-jsonschema."""
    ran = here("check-jsonschema", "--builtin-schema", "vendor.compose-spec", FILE)
    assert ran.returncode == 0, ran.stdout


def test_yamllint_finds_nothing_in_what_compose_reads() -> None:
    """The YAML files of the compose folder have no repeated key and a regular indentation."""
    ran = here("yamllint", "--strict", "--config-data", _YAMLLINT, COMPOSE)
    assert ran.returncode == 0, ran.stdout


@services
def test_a_container_is_bounded(name: str) -> None:
    """A container writes only to /tmp and volumes, has no capabilities, and has a memory limit."""
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["tmpfs"][0] in {"/tmp", "/tmp:exec"}  # noqa: S108 - the container's own
    assert re.fullmatch(r"\d+[mg]", service["mem_limit"])
    assert "privileged" not in service
    assert "network_mode" not in service


@services
def test_a_port_is_open_to_the_laptop_alone(name: str) -> None:
    """Each port listens on loopback only.

    If a port has no address, Docker opens it to every network and bypasses the firewall.
    """
    assert [p for p in SERVICES[name].get("ports", ()) if not p.startswith("127.0.0.1:")] == []


@services
def test_an_image_is_ours_or_pinned_by_tag_and_digest(name: str) -> None:
    """Images of other projects are pinned by tag and digest, so they never change."""
    image = SERVICES[name]["image"]
    if name in OURS:
        assert image == SERVICES["topics"]["image"]
    else:
        assert re.fullmatch(r"[\w./-]+:v?\d+\.\d+\.\d+@sha256:[0-9a-f]{64}", image)


def test_the_image_is_built_once_from_the_dockerfile() -> None:
    """Only the service `topics` builds the image, with the checkout as its context."""
    built = {name: found["build"] for name, found in SERVICES.items() if "build" in found}
    assert built.keys() == {"topics"}
    context = (COMPOSE / built["topics"]["context"]).resolve()
    assert context == ROOT
    assert (context / built["topics"]["dockerfile"]).is_file()


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_is_a_service_with_a_disk_of_its_own(stage: str) -> None:
    """The service of a stage has a volume, and starts after the topics exist.

    Its instance id lets the worker restart without a rebalance.
    """
    service = SERVICES[stage]
    assert service["command"] == ["worker", stage]
    assert service["volumes"] == [f"{stage}:/var/lib/urltree"]
    assert service["depends_on"] == {"topics": {"condition": "service_completed_successfully"}}
    assert service["environment"]["URLTREE_INSTANCE_ID"] == stage
    assert (
        int(service["stop_grace_period"].removesuffix("s"))
        > Settings.model_validate({}).shutdown_seconds
    )


def test_only_stages_that_ask_the_web_wait_for_a_profile() -> None:
    """Only poll, fetch and the optional Kafka UI need a profile to start.

    poll and fetch need a contact, which only the user can set.
    """
    profiles = {name: found["profiles"] for name, found in SERVICES.items() if "profiles" in found}
    assert profiles == {"poll": ["feeds"], "fetch": ["feeds"], "kafka-ui": ["ui"]}
    asking = {name for name in STAGES if "URLTREE_CONTACT" in SERVICES[name]["environment"]}
    assert asking == {"poll", "fetch"}


@pytest.mark.parametrize("name", OURS)
def test_every_variable_of_ours_is_a_setting(name: str) -> None:
    """Each variable of our containers is a setting; the job only warns of a misspelt one."""
    names = [variable.removeprefix(PREFIX).lower() for variable in SERVICES[name]["environment"]]
    assert names
    assert [name for name in names if name not in Settings.model_fields] == []


def test_prometheus_reads_every_stage_under_the_labels_that_alerts_name() -> None:
    """Prometheus reads each worker by the name of its service and the port of its health check.

    The series get the labels that the alerts use.
    """
    (job,) = yaml.safe_load((COMPOSE / "prometheus.yaml").read_text())["scrape_configs"]
    (found,) = job["dns_sd_configs"]
    assert sorted(found["names"]) == sorted(STAGES)
    assert f":{found['port']}/readyz" in SERVICES["normalize"]["healthcheck"]["test"][-1]
    assert {rule["target_label"] for rule in job["relabel_configs"]} == {
        *("stage", "pod", "namespace"),
    }


def test_what_is_mounted_is_there() -> None:
    """Each mounted file exists; for a missing one Docker would create an empty directory."""
    mounts = [mount for found in SERVICES.values() for mount in found.get("volumes", ())]
    paths = [mount.split(":")[0] for mount in mounts if mount.startswith(".")]
    assert len(paths) > 2
    assert [path for path in paths if not (COMPOSE / path).exists()] == []


@pytest.mark.deploy
def test_promtool_reads_the_configuration_with_its_rules(
    tmp_path: Path, tool: Callable[[str], Path]
) -> None:
    """The configuration is valid with the rules in the same directory, as in the container."""
    shutil.copy(COMPOSE / "prometheus.yaml", tmp_path)
    shutil.copy(CHART / "files" / "alerts.yaml", tmp_path)
    ran = subprocess.run(
        [tool("promtool"), "check", "config", tmp_path / "prometheus.yaml"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.fixture
def brokers(tmp_path: Path) -> Iterator[str]:
    """Yield the address of a Kafka on loopback that has the configuration of compose.yaml.

    The Java class that configures Kafka's image also makes the configuration here. Only ports, host
    names and directories differ.
    """
    port, inner, controller = free_ports(3)
    given = {name: str(value) for name, value in SERVICES["kafka"]["environment"].items()}
    moved = {"kafka:19092": f"127.0.0.1:{inner}", ":19092": f"127.0.0.1:{inner}"}
    moved |= {"127.0.0.1:9092": f"127.0.0.1:{port}", "//:9092": f"//127.0.0.1:{port}"}
    moved |= {"127.0.0.1:9093": f"127.0.0.1:{controller}"}
    for old, new in moved.items():
        given = {name: value.replace(old, new) for name, value in given.items()}
    given["KAFKA_LOG_DIRS"] = str(tmp_path / "data")
    places = {name: tmp_path / name for name in ("default", "mounted", "final")}
    for place in places.values():
        place.mkdir()
    for name in ("server.properties", "log4j2.yaml", "tools-log4j2.yaml"):
        (places["default"] / name).touch()
    options = [part for name, at in places.items() for part in (f"--{name}-configs-dir", str(at))]
    setup = install().java("kafka.docker.KafkaDockerWrapper", "setup", *options)
    ran = subprocess.run(
        setup, env={**os.environ, **given}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    command = install().java("kafka.Kafka", str(places["final"] / "server.properties"))
    broker = ChildProcess(command, tmp_path / "log")
    try:
        at = f"127.0.0.1:{port}"
        wait_until(lambda: answers(at), "Kafka", broker.tail, broker.poll)
        yield at
    finally:
        broker.kill()


@pytest.mark.usefixtures("own_kafka")
def test_the_kafka_of_compose_takes_the_topics(brokers: str) -> None:
    """The Kafka of compose.yaml starts, and all topics can be created on its one broker."""
    settings = Settings.model_validate({"brokers": brokers})
    run(apply(settings))
    assert run(check_topics(settings)) == []
