"""A small HTTP proxy on loopback, for tests."""

from __future__ import annotations

import asyncio
import ssl
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field


@dataclass
class SmallProxy:
    """The proxy.

    Attributes:
        http_port: port on 127.0.0.1 to which all requests without CONNECT are forwarded.
        refusal: status of all responses of the proxy itself; None connects.
        asked: first line of each request, with its headers by lower-case name.
        port: port of the proxy.
    """

    http_port: int
    refusal: int | None = None
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    port: int = 0

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Forward one request, or connect the client with a server."""
        with suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            line, *lines = head.decode().split("\r\n")[:-2]
            pairs = (one.split(": ", 1) for one in lines)
            self.asked.append((line, {name.lower(): value for name, value in pairs}))
            method, target, _ = line.split(" ")
            if self.refusal is not None:
                writer.write(f"HTTP/1.1 {self.refusal} No\r\nContent-Length: 0\r\n\r\n".encode())
            elif method == "CONNECT":
                host, _, port = target.rpartition(":")
                writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
                await _connect(reader, writer, host, int(port), b"")
            else:
                path = "/" + target.split("/", 3)[3]
                await _connect(
                    reader,
                    writer,
                    "127.0.0.1",
                    self.http_port,
                    head.replace(target.encode(), path.encode(), 1),
                )
        writer.close()


async def _connect(
    reader: StreamReader, writer: StreamWriter, host: str, port: int, first: bytes
) -> None:
    other_reader, other_writer = await asyncio.open_connection(host, port)
    other_writer.write(first)
    await asyncio.gather(_copy(reader, other_writer), _copy(other_reader, writer))


async def _copy(reader: StreamReader, writer: StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()


@asynccontextmanager
async def proxying(
    http_port: int, address: str = "127.0.0.5", tls: ssl.SSLContext | None = None
) -> AsyncIterator[SmallProxy]:
    """Run a proxy."""
    proxy = SmallProxy(http_port)
    server = await asyncio.start_server(proxy.serve, address, ssl=tls)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
