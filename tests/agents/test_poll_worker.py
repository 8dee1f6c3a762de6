"""A worker of `poll` in its own process: its required settings, and its orderly stop."""

from __future__ import annotations

import asyncio
import signal
import socket
import time
from pathlib import Path

import pytest

from agents.settings.job import Settings
from tests.agents.followed import HOST, follow
from tests.agents.test_worker import PATIENCE, wait_for, worker

pytestmark = pytest.mark.kafka


def test_a_worker_without_a_contact_address_refuses_to_start(
    job: Settings,  # noqa: ARG001 - the fixture sets the environment
    tmp_path: Path,
) -> None:
    """Without a contact address, the worker prints one sentence and exits with code 2."""
    with worker("poll", tmp_path) as (process, _):
        _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 2
    assert "URLTREE_CONTACT" in errors
    assert errors.count("\n") == 1


def wait_for_metric(url: str, line: str) -> None:
    """Wait until the worker's metrics contain this line."""
    deadline = time.monotonic() + PATIENCE
    while f"\nurltree_{line}\n" not in wait_for(f"{url}/metrics", 200):
        assert time.monotonic() < deadline, line
        time.sleep(0.1)


def test_a_worker_stops_in_order_in_the_middle_of_a_poll(job: Settings, tmp_path: Path) -> None:
    """SIGTERM ends a worker during a poll; it does not wait for the server's response."""
    asyncio.run(follow(job, f"http://{HOST}/rss"))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings = {
            "contact": "https://example.org/crawler",
            "allow_networks": "127.0.0.0/8",
            "connect_to": f"::127.0.0.1:{silent.getsockname()[1]}",
            **dict.fromkeys(("header_seconds", "total_seconds"), str(10 * PATIENCE)),
        }
        with worker("poll", tmp_path, **settings) as (process, url):
            assert wait_for(f"{url}/readyz", 200) == "ready\n"
            silent.settimeout(PATIENCE)
            connection, _ = silent.accept()
            with connection:
                assert connection.recv(4096).startswith(b"GET /rss HTTP/1.1\r\n")
                for line in ("feeds 1.0", "feeds_overdue 0.0", "lag 0.0", "in_flight 0.0"):
                    wait_for_metric(url, line)
                process.send_signal(signal.SIGTERM)
                _, errors = process.communicate(timeout=2 * PATIENCE)
        assert process.returncode == 0
    assert "shutdown_seconds are over" not in errors
    assert "Traceback" not in errors
