"""A web server at several loopback addresses; it holds its responses until it is told to go on."""

from __future__ import annotations

import asyncio
import socket
from asyncio import StreamReader, StreamWriter
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from ipaddress import ip_network

from aiohttp.abc import ResolveResult

from tests.agents.limits import GUARD, OF_ANSWERS
from tests.urltree.crawl.web.answers import HTML, answer
from urltree.crawl.web.options import ClientOptions
from urltree.crawl.web.resolver import Resolver


class HoldingServer:
    """The server.

    Attributes:
        at_once: number of requests that are held now, by the address of the server.
        most_at_once: largest such number so far.
        hosts: hosts that were requested, by address, in order.
    """

    def __init__(self, *free: str) -> None:
        self.port = 0
        self.at_once: Counter[str] = Counter()
        self.most_at_once: Counter[str] = Counter()
        self.hosts: defaultdict[str, list[str]] = defaultdict(list)
        self._go_on: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        for address in free:
            self.release(address)

    def release(self, address: str) -> None:
        """Send the held responses of an address, and hold no more."""
        self._go_on[address].set()

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Respond to the requests of a connection."""
        address = writer.get_extra_info("sockname")[0]
        with suppress(OSError, asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                host = head.split("Host: ")[1].split("\r\n")[0]
                self.hosts[address].append(host)
                self.at_once[address] += 1
                self.most_at_once[address] = max(self.most_at_once[address], self.at_once[address])
                try:
                    await self._go_on[address].wait()
                finally:
                    self.at_once[address] -= 1
                writer.write(answer(HTML))
                await writer.drain()
        writer.close()


@asynccontextmanager
async def holding(*addresses: str, free: Sequence[str] = ()) -> AsyncIterator[HoldingServer]:
    """Run a server at loopback addresses. It does not hold the requests to those in `free`."""
    server = HoldingServer(*free)
    running: list[asyncio.Server] = []
    try:
        for address in addresses:
            running.append(await asyncio.start_server(server.serve, address, server.port))
            server.port = running[0].sockets[0].getsockname()[1]
        yield server
    finally:
        for address in addresses:
            server.release(address)
        for one in running:
            one.close()


def options(**change: object) -> ClientOptions:
    """Return options with which a client may connect to the server."""
    chosen: dict[str, object] = {**OF_ANSWERS, "allow_networks": (ip_network("127.0.0.0/28"),)}
    return ClientOptions(**(chosen | change))  # type: ignore[arg-type]


class Names(Resolver):
    """A resolver with a fixed table of names.

    Args:
        port: port of the server.
        table: addresses by name.
    """

    def __init__(self, port: int, table: Mapping[str, Sequence[str]]) -> None:
        super().__init__()
        self.port = port
        self.table = dict(table)

    async def resolve(
        self,
        host: str,
        port: int = 0,  # noqa: ARG002 - aiohttp's interface of a resolver
        family: socket.AddressFamily = socket.AF_UNSPEC,  # noqa: ARG002
    ) -> list[ResolveResult]:
        """Return the addresses of a name."""
        if host not in self.table:
            raise OSError(socket.EAI_NONAME, "unknown name")
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=self.port,
                family=socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for address in self.table[host]
        ]


async def until(condition: Callable[[], bool]) -> None:
    """Wait until a function returns True."""
    async with asyncio.timeout(GUARD):
        while not condition():  # noqa: ASYNC110 - the conditions are not events
            await asyncio.sleep(0.005)
