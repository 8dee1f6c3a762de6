"""A child process that may hang, leak or crash: it sends lines, and its parent watches it.

    Child(work) ──fork──▶ work(send) ──lines──▶ pipe ──▶ lines()
          ▲                   │ too slow or too large: killed      │
          └─── lines(), is_over, cpu(), memory() ◀─────────────────┘

This works on POSIX only. After a fork, which takes milliseconds, the child has everything that the
parent has loaded. The pipe carries lines instead of pickles, and the parent reads it without
blocking. A child that stops in the middle of a line, or whose interpreter is blocked by a regular
expression, therefore does not delay the parent.
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
    """A forked process that runs a function and sends lines to its parent.

    Args:
        work: function that runs in the process and sends lines. An exception of this function ends
            the process with exit code 1.
        memory: limit of address space in bytes, in addition to the address space at the start. It
            stops a process whose memory grows faster than the parent checks it. Processes reserve
            more address space than they use, so the limit should be generous.

    Attributes:
        is_over: whether the pipe is closed, so that no more lines will arrive.
        idle: resident memory of the process at the start, in bytes.
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
            _run_child(work, said, parent, memory)
        with suppress(OSError):  # the child has already set its process group
            os.setpgid(self._pid, self._pid)
        signal.pthread_sigmask(signal.SIG_SETMASK, former)
        os.close(said)
        os.set_blocking(self._out, False)
        self._process = psutil.Process(self._pid)
        self.idle = self.memory()

    def fileno(self) -> int:
        """Return the file descriptor of the pipe, to wait for lines."""
        return self._out

    def lines(self) -> list[bytes]:
        """Return the complete lines since the last call, without line ends."""
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
        """Return the CPU time of all threads so far, user and system, in seconds."""
        try:
            times = self._process.cpu_times()
        except psutil.Error:
            return 0.0
        return float(times.user + times.system)

    def memory(self) -> int:
        """Return the resident memory in bytes; 0 if the process has ended."""
        try:
            return int(self._process.memory_info().rss)
        except psutil.Error:
            return 0

    def is_asleep(self) -> bool:
        """Return whether the process neither runs, nor waits for a CPU or for the disk."""
        busy = (psutil.STATUS_RUNNING, psutil.STATUS_DISK_SLEEP)
        try:
            return self._process.status() not in busy
        except psutil.Error:
            return False

    def end(self) -> str:
        """Kill the process if it is alive, and return how it ended: "exit code 3", "SIGSEGV"."""
        if self._pid:
            with suppress(ProcessLookupError, PermissionError):  # the process has ended
                os.killpg(self._pid, signal.SIGKILL)
            _, status = os.waitpid(self._pid, 0)
            os.close(self._out)
            self._pid, self.is_over = 0, True
            code = os.waitstatus_to_exitcode(status)
            self._ending = f"exit code {code}" if code >= 0 else signal.Signals(-code).name
        return self._ending


def _run_child(work: Callable[[SendLine], None], said: int, parent: int, memory: int) -> NoReturn:
    """Run the work in the child, and end the child so that it runs no code of the parent."""
    code = 1
    try:
        _confine(parent, memory)
        with os.fdopen(said, "wb", buffering=0) as pipe:

            def send(line: bytes) -> None:
                rest = memoryview(line + b"\n")
                while rest:
                    rest = rest[pipe.write(rest) :]

            work(send)
        code = 0
    finally:
        os._exit(code)


def _confine(parent: int, memory: int) -> None:
    """Limit the child's memory, discard its output, disable its network, bind it to its parent.

    A child that hangs in a regular expression reacts only to signals. Only Linux can send a signal
    to the child when its parent dies. On other systems, the child ends when it sends its next line.
    The child has its own process group, so Ctrl-C in the terminal does not reach it.
    """
    os.setpgid(0, 0)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent died before prctl was called
        os._exit(1)
    _silence()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    bound = int(psutil.Process().memory_info().vms) + memory
    resource.setrlimit(resource.RLIMIT_AS, (bound, bound))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in ("connect", "connect_ex"):
        setattr(socket.socket, name, _refuse)
    setattr(socket, "getaddrinfo", _refuse)  # noqa: B010 - mypy rejects a plain assignment
    gc.freeze()  # so that the child continues to share the memory that its parent has loaded


def _silence() -> None:
    """Discard all output, warnings and logs, and provide an empty input."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    sys.stdin = os.fdopen(0)
    sys.stdout = sys.stderr = os.fdopen(
        1, "w", errors="replace"
    )  # because sys.stdout and sys.stderr may have been replaced
    faulthandler.disable()
    warnings.simplefilter("ignore")
    logging.disable()


def _refuse(*_: object) -> NoReturn:
    """Refuse a network connection: extractors are compared on the page that they are given."""
    raise OSError("network access is disabled while extractors are measured")
