"""Free ports of loopback, for what is started now and listens a moment later.

They lie below those that systems give to outgoing connections, of which one could take a port
before its listener does. And a client that keeps knocking while its server is down would be given
the server's own port, and connect to itself.
"""

from __future__ import annotations

import random
import socket
from itertools import islice

_PORTS = range(20_000, 32_000)


def free_port() -> int:
    """A port that nobody listens on now."""
    (port,) = free_ports(1)
    return port


def free_ports(count: int) -> list[int]:
    """So many of them, each another.

    Raises:
        OSError: there are not so many.
    """
    mixed = random.SystemRandom().sample(_PORTS, len(_PORTS))  # processes choose at the same time
    found = list(islice(filter(_is_free, mixed), count))
    if len(found) < count:
        raise OSError("no free port on 127.0.0.1")
    return found


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
