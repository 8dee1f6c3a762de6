"""A process that may hang, leak or crash: it says lines, and is watched by the one that made it.

    Child(work) ──fork──▶ work(say) ──lines──▶ pipe ──▶ lines()
          ▲                   │ too long, too large: killed       │
          └─── lines(), is_over, spent(), memory() ◀──────────────┘

POSIX alone: a fork gives the child what the parent has loaded, in milliseconds. The pipe carries
lines and no pickles, and is read without waiting: a child that stops in the middle of a line, or
whose interpreter is held for ever by a regular expression, holds nobody up.
"""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import logging
import os
import resource
import signal
import socket
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

import psutil

SendLine = Callable[[bytes], None]

_PR_SET_PDEATHSIG = 1
_CHUNK = 1 << 20


class Child:
    """A forked process.

    Args:
        work: runs in it, and says lines; what it raises ends the process with code 1.
        memory: bytes of address space beyond what it starts with: a bound against what grows
            faster than it is watched. Address space is more than memory, so let it be generous.

    Attributes:
        is_over: the pipe is closed: no more lines will come.
        idle: bytes of memory that it started with.
    """

    def __init__(self, work: Callable[[SendLine], None], memory: int) -> None:
        self.is_over = False
        self._rest = b""
        self._out, said = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        parent = os.getpid()
        former = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        self._pid = os.fork()
        if not self._pid:
            os.close(self._out)
            _live(work, said, parent, memory)
        with suppress(OSError):  # it was first
            os.setpgid(self._pid, self._pid)
        signal.pthread_sigmask(signal.SIG_SETMASK, former)
        os.close(said)
        os.set_blocking(self._out, False)
        self._process = psutil.Process(self._pid)
        self.idle = self.memory()

    def fileno(self) -> int:
        """Of the pipe, to wait for lines."""
        return self._out

    def lines(self) -> list[bytes]:
        """What it said since it was asked last, without line ends; whole lines alone."""
        said = [self._rest]
        while not self.is_over:
            try:
                said.append(os.read(self._out, _CHUNK))
            except BlockingIOError:
                break
            self.is_over = not said[-1]
        *lines, self._rest = b"".join(said).split(b"\n")
        return lines

    def cpu(self) -> float:
        """Seconds of user and system that it took, all threads."""
        try:
            times = self._process.cpu_times()
        except psutil.Error:
            return 0.0
        return float(times.user + times.system)

    def memory(self) -> int:
        """Bytes that are resident now; 0 when it has ended."""
        try:
            return int(self._process.memory_info().rss)
        except psutil.Error:
            return 0

    def is_asleep(self) -> bool:
        """Neither runs nor waits for a turn to run or for the machine's disk."""
        busy = (psutil.STATUS_RUNNING, psutil.STATUS_DISK_SLEEP)
        try:
            return self._process.status() not in busy
        except psutil.Error:
            return False

    def end(self) -> str:
        """Kill it where it lives, and say how it ended: "exit code 3", "SIGSEGV"."""
        if self._pid:
            with suppress(ProcessLookupError, PermissionError):  # it has ended
                os.killpg(self._pid, signal.SIGKILL)
            _, status = os.waitpid(self._pid, 0)
            os.close(self._out)
            self._pid, self.is_over = 0, True
            code = os.waitstatus_to_exitcode(status)
            self._ending = f"exit code {code}" if code >= 0 else signal.Signals(-code).name
        return self._ending


def _live(work: Callable[[SendLine], None], said: int, parent: int, memory: int) -> NoReturn:
    """The child's life; nothing of the parent's runs in it."""
    code = 1
    try:
        _confine(parent, memory)
        with os.fdopen(said, "wb", buffering=0) as pipe:

            def say(line: bytes) -> None:
                rest = memoryview(line + b"\n")
                while rest:
                    rest = rest[pipe.write(rest) :]

            work(say)
        code = 0
    finally:
        os._exit(code)


def _confine(parent: int, memory: int) -> None:
    """Bound its memory, silence it, cut it off the net, and let it die with its parent.

    A child that hangs in a regular expression takes note of nothing but a signal, and Linux alone
    can send it one; elsewhere it ends when it next says something. Ctrl-C is the parent's: a
    process group of its own keeps the terminal's signal away.
    """
    os.setpgid(0, 0)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before we asked for the signal
        os._exit(1)
    _silence()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    bound = int(psutil.Process().memory_info().vms) + memory
    resource.setrlimit(resource.RLIMIT_AS, (bound, bound))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in ("connect", "connect_ex"):
        setattr(socket.socket, name, _refuse)
    setattr(socket, "getaddrinfo", _refuse)  # noqa: B010 - a type checker would object
    gc.freeze()  # what the parent loaded stays shared


def _silence() -> None:
    """What it prints, warns and logs goes nowhere, and there is nothing to read."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    sys.stdin = os.fdopen(0)
    sys.stdout = sys.stderr = os.fdopen(1, "w", errors="replace")  # also where they were others
    faulthandler.disable()
    warnings.simplefilter("ignore")
    logging.disable()


def _refuse(*_: object) -> NoReturn:
    """An extractor gets pages, not the web."""
    raise OSError("extractors that are measured have no network")
