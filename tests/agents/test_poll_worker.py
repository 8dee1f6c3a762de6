"""A worker of `poll` in its own process: its required settings, and its orderly stop."""

from __future__ import annotations

import asyncio
import signal
import socket
import time
from pathlib import Path

import pytest

from agents.settings.job import Settings
from models.crawl import host_request
from tests.agents.followed import HOST, SITE, follow
from tests.agents.records import ReadAll
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


def test_a_worker_asks_the_owners_of_hosts_alone_and_stops_in_order(
    job: Settings, tmp_path: Path, read_all: ReadAll
) -> None:
    """A worker of `poll` opens no connection: it sends a request to the owner of the feed's host.

    SIGTERM ends the worker while no answer has arrived.
    """
    asyncio.run(follow(job, f"http://{HOST}/rss"))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings = {
            "contact": "https://example.org/crawler",
            "allow_networks": "127.0.0.0/8",
            "connect_to": f"::127.0.0.1:{silent.getsockname()[1]}",
        }
        with worker("poll", tmp_path, **settings) as (process, url):
            assert wait_for(f"{url}/readyz", 200) == "ready\n"
            deadline = time.monotonic() + PATIENCE
            while not (found := read_all("requests")):
                assert time.monotonic() < deadline
                time.sleep(0.1)
            for line in ("feeds 1.0", "feeds_overdue 0.0", "lag 0.0", "in_flight 0.0"):
                wait_for_metric(url, line)
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=2 * PATIENCE)
        silent.settimeout(0.0)
        with pytest.raises(BlockingIOError):
            silent.accept()
    assert process.returncode == 0
    assert "shutdown_seconds are over" not in errors
    assert "Traceback" not in errors
    (record,) = found
    request = host_request.decode(record.value)
    assert (request.url, request.sequence, record.key) == (f"http://{HOST}/rss", 1, SITE.encode())
