"""Behaviours of the misbehaving server that need code, keyed by the first path segment.

`answers.py` contains the responses of fixed bytes. Each behaviour returns whether the server keeps
the connection open.
"""

from __future__ import annotations

import asyncio
import gzip
import socket
import struct
import zlib
from asyncio import StreamWriter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path
from time import time

from tests.urltree.crawl.web.answers import CHUNKED, HTML, HTML_TYPE, OK, RSS_TYPE, answer, redirect

DRIP_SECONDS = 0.2
BOMB_BYTES = 500_000_000
_SOCKETS = Path("/proc/net/tcp")  # Linux's list of sockets, with the number of unread bytes of each


@dataclass(frozen=True, slots=True)
class Request:
    """Request that the server has read.

    Attributes:
        at: time of the request in seconds since 1970.
        count: number of requests for this host and path so far, including this one.
    """

    host: str
    path: str
    headers: dict[str, str]
    at: float
    count: int


def _feed(host: str, page: str = "page") -> bytes:
    items = "".join(
        f"<item><title>Item {n}</title><link>http://{host}/{page}/{n}</link>"
        f"<pubDate>Sat, 0{n} Nov 2025 06:00:00 GMT</pubDate></item>"
        for n in (1, 2, 3)
    )
    return f'<rss version="2.0"><channel><title>{host}</title>{items}</channel></rss>'.encode()


async def _page(_: Request, writer: StreamWriter) -> bool:
    writer.write(answer(HTML, HTML_TYPE))
    return True


async def _send_feed(request: Request, writer: StreamWriter) -> bool:
    writer.write(answer(_feed(request.host), RSS_TYPE, 'ETag: "1"'))
    return True


async def _feed_of(request: Request, writer: StreamWriter) -> bool:
    """Send a feed whose items link to a behaviour.

    For example, the feed at `/feed-of/hang` links to `/hang/1`, `/hang/2` and `/hang/3`.
    """
    writer.write(answer(_feed(request.host, request.path.split("/")[2]), RSS_TYPE))
    return True


async def _feed_wrong_charset(request: Request, writer: StreamWriter) -> bool:
    body = _feed(request.host).replace(b"Item", "Grüße".encode("latin-1"))
    writer.write(answer(body, f"{RSS_TYPE}; charset=utf-8"))
    return True


async def _moved_and_back(request: Request, writer: StreamWriter) -> bool:
    if request.count <= 2:
        writer.write(redirect(b"/elsewhere", "301 Moved Permanently"))
        return True
    return await _send_feed(request, writer)


async def _wait_date(_: Request, writer: StreamWriter) -> bool:
    date = formatdate(time() + 1_200, usegmt=True)
    writer.write(answer(b"", f"Retry-After: {date}", status="429 Too Many Requests"))
    return True


async def _hang(_: Request, __: StreamWriter) -> bool:
    await asyncio.sleep(3_600)
    return False


async def _hang_after_headers(request: Request, writer: StreamWriter) -> bool:
    writer.write(OK + b"Content-Length: 1000\r\n\r\n")
    return await _hang(request, writer)


async def _drip(writer: StreamWriter, beginning: bytes, chunk: bytes) -> bool:
    writer.write(beginning)
    while not writer.is_closing():
        writer.write(chunk)
        await writer.drain()
        await asyncio.sleep(DRIP_SECONDS)
    return False


async def _flood(writer: StreamWriter, beginning: bytes, chunk: bytes) -> bool:
    writer.write(beginning)
    while not writer.is_closing():
        writer.write(chunk)
        await writer.drain()
        await asyncio.sleep(0)  # without this, the loop may not see that the client closed
    return False


async def _much_then_hang(request: Request, writer: StreamWriter) -> bool:
    writer.write(OK + b"\r\n")
    for _ in range(80):
        writer.write(bytes(65_536))
        await writer.drain()
    return await _hang(request, writer)


async def _bomb(_: Request, writer: StreamWriter) -> bool:
    writer.write(OK + b"Content-Encoding: gzip\r\nContent-Type: text/html\r\n\r\n")
    writer.write(bomb())
    await writer.drain()
    return False


def bomb() -> bytes:
    """Return 500 MB of zeros as gzip with a wrong CRC: 500 times the same compressed block."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    million = bytes(1_000_000)
    block = deflate.compress(million) + deflate.flush(zlib.Z_FULL_FLUSH)
    head = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
    return head + block * (BOMB_BYTES // len(million)) + b"\x03\0" + bytes(8)


async def _close(_: Request, __: StreamWriter) -> bool:
    return False


async def _reset(_: Request, writer: StreamWriter) -> bool:
    _linger_not(writer)
    return False


async def _reset_in_body(_: Request, writer: StreamWriter) -> bool:
    writer.write(OK + b"\r\nsome of the body")
    await writer.drain()
    await asyncio.sleep(DRIP_SECONDS)
    while _is_unread(writer):  # noqa: ASYNC110 - the kernel offers no event to wait for
        await asyncio.sleep(0.01)
    _linger_not(writer)
    return False


def _is_unread(writer: StreamWriter) -> bool:
    """Return whether the client still has unread data, which a reset would discard (Linux only)."""
    ours, theirs = (writer.get_extra_info(name)[1] for name in ("sockname", "peername"))
    if not _SOCKETS.exists():
        return False
    for line in _SOCKETS.read_text().splitlines()[1:]:
        _, local, remote, _, queues, *_ = line.split()
        if (local[-4:], remote[-4:]) == (f"{theirs:04X}", f"{ours:04X}"):
            return queues[-8:] != "00000000"
    return False


def _linger_not(writer: StreamWriter) -> None:
    peer: socket.socket = writer.get_extra_info("socket")
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def _kept_then_closed(request: Request, writer: StreamWriter) -> bool:
    """Close the connection at the second request; respond normally to all other requests."""
    if request.count == 2:
        return False
    return await _page(request, writer)


_NOT_MODIFIED = b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n'
_AS_RESPONSE = answer(b"a response that nobody has requested")


async def _late_304_body(_: Request, writer: StreamWriter) -> bool:
    writer.write(_NOT_MODIFIED + f"Content-Length: {len(HTML)}\r\n\r\n".encode())
    await writer.drain()
    await asyncio.sleep(DRIP_SECONDS)
    writer.write(HTML)
    return True


def _sending(*parts: bytes) -> Behaviour:
    """Return a behaviour that sends bytes at once, and keeps the connection open."""

    async def send(_: Request, writer: StreamWriter) -> bool:
        writer.write(b"".join(parts))
        return True

    return send


Behaviour = Callable[[Request, StreamWriter], Awaitable[bool]]

BEHAVIOURS: dict[str, Behaviour] = {
    "page": _page,
    "feed": _send_feed,
    "feed-of": _feed_of,
    "feed-wrong-charset": _feed_wrong_charset,
    "moved-and-back": _moved_and_back,
    "wait-date": _wait_date,
    "hang": _hang,
    "hang-after-headers": _hang_after_headers,
    "drip-body": lambda _, writer: _drip(writer, OK + b"Content-Length: 1000\r\n\r\n", b"x"),
    "drip-headers": lambda _, writer: _drip(writer, OK + b"X: ", b"x"),
    "endless": lambda _, writer: _flood(writer, OK + b"\r\n", bytes(65_536)),
    "endless-chunks": lambda _, writer: _flood(writer, CHUNKED, b"1\r\nx\r\n" * 10_000),
    "endless-continue": lambda _, writer: _flood(
        writer, b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000
    ),
    "endless-members": lambda _, writer: _flood(
        writer, OK + b"Content-Encoding: gzip\r\n\r\n", gzip.compress(b"") * 1_000
    ),
    "much-then-hang": _much_then_hang,
    "bomb": _bomb,
    "close": _close,
    "reset": _reset,
    "reset-in-body": _reset_in_body,
    "304-with-length": _sending(
        _NOT_MODIFIED, f"Content-Length: {len(HTML)}\r\n\r\n".encode(), HTML
    ),
    "304-with-chunks": _sending(
        _NOT_MODIFIED, b"Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"
    ),
    "304-without-length": _sending(_NOT_MODIFIED, b"\r\n", HTML),
    "304-with-response": _sending(_NOT_MODIFIED, b"\r\n", _AS_RESPONSE),
    "304-with-late-body": _late_304_body,
    "304-with-length-alone": _sending(_NOT_MODIFIED, b"Content-Length: 4\r\n\r\n"),
    "304": _sending(_NOT_MODIFIED, b"\r\n"),
    "204-with-body": _sending(b"HTTP/1.1 204 No Content\r\n\r\n", HTML),
    "response-beside": _sending(answer(HTML), _AS_RESPONSE),
    "kept-then-closed": _kept_then_closed,
}
