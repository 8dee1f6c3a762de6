"""A child process that never outlives its parent, however the parent ends.

    parent ──starts──▶ child, leader of a process group of its own
       └────pipe────▶ watch: a shell that waits for the pipe to close, then kills that group

Ctrl-C reaches the parent only, which stops its children in order. After `kill -9` of the parent
the kernel closes the pipe: plain POSIX, so that it holds on macOS too (PR_SET_PDEATHSIG is Linux
only, and fires already when the *thread* that started the child ends).
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

_WATCH = 'read -r _; kill -s KILL -- "-$1"'


class Child:
    """A running child process whose output goes to a file.

    Args:
        command: program and arguments.
        log: file that its stdout and stderr are appended to.
        env: its whole environment; None for ours.
    """

    def __init__(
        self, command: Sequence[str], log: Path, env: Mapping[str, str] | None = None
    ) -> None:
        self.log = log
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=env,
                start_new_session=True,
            )
        self._watch = subprocess.Popen(
            ["/bin/sh", "-c", _WATCH, "watch", str(self.pid)],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        """Process id, and process group id, of the child."""
        return self._process.pid

    def poll(self) -> int | None:
        """Its exit code, None while it runs."""
        return self._process.poll()

    def tail(self, lines: int = 20) -> str:
        """The last lines that it wrote."""
        written = self.log.read_text(errors="replace").splitlines()
        return "\n".join(written[-lines:])

    def stop(self, patience: float = 30) -> int:
        """Ask it to end, kill it after `patience` seconds; returns its exit code."""
        self.ask_to_end()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)
        return self.kill()

    def ask_to_end(self) -> None:
        """SIGTERM, without waiting."""
        self._process.terminate()

    def kill(self) -> int:
        """Kill -9 it and all that it started; returns its exit code."""
        self._unwatch()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        return self._process.wait()

    def _unwatch(self) -> None:
        self._watch.kill()
        self._watch.wait()
        if self._watch.stdin:
            self._watch.stdin.close()
