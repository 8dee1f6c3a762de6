"""An interrupted extraction leaves no process behind, and the next run continues it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests import child_process
from tests.urltree_evaluation.streamed import CORPUS, PART, work

pytestmark = pytest.mark.slow

RUN = """
import os, sys, time
from pathlib import Path
from tests.urltree_evaluation.streamed import single
from urltree_evaluation.cli import options
from urltree_evaluation.running.extracting import run_extractors
from urltree_evaluation.progress import show_progress
from urltree_evaluation.workspace import Workspace

here = Path(sys.argv[1])

def slow(html):
    if html == "2" and not (here / "go").exists():
        (here / "new").write_text(str(os.getpid()))
        (here / "new").rename(here / "pid")
        while True:
            time.sleep(60)
    return html

extractors = {"quick": single("quick", str), "slow": single("slow", slow)}
with options.errors_as_messages(), show_progress("extract") as progress:
    run_extractors(Workspace(here / "work"), extractors, processes=2, progress=progress)
"""


def started(folder: Path) -> subprocess.Popen[str]:
    """Start an extraction in a process group of its own, as a shell does."""
    return subprocess.Popen(
        [sys.executable, "-c", RUN, str(folder)],
        env=child_process.environment(),
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )


def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition is true, for at most five minutes."""
    end = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < end, "the condition is still false"
        time.sleep(0.02)


def is_alive(number: int) -> bool:
    """Return whether a process is running; a zombie, as in containers, counts as ended."""
    with suppress(psutil.NoSuchProcess):
        return bool(psutil.Process(number).status() != psutil.STATUS_ZOMBIE)
    return False


@pytest.mark.parametrize(
    ("end", "code", "message"),
    [
        (signal.SIGINT, 130, "interrupted: run the same command again to continue"),
        (signal.SIGTERM, -signal.SIGTERM, ""),
        (signal.SIGKILL, -signal.SIGKILL, ""),
    ],
)
def test_an_interrupted_run_leaves_no_process_and_goes_on(
    end: signal.Signals, code: int, message: str, tmp_path: Path
) -> None:
    """An interrupted run ends all its processes, even if a page hangs.

    The next run keeps complete files, and makes incomplete ones again.
    """
    workspace = work(tmp_path / "work")
    quick, slow = (workspace.predictions_file(CORPUS, name, PART) for name in ("quick", "slow"))
    process = started(tmp_path)
    until(lambda: (tmp_path / "pid").exists() and quick.exists())
    os.killpg(process.pid, end)
    said = process.communicate()[1]
    assert process.returncode == code
    assert message in said
    assert "Traceback" not in said
    child = int((tmp_path / "pid").read_text())
    until(lambda: not is_alive(child))
    assert not slow.exists()

    written = quick.stat().st_mtime_ns
    (tmp_path / "go").touch()
    again = started(tmp_path)
    assert "6 of 6 documents" in again.communicate()[1]
    assert again.returncode == 0
    assert quick.stat().st_mtime_ns == written
    assert [each.text for each in workspace.predictions(CORPUS, "slow", PART)] == list("012345")
    assert sorted(file.name for file in slow.parent.iterdir()) == [f"{PART}.jsonl.zst", "run.json"]


FULL = """
import os, resource, sys
from dataclasses import replace
from pathlib import Path
import psutil
from tests.urltree_evaluation.streamed import single
from urltree_evaluation.cli import options
from urltree_evaluation.running.extracting import run_extractors

noise = single("noise", lambda _: os.urandom(100_000).hex())
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    with options.locked_workspace(Path(sys.argv[1])) as workspace:
        run_extractors(workspace, {n: replace(noise, name=n) for n in ("a", "b")}, processes=2)
finally:
    print(psutil.Process().children(), [str(f) for f in workspace.path.rglob("*.zst.*")])
"""


def test_a_full_disk_ends_all_processes_and_leaves_no_file(tmp_path: Path) -> None:
    """If the disk is full, all processes end and no temporary file remains.

    A limit on the size of files simulates the full disk.
    """
    work(tmp_path)
    command = [sys.executable, "-c", FULL, str(tmp_path)]
    ran = subprocess.run(
        command, env=child_process.environment(), capture_output=True, check=False, text=True
    )
    assert ran.stdout == "[] []\n"
    assert "ClickException: [Errno 27] File too large" in ran.stderr
