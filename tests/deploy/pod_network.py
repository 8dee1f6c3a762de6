"""The network of a pod: its own loopback, with relays ("doors") to ports of the machine.

    pod                                      machine
    kafka.kafka.svc:9093 ─▶ 127.0.0.1:9093 ─▶ relay ─▶ 127.0.0.1:PORT, the embedded Kafka
    0.0.0.0:8080 ◀────────── socket made inside ◀───── probes, as the kubelet asks

So a worker uses the rendered names and ports, and two pods may both use port 8080. One thread of
this process is in the namespace; the sockets and processes that it creates belong to the namespace.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Thread
from typing import TypeVar

_NEW_NETWORK = 0x40000000  # CLONE_NEWNET in sched.h
_SET_FLAGS = 0x8914  # SIOCSIFFLAGS in linux/sockios.h
_UP = 1  # IFF_UP
_CHUNK = 1 << 16

Result = TypeVar("Result")


class Network:
    """A network namespace; needs root.

    Args:
        doors: port on the machine's loopback, by port on the pod's loopback.

    Raises:
        OSError: the kernel does not allow a network namespace.
    """

    def __init__(self, doors: Mapping[int, int]) -> None:
        self._thread = ThreadPoolExecutor(1, "pod")
        self.inside(_enter)
        self._listeners = [self._open(port, target) for port, target in doors.items()]

    def inside(self, make: Callable[[], Result]) -> Result:
        """Call a function; the sockets that it creates belong to the pod's network."""
        return self._thread.submit(make).result()

    def connect(self, port: int, seconds: float) -> socket.socket:
        """Return a connection to a port of the pod.

        Raises:
            OSError: no program listens on the port, or there is no connection in time.
        """
        return self.inside(lambda: socket.create_connection(("127.0.0.1", port), seconds))

    def close(self) -> None:
        """Close the relays and end the thread."""
        for listener in self._listeners:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        self._thread.shutdown()

    def _open(self, port: int, target: int) -> socket.socket:
        listener = self.inside(lambda: socket.create_server(("127.0.0.1", port)))
        Thread(target=_relay, args=(listener, target), daemon=True).start()
        return listener


def _enter() -> None:
    """Move only the calling thread to a new network namespace; see unshare(2)."""
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_NETWORK):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    with socket.socket() as control:
        fcntl.ioctl(control, _SET_FLAGS, struct.pack("16sH22x", b"lo", _UP))


def _relay(listener: socket.socket, target: int) -> None:
    with suppress(OSError):
        while True:
            inner, _ = listener.accept()
            try:
                outer = socket.create_connection(("127.0.0.1", target))
            except OSError:
                inner.close()
                continue
            for pair in ((inner, outer), (outer, inner)):
                Thread(target=_copy, args=pair, daemon=True).start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    """Copy bytes from one socket to the other until one side closes, then close both."""
    with suppress(OSError):
        while data := source.recv(_CHUNK):
            target.sendall(data)
    for each in (source, target):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
