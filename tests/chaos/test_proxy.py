"""The proxy in front of a broker cuts, delays and drops as it says."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from tests.chaos.proxy import DOWN, HOST, UP, Proxies

QUIET = 0.3  # seconds in which nothing may arrive
PATIENT = 60.0


@pytest.fixture
def echo() -> Iterator[int]:
    """Yield the port of a server that sends back all that it gets."""
    server = socket.create_server((HOST, 0))

    def answer(connection: socket.socket) -> None:
        try:
            while data := connection.recv(1_000):
                connection.sendall(data)
        except OSError:
            pass

    def accept() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield server.getsockname()[1]
    server.close()


@pytest.fixture
def proxies(echo: int) -> Iterator[Proxies]:
    """Yield one proxy in front of the echo server."""
    with Proxies(1) as found:
        found.lead_to([echo])
        yield found


def connect(proxies: Proxies) -> socket.socket:
    """Return a connection through the proxy."""
    return socket.create_connection((HOST, proxies.ports[0]), timeout=PATIENT)


def is_quiet(connection: socket.socket) -> bool:
    """Return whether nothing arrives for a moment."""
    connection.settimeout(QUIET)
    try:
        return connection.recv(100) == b"never"
    except TimeoutError:
        return True
    finally:
        connection.settimeout(PATIENT)


def test_all_passes_in_fair_weather(proxies: Proxies) -> None:
    """Bytes pass in both directions."""
    with connect(proxies) as connection:
        connection.sendall(b"hello")
        assert connection.recv(100) == b"hello"


@pytest.mark.parametrize("direction", [UP, DOWN])
def test_one_direction_is_held_and_passes_later(proxies: Proxies, direction: str) -> None:
    """Nothing arrives while a direction is held; then the same bytes arrive."""
    with connect(proxies) as connection:
        proxies.hold(direction, lossy=False)
        connection.sendall(b"hello")
        assert is_quiet(connection)
        proxies.heal()
        assert connection.recv(100) == b"hello"


def ends(connection: socket.socket) -> bool:
    """Return whether the other side closes or resets the connection."""
    try:
        return connection.recv(100) == b""
    except ConnectionError:
        return True


def test_lost_packets_reset_the_connection(proxies: Proxies) -> None:
    """A connection whose bytes were lost ends when the network is well again."""
    with connect(proxies) as connection:
        proxies.hold(UP, lossy=True)
        connection.sendall(b"hello")
        assert is_quiet(connection)
        proxies.heal()
        assert ends(connection)


def test_a_cut_closes_connections_and_refuses_new_ones(proxies: Proxies) -> None:
    """Old and new connections end at once, until the network is well again."""
    with connect(proxies) as connection:
        connection.sendall(b"hello")
        assert connection.recv(100) == b"hello"
        proxies.cut()
        assert ends(connection)
    with connect(proxies) as connection:
        assert ends(connection)
    proxies.heal()
    with connect(proxies) as connection:
        connection.sendall(b"again")
        assert connection.recv(100) == b"again"


def test_bytes_are_delayed(proxies: Proxies) -> None:
    """An echo takes at least the delay of both directions."""
    with connect(proxies) as connection:
        proxies.delay(0.2)
        started = time.monotonic()
        connection.sendall(b"hello")
        assert connection.recv(100) == b"hello"
        assert time.monotonic() - started >= 0.4
