"""A web server on loopback that violates the rules of HTTP in many ways.

    async with Misbehaving() as server:       # or `with running() as server:` in a thread
        settings = Settings(**server.settings)
        ... http://any.example/drip-body, https://expired.example/page, ...

`answers.py` and `behaviours.py` list the paths. With these settings (`connect_to`), a request for
any host name reaches this server over http and https, with these exceptions:

    private.example      leads to 127.0.0.2: the server listens there, but clients may not connect
    refused.example      leads to a port that refuses connections
    garbage-tls.example  over https: responds with bytes that are not TLS
    silent-tls.example   over https: does not respond
    expired.* wrong-name.* self-signed.*      over https: invalid certificates

`python -m tests.urltree.crawl.web.misbehaving` prints the settings as JSON and serves until its
input ends.
"""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import sys
import tempfile
import threading
from asyncio import StreamReader, StreamWriter
from collections import Counter
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import time
from types import TracebackType
from typing import Self

from tests.agents.limits import GUARD
from tests.urltree.crawl.web.answers import ANSWERS, answer
from tests.urltree.crawl.web.behaviours import BEHAVIOURS, Request
from tests.urltree.crawl.web.certificates import Certificates

_MAX_REQUEST = 64 * 1024


class Misbehaving:
    """Web server on loopback that violates the rules of HTTP, so that clients can be tested.

    Attributes:
        requests: all requests that were read, in order.
        connections: number of connections that were made to the public address.
        private_connections: number of connections to 127.0.0.2; a correct client makes none.
        most_at_once: maximum number of simultaneous requests to each host.
        raw: bytes that the server sends as the response to `/raw`.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.connections = self.private_connections = 0
        self.most_at_once: Counter[str] = Counter()
        self.raw = b""
        self._at_once: Counter[str] = Counter()
        self._counts: Counter[tuple[str, str]] = Counter()
        self._folder = tempfile.TemporaryDirectory(prefix="misbehaving-")
        self._certificates = Certificates(Path(self._folder.name))
        self._servers: list[asyncio.Server] = []
        self._refusing = _taken()
        self._tasks: set[asyncio.Task[None]] = set()
        self.http_port = self.https_port = self.silent_port = 0

    @property
    def ca_file(self) -> Path:
        """Path of the certificate of the authority that signs the valid certificates."""
        return self._certificates.ca_file

    @property
    def settings(self) -> dict[str, str]:
        """Settings with which a client reaches this server under any host name."""
        http, https = f"127.0.0.1:{self.http_port}", f"127.0.0.1:{self.https_port}"
        rules = (
            f"private.example::127.0.0.2:{self.http_port}",
            f"refused.example::127.0.0.1:{self._refusing.getsockname()[1]}",
            f"garbage-tls.example:443:{http}",
            f"silent-tls.example:443:127.0.0.1:{self.silent_port}",
            f":80:{http}",
            f":443:{https}",
        )
        return {
            "connect_to": ",".join(rules),
            "allow_networks": "127.0.0.1/32",
            "fetch_ca_file": str(self.ca_file),
            "requests_per_address": "1000",  # all hosts have the same address
        }

    async def __aenter__(self) -> Self:
        public = await self._listen("127.0.0.1", None)
        self.http_port = _port(public)
        await self._listen("127.0.0.2", None, self.http_port)
        self.https_port = _port(await self._listen("127.0.0.1", self._certificates.context()))
        silent = await asyncio.start_server(self._ignore, "127.0.0.1", 0)
        self.silent_port = _port(silent)
        self._servers.append(silent)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for server in self._servers:
            server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._refusing.close()
        self._folder.cleanup()

    async def _listen(self, host: str, tls: ssl.SSLContext | None, port: int = 0) -> asyncio.Server:
        server = await asyncio.start_server(
            self._accept, host, port, ssl=tls, limit=_MAX_REQUEST, start_serving=True
        )
        self._servers.append(server)
        return server

    def _ignore(self, _: StreamReader, writer: StreamWriter) -> None:
        self._start(asyncio.sleep(3_600), writer)

    def _accept(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._start(self._serve(reader, writer), writer)

    def _start(self, work: Awaitable[None], writer: StreamWriter) -> None:
        async def run() -> None:
            try:
                with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                    await work
            finally:
                writer.close()

        task = asyncio.get_running_loop().create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        if writer.get_extra_info("sockname")[0] == "127.0.0.2":
            self.private_connections += 1
        else:
            self.connections += 1
        is_kept = True
        while is_kept:
            first = await reader.readexactly(1)
            if first == b"\x16":  # a TLS handshake
                writer.write(b"220 no TLS here\r\n")
                return
            request = self._read(first + await reader.readuntil(b"\r\n\r\n"))
            self._at_once[request.host] += 1
            self.most_at_once[request.host] = max(
                self.most_at_once[request.host], self._at_once[request.host]
            )
            try:
                is_kept = await self._behave(request, writer)
                await writer.drain()
            finally:
                self._at_once[request.host] -= 1

    def _read(self, head: bytes) -> Request:
        first, *lines = head.decode("latin-1").split("\r\n")
        pairs = (line.split(": ", 1) for line in lines if line)
        headers = {name.lower(): value for name, value in pairs}
        host, path = headers["host"], first.split(" ")[1]
        self._counts[host, path] += 1
        request = Request(host, path, headers, time(), self._counts[host, path])
        self.requests.append(request)
        return request

    async def _behave(self, request: Request, writer: StreamWriter) -> bool:
        name = request.path.split("?")[0].split("/")[1]
        if name in BEHAVIOURS:
            return await BEHAVIOURS[name](request, writer)
        if name == "raw":
            writer.write(self.raw)
        else:
            writer.write(ANSWERS.get(name) or answer(b"", status="404 Not Found"))
        return False


def _port(server: asyncio.Server) -> int:
    port: int = server.sockets[0].getsockname()[1]
    return port


def _taken() -> socket.socket:
    """Reserve a port that refuses connections; no other process can listen at a bound port."""
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    return taken


@contextmanager
def running() -> Iterator[Misbehaving]:
    """Run the server in a thread, for tests without an event loop."""
    started, ended = threading.Event(), asyncio.Event()
    server, loop = Misbehaving(), asyncio.new_event_loop()

    async def serve() -> None:
        async with server:
            started.set()
            await ended.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    try:
        if not started.wait(GUARD):
            raise RuntimeError("the misbehaving server did not start")
        yield server
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
        loop.close()


if __name__ == "__main__":
    with running() as misbehaving:
        print(json.dumps(misbehaving.settings), flush=True)  # noqa: T201 - the caller reads it
        sys.stdin.read()
