"""Find free ports of loopback for servers that start a moment later.

The ports are below the range from which systems choose ports of outgoing connections. In that range
another connection could take a port before its server listens on it. Also, a client that tries
again and again while its server is down could be given the server's own port, and connect to
itself.
"""

from __future__ import annotations

import random
import socket
from itertools import islice

_PORTS = range(20_000, 32_000)


def free_port() -> int:
    """Return a port on which no server listens now."""
    (port,) = free_ports(1)
    return port


def free_ports(count: int) -> list[int]:
    """Return several different free ports.

    Raises:
        OSError: there are not enough free ports.
    """
    # The ports are random, because several processes may choose ports at the same time.
    mixed = random.SystemRandom().sample(_PORTS, len(_PORTS))
    found = list(islice(filter(_is_free, mixed), count))
    if len(found) < count:
        raise OSError(f"127.0.0.1 has fewer than {count} free ports: end other servers")
    return found


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
