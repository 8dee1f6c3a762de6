"""A TCP proxy in front of each broker, which cuts, delays or drops the traffic of one client.

    worker ──▶ proxy (port that the broker advertises) ──▶ broker, listener PROXIED
             up ▶                                   ◀ down

The proxy connects from an address of its own, so that Kafka's ACLs can name the client by its host.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

from demo.threaded_server import ThreadedServer

HOST = "127.0.0.1"
SOURCE = "127.0.0.9" if sys.platform == "linux" else HOST  # only Linux has all of 127.0.0.0/8
UP, DOWN = "up", "down"  # to the broker, to the client

_CHUNK = 65_536


class Proxies(ThreadedServer):
    """Proxies in front of several brokers, in a thread of their own; all share one weather.

    Attributes:
        ports: port of each proxy.
        connections: number of connections that were accepted so far.
    """

    def __init__(self, count: int) -> None:
        super().__init__(is_daemon=True)
        self._count = count
        self._targets: list[int] = []
        self._servers: list[asyncio.Server] = []
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_cut = False
        self._delay = 0.0
        self._flowing = {UP: asyncio.Event(), DOWN: asyncio.Event()}
        self._is_lossy = False
        self.ports: list[int] = []
        self.connections = 0

    def lead_to(self, targets: Sequence[int]) -> None:
        """Set the port of each broker to which its proxy leads."""
        self._targets = list(targets)

    def cut(self) -> None:
        """Close all connections, and refuse new ones."""
        self._do(self._cut)

    def delay(self, seconds: float) -> None:
        """Delay each chunk of bytes, in both directions."""
        self._do(lambda: setattr(self, "_delay", seconds))

    def hold(self, direction: str, *, lossy: bool) -> None:
        """Let nothing pass in one direction, without closing a connection.

        Args:
            direction: UP or DOWN.
            lossy: whether held connections are reset when `heal` is called; otherwise their bytes
                pass then, as TCP sends lost packets again.
        """
        self._do(lambda: self._hold(direction, lossy=lossy))

    def heal(self) -> None:
        """Let everything pass again."""
        self._do(self._heal)

    def _do(self, action: Callable[[], None]) -> None:
        """Call a function in the thread of the proxy, and wait for its end."""

        async def act() -> None:
            action()

        self._run(act())

    def _cut(self) -> None:
        self._is_cut = True
        self._reset()

    def _hold(self, direction: str, *, lossy: bool) -> None:
        self._is_lossy = lossy
        self._flowing[direction].clear()

    def _heal(self) -> None:
        self._is_cut, self._delay = False, 0.0
        if self._is_lossy:
            self._reset()
        self._is_lossy = False
        for event in self._flowing.values():
            event.set()

    def _reset(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    async def _listen(self) -> None:
        self._heal()
        for number in range(self._count):
            server = await asyncio.start_server(
                lambda reader, writer, number=number: self._accept(number, reader, writer), HOST
            )
            self._servers.append(server)
            self.ports.append(server.sockets[0].getsockname()[1])

    async def _close(self) -> None:
        for server in self._servers:
            server.close()
        self._reset()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(
        self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            if not self._is_cut:
                await self._connect(number, reader, writer)
        except (OSError, asyncio.CancelledError):
            pass  # the broker is down, or the test ends
        finally:
            self._tasks.discard(task)
            with suppress(OSError):
                writer.transport.abort()

    async def _connect(
        self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        far_reader, far_writer = await asyncio.open_connection(
            HOST, self._targets[number], local_addr=(SOURCE, 0)
        )
        both = {writer, far_writer}
        self._writers |= both
        try:
            up = asyncio.create_task(self._pump(reader, far_writer, UP))
            down = asyncio.create_task(self._pump(far_reader, writer, DOWN))
            _, pending = await asyncio.wait((up, down), return_when=asyncio.FIRST_COMPLETED)
            for task in pending:
                task.cancel()
            await asyncio.gather(up, down, return_exceptions=True)
        finally:
            self._writers -= both
            far_writer.transport.abort()

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, direction: str
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(_CHUNK):
                await asyncio.sleep(self._delay)
                await self._flowing[direction].wait()
                writer.write(data)
                await writer.drain()
