"""Two workers with one instance id: one of them works, the other waits."""

from __future__ import annotations

import urllib.error
import urllib.request

import pytest

from agents.worker import REPLACED
from tests.job.conftest import MakeJob
from tests.job.harness import Worker, wait_until

SESSION = 6.0  # seconds; a killed worker stays in its group for this time
NAME = "extract-0"


def reason(worker: Worker) -> str:
    """Return what a worker answers on /readyz, or "" if it does not answer."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{worker.port}/readyz", timeout=5) as got:
            return str(got.read().decode())
    except urllib.error.HTTPError as error:
        return error.read().decode()
    except OSError:
        return ""


def test_the_later_worker_replaces_the_earlier_one_which_then_waits(make_job: MakeJob) -> None:
    """A replaced worker ends with its own exit code, and waits when it is started again.

    It joins when the other worker has left the group.
    """
    with make_job(instance_id=NAME) as job:
        first = job.worker("extract", "first", session=SESSION).start()
        second = job.worker("extract", "second", session=SESSION).start()
        wait_until(lambda: first.exit_code() is not None, "the first worker to end", first.log)
        assert first.exit_code() == REPLACED
        assert f"with the instance_id {NAME}; give each worker its own" in first.log()
        first.start(wait=False)
        wait_until(lambda: reason(first).startswith("waiting until another"), "it", first.log)
        assert second.is_running
        assert second.is_ready()
        assert first.log().count("another worker has the instance_id") == 1
        second.kill()
        first.wait_ready()
        assert not list(first.disk.glob("*.replaced"))


def test_a_killed_worker_that_restarts_at_once_replaces_itself(make_job: MakeJob) -> None:
    """A restart after kill -9 does not wait for the session of the killed process."""
    with make_job(instance_id=NAME) as job:
        worker = job.worker("extract", session=60).start()
        worker.kill()
        worker.start()
        assert worker.is_ready()
        assert "another worker has the instance_id" not in worker.log()


@pytest.mark.thorough
def test_a_worker_that_wakes_finds_its_successor(make_job: MakeJob) -> None:
    """A worker that was suspended, and replaced in the meantime, ends and harms nobody."""
    with make_job(instance_id=NAME) as job:
        sleeper = job.worker("extract", "sleeper", session=SESSION).start()
        sleeper.freeze()
        successor = job.worker("extract", "successor", session=SESSION).start()
        sleeper.thaw()
        wait_until(lambda: sleeper.exit_code() is not None, "the worker to end", sleeper.log)
        assert sleeper.exit_code() == REPLACED
        assert successor.is_running
        assert successor.is_ready()
