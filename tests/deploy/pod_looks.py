"""What is seen of a pod while something befalls it: looks that are repeated until it is over.

Whoever looks may stand still himself, and see nothing: the number of looks says so.
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
    """Whether its process 1 does, as the kernel says."""
    try:
        status = Path(f"/proc/{pod.pid}/status").read_text()
    except (IndexError, OSError):
        return False  # it is not there yet
    (caught,) = re.findall(r"^SigCgt:\s(\w+)$", status, re.MULTILINE)
    return bool(int(caught, 16) & 1 << signal.SIGTERM - 1)


def looks_during_recovery(pod: Pod) -> tuple[int, float, float]:
    """How often it was seen to restore rows, alive and not ready; seconds of that, and CPU."""
    looks, began = 0, 0.0
    while not pod.is_ready:
        assert pod.restarts == 0, pod.log()
        if pod.metric(LEFT):
            began = began or monotonic()
            found = (pod.is_ready, pod.get("/livez")[0], pod.get("/readyz")[0])
            if pod.metric(LEFT):  # and so they were when it was asked
                looks += 1
                assert found == (False, 200, 503)
        elif began:
            break
        sleep(_PAUSE)
    return looks, monotonic() - began, sum(Process(pod.pid).cpu_times()[:2])


def looks_during_a_restart(restarted: Pod, peer: Pod) -> int:
    """How often /readyz of the peer was 200 meanwhile; any other answer fails."""
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
    """What /readyz answers, until it is enough; once at least."""
    answers = [pod.get("/readyz")[0]]
    while not is_enough.wait(_PAUSE):
        answers.append(pod.get("/readyz")[0])
    return answers
