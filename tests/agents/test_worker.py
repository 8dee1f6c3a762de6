"""A worker in its own process: its start, its probes, its log and its exit code."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from aiokafka.errors import NodeNotReadyError

from agents import worker as workers
from agents.commands.topics import apply
from agents.kafka.session.contact import Contact
from agents.settings.job import Settings
from demo.kafka import Kafka
from demo.ports import free_port
from tests.agents import limits
from tests.agents.limits import GUARD

PATIENCE = GUARD
ROOT = Path(__file__).parents[2]


@contextmanager
def worker(
    stage: str, data_dir: Path, **settings: str
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a worker; yield its process and the URL of its probes."""
    port = free_port()
    environment = {**os.environ, **limits.environment()}
    environment |= {"URLTREE_WEB_PORT": str(port), "URLTREE_DATA_DIR": str(data_dir)}
    environment |= {f"URLTREE_{name.upper()}": value for name, value in settings.items()}
    with subprocess.Popen(
        [sys.executable, "-m", "agents", "worker", stage],
        cwd=ROOT,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process, f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def get(url: str) -> tuple[int, str]:
    """Return the status and the body of a response; the status is 0 if there is none."""
    try:
        with urllib.request.urlopen(url, timeout=5) as response:  # noqa: S310 - loopback
            return int(response.status), response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError:
        return 0, ""


def wait_for(url: str, status: int) -> str:
    """Request a URL until the response has this status, and return its body."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        found, body = get(url)
        if found == status:
            return body
        time.sleep(0.1)
    raise AssertionError(f"{url} did not answer {status} in {PATIENCE:.0f} s, but {found} {body}")


def heard(process: subprocess.Popen[str], words: str) -> str:
    """Return the output of a process on stderr up to the line with these words."""
    said = ""
    for line in process.stderr or ():
        said += line
        if words in line:
            break
    return said


@pytest.mark.kafka
@pytest.mark.usefixtures("job")
@pytest.mark.parametrize("stage", ["normalize", "extract"])
def test_a_worker_gets_ready_tells_its_metrics_and_stops_in_order(
    tmp_path: Path, stage: str
) -> None:
    """A started worker is ready and has metrics, and SIGTERM ends it with exit code 0."""
    with worker(stage, tmp_path) as (process, url):
        wait_for(f"{url}/livez", 200)
        assert wait_for(f"{url}/readyz", 200) == "ready\n"
        metrics = wait_for(f"{url}/metrics", 200)
        for name in ("documents_total", "domains", "lag", "commit_age_seconds", "in_flight"):
            assert f"\nurltree_{name} 0.0\n" in metrics
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert log.count("urltree- headers of every producer count, because no key is set") == 1


@pytest.mark.kafka
def test_a_worker_refuses_to_start_where_topics_are_not_as_declared(
    settings: Settings, tmp_path: Path
) -> None:
    """If a topic does not exist, a worker names it and exits with 2 instead of creating it."""
    with worker("extract", tmp_path) as (process, _):
        _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 2
    assert f"{settings.topic('documents')} does not exist" in errors
    assert "Traceback" not in errors


@pytest.mark.slow
def test_a_port_that_is_in_use_is_one_sentence(tmp_path: Path) -> None:
    """If another process uses the port, a worker exits with 2 and names the setting."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        with worker("normalize", tmp_path, web_port=port) as (process, _):
            _, errors = process.communicate(timeout=PATIENCE)
            assert process.returncode == 2
    assert f"cannot be served on 127.0.0.1:{port}, check web_host and web_port" in errors
    assert "address already in use" in errors
    assert errors.count("\n") == 1


@pytest.mark.slow
def test_a_worker_waits_for_a_kafka_that_is_not_there(tmp_path: Path) -> None:
    """Without Kafka, a worker is alive but not ready, and logs the reason.

    SIGTERM ends it with exit code 0.
    """
    with worker("normalize", tmp_path, brokers="127.0.0.1:1") as (process, url):
        wait_for(f"{url}/livez", 200)
        assert "error=" in heard(process, "Kafka has not answered since")
        assert wait_for(f"{url}/readyz", 503).startswith("Kafka has not answered since 20")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0


def test_a_worker_waits_for_a_broker_that_is_not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker that starts refuses requests for a while; the worker asks again."""
    monkeypatch.setattr(workers, "_RETRY_SECONDS", 0.0)
    answers: list[Exception | list[str]] = [NodeNotReadyError("node id 1"), ["a topic differs"]]

    async def check(_: Settings) -> list[str]:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def scenario() -> list[str]:
        settings = Settings.model_validate({})
        contact = Contact(settings.brokers, GUARD)
        return await workers._check(check, settings, contact, asyncio.Event())

    assert asyncio.run(scenario()) == ["a topic differs"]


@pytest.mark.kafka
def test_a_worker_whose_kafka_dies_is_unready_logs_it_once_and_stops_soon(
    own_kafka: type[Kafka], tmp_path: Path
) -> None:
    """Without an answer for session_seconds, a worker is unready and alive, and its log is short.

    SIGTERM ends it long before shutdown_seconds, because Kafka cannot confirm anything. Before, it
    was ready for ever, and logged 73 lines per second.
    """
    with own_kafka() as kafka:
        asyncio.run(apply(Settings.model_validate({"brokers": kafka.brokers})))
        settings = {"session_seconds": "6", "shutdown_seconds": "10000"}
        with worker("extract", tmp_path, brokers=kafka.brokers, **settings) as (process, url):
            wait_for(f"{url}/readyz", 200)
            kafka.kill()
            assert wait_for(f"{url}/readyz", 503).startswith("Kafka has not answered since 20")
            assert get(f"{url}/livez")[0] == 200
            time.sleep(3)  # here the libraries logged 200 lines
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=PATIENCE)
            assert process.returncode == 0
    assert errors.count("Kafka has not answered since") == 1
    assert "Kafka does not answer; unfinished records will be replayed" in errors
    assert len(errors.splitlines()) < 60


@pytest.mark.slow
def test_wrong_settings_are_one_sentence(tmp_path: Path) -> None:
    """A wrong setting ends a worker with one sentence on stderr and exit code 2.

    test_settings.py contains the other cases.
    """
    with worker("normalize", tmp_path, rules="/no/such/file") as (process, _):
        _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 2
    assert "No such file" in errors
    assert errors.count("\n") == 1
