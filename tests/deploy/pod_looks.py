"""Repeated looks at a pod during a recovery or a restart.

If the test's own process stalls, it may not look at all. The number of looks shows that.
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
_PAUSE = 0.2  # seconds between two looks: an answer costs the worker time, too
_OF_A_REBALANCE = re.compile("rebalanc|revok|assign|recover|generation", re.IGNORECASE)


def handles_sigterm(pod: Pod) -> bool:
    """Return whether process 1 of a pod handles SIGTERM, as the kernel reports."""
    try:
        status = Path(f"/proc/{pod.pid}/status").read_text()
    except (IndexError, OSError):
        return False  # it is not there yet
    (caught,) = re.findall(r"^SigCgt:\s(\w+)$", status, re.MULTILINE)
    return bool(int(caught, 16) & 1 << signal.SIGTERM - 1)


def looks_during_recovery(pod: Pod) -> tuple[int, float, float]:
    """Return the looks at a pod during its recovery, and the seconds and CPU seconds of it."""
    looks, began = 0, 0.0
    while not pod.is_ready:
        assert pod.restarts == 0, pod.log()
        if pod.metric(LEFT):
            began = began or monotonic()
            found = (pod.is_ready, pod.get("/livez")[0], pod.get("/readyz")[0])
            if pod.metric(LEFT):  # records remained during all three requests
                looks += 1
                assert found == (False, 200, 503)
        elif began:
            break
        sleep(_PAUSE)
    return looks, monotonic() - began, sum(Process(pod.pid).cpu_times()[:2])


def looks_during_a_restart(restarted: Pod, peer: Pod) -> int:
    """Restart a pod, and return how often /readyz of its peer was 200 meanwhile."""
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
    """Return the answers of /readyz until the event is set, at least one."""
    answers = [pod.get("/readyz")[0]]
    while not is_enough.wait(_PAUSE):
        answers.append(pod.get("/readyz")[0])
    return answers
