"""Repeated requests to the probes of a pod during a recovery or a restart.

The number of requests is returned too, because a test process that stalls may send none.
"""

from __future__ import annotations

import re
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from time import monotonic, sleep

from psutil import Process

from tests.deploy.pod import Pod

LEFT = "urltree_recovery_records"
_PAUSE = 0.2  # seconds between two rounds of requests; each answer costs the worker time
_OF_A_REBALANCE = re.compile("rebalanc|revok|assign|recover|generation", re.IGNORECASE)


def handles_sigterm(pod: Pod) -> bool:
    """Return whether process 1 of a pod handles SIGTERM, according to /proc/PID/status."""
    try:
        status = Path(f"/proc/{pod.pid}/status").read_text()
    except (IndexError, OSError):
        return False  # the process has not started yet
    (caught,) = re.findall(r"^SigCgt:\s(\w+)$", status, re.MULTILINE)
    return bool(int(caught, 16) & 1 << signal.SIGTERM - 1)


def looks_during_recovery(pod: Pod) -> tuple[int, float, float]:
    """Check that a pod is alive and not ready while it recovers.

    Returns:
        The number of checks, the seconds of the recovery, and the CPU seconds of the pod.
    """
    looks, began = 0, 0.0
    while not pod.is_ready:
        assert pod.restarts == 0, pod.log()
        if pod.metric(LEFT):
            began = began or monotonic()
            found = (pod.is_ready, pod.get("/livez")[0], pod.get("/readyz")[0])
            if pod.metric(LEFT):  # records remained to be restored during all three requests
                looks += 1
                assert found == (False, 200, 503)
        elif began:
            break
        sleep(_PAUSE)
    return looks, monotonic() - began, sum(Process(pod.pid).cpu_times()[:2])


def looks_during_a_restart(restarted: Pod, peer: Pod) -> int:
    """Restart a pod; check that its peer stays ready, and return the number of requests."""
    told, is_back = peer.log(), Event()
    with ThreadPoolExecutor() as beside:
        looking = beside.submit(_look, peer, is_back)
        try:
            assert restarted.stop()[0] == 0
            restarted.start().wait_ready()
        finally:
            is_back.set()
        answers = looking.result()
    assert set(answers) == {200}
    assert _OF_A_REBALANCE.search(peer.log().removeprefix(told)) is None
    return len(answers)


def _look(pod: Pod, is_enough: Event) -> list[int]:
    """Request /readyz at least once and until the event is set; return the statuses."""
    answers = [pod.get("/readyz")[0]]
    while not is_enough.wait(_PAUSE):
        answers.append(pod.get("/readyz")[0])
    return answers
