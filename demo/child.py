"""A child process that ends with its parent, however the parent ends.

    parent ──starts──▶ child, leader of its own process group
       └────pipe────▶ watch: a shell that waits until the pipe closes, then kills that group

Ctrl-C reaches only the parent, which stops its children in order. After `kill -9` of the parent
the kernel closes the pipe. This is plain POSIX, so it works on macOS too. (PR_SET_PDEATHSIG exists
only on Linux, and already fires when the *thread* that started the child ends.)
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

_WATCH = 'read -r _; kill -s KILL -- "-$1"'


class ChildError(Exception):
    """A child process ended or did not become ready; the message contains the end of its log."""


class ChildProcess:
    """A running child process whose output goes to a file.

    Args:
        command: program and arguments.
        log: file to which stdout and stderr are appended.
        env: whole environment of the process; None for the environment of the parent.
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
        """Process id of the child, which is also the id of its process group."""
        return self._process.pid

    def poll(self) -> int | None:
        """Return the exit code, or None while the process runs."""
        return self._process.poll()

    def tail(self, lines: int = 20) -> str:
        """Return the last lines of the log."""
        written = self.log.read_text(errors="replace").splitlines()
        return "\n".join(written[-lines:])

    def check(self, name: str) -> None:
        """Raise a ChildError if the process has ended; `name` names it in the message."""
        code = self.poll()
        if code is not None:
            raise ChildError(f"{name} ended with exit code {code}; its log ends:\n{self.tail()}")

    def wait_ready(
        self, name: str, is_ready: Callable[[], bool], patience: float, pause: float = 0.05
    ) -> None:
        """Wait until the process is ready.

        Args:
            name: name of the process in error messages.
            is_ready: returns whether the process is ready.
            patience: seconds after which waiting ends.
            pause: seconds between two calls of `is_ready`.

        Raises:
            ChildError: the process ended, or is not ready after `patience` seconds.
        """
        deadline = time.monotonic() + patience
        while not is_ready():
            self.check(name)
            if time.monotonic() > deadline:
                raise ChildError(
                    f"{name} is not ready after {patience:.0f} s; its log ends:\n{self.tail()}"
                )
            time.sleep(pause)

    def stop(self, patience: float = 30) -> int:
        """Ask the process to end, kill it after `patience` seconds, and return its exit code."""
        self.ask_to_end()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)
        return self.kill()

    def ask_to_end(self) -> None:
        """Send SIGTERM, and return at once."""
        self._process.terminate()

    def kill(self) -> int:
        """Send SIGKILL to the process and all its descendants; return its exit code."""
        self._end_watch()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        return self._process.wait()

    def _end_watch(self) -> None:
        self._watch.kill()
        self._watch.wait()
        if self._watch.stdin:
            self._watch.stdin.close()
