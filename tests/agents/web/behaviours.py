"""What the misbehaving server does, by the first part of a path: bytes, or a coroutine.

Names are the paths, `/drip-body` and so on. Bytes are sent and the connection is closed; a
coroutine says whether the connection is kept.
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
from time import time

DRIP_SECONDS = 0.2
BOMB_BYTES = 500_000_000


@dataclass(frozen=True, slots=True)
class Request:
    """A request as the server read it; `count` is how often host and path were asked, from 1."""

    host: str
    path: str
    headers: dict[str, str]
    at: float
    count: int


def answer(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """Bytes of a well-formed answer."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def redirect(location: bytes, status: str = "302 Found") -> bytes:
    """Bytes of a redirect."""
    head = f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nLocation: ".encode()
    return head + location + b"\r\n\r\n"


HTML = b"<!doctype html><title>A page</title><p>Its text, long enough to be read.</p>"
_OK = b"HTTP/1.1 200 OK\r\n"
_CHUNKED = _OK + b"Transfer-Encoding: chunked\r\n\r\n"
_GZIP = "Content-Encoding: gzip"
_HTML = "Content-Type: text/html; charset=utf-8"
_RSS = "Content-Type: application/rss+xml"

ANSWERS: dict[str, bytes] = {
    # the length of a body
    "truncated-length": _OK + b"Content-Length: 1000\r\n\r\nonly this",
    "truncated-chunk": _CHUNKED + b"64\r\nonly this",
    "truncated-chunks": _CHUNKED + b"9\r\nonly this\r\n",
    "bad-chunk": _CHUNKED + b"9\r\nonly this\r\nZZ\r\nx\r\n0\r\n\r\n",
    "two-lengths": _OK + b"Content-Length: 4\r\nContent-Length: 9\r\n\r\nbodybodyb",
    "negative-length": _OK + b"Content-Length: -4\r\n\r\nbody",
    "huge-length": _OK + b"Content-Length: 99999999999999999999999\r\n\r\nbody",
    "more-than-length": answer(b"body") + b"and more",
    "no-length": _OK + b"\r\nbody",
    # its encoding
    "gzip": answer(gzip.compress(HTML), _GZIP, _HTML),
    "gzip-empty": answer(b"", _GZIP),
    "truncated-gzip": answer(gzip.compress(HTML * 100)[:-20], _GZIP),
    "fake-gzip": answer(HTML, _GZIP),
    "damaged-gzip": answer(gzip.compress(HTML)[:-8] + bytes(8), _GZIP),
    "brotli": answer(HTML, "Content-Encoding: br"),
    "wrong-charset": answer(
        "<title>Grüße</title>".encode("latin-1"), "Content-Type: text/html; charset=utf-8"
    ),
    # headers and the status line
    "large-headers": answer(HTML, *(f"X-{n}: {'x' * 1_000}" for n in range(300))),
    "large-header": answer(HTML, "X: " + "x" * 300_000),
    "many-headers": answer(HTML, *(f"X-{n}: x" for n in range(5_000))),
    "some-headers": answer(HTML, *(f"X-{n}: {'x' * 200}" for n in range(300))),
    "half-headers": _OK + b"Content-Type: text/html\r\nX-Ha",
    "http-0.9": HTML,
    "garbage": bytes(range(256)) * 4,
    "bad-status": b"HTTP/1.1 abc OK\r\n\r\n",
    "status-999": b"HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n",
    "switching": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nzz",
    "continue": b"HTTP/1.1 100 Continue\r\n\r\n" * 3 + answer(HTML, _HTML),
    "continue-garbage": b"HTTP/1.1 100 Continue\r\n\r\n\x00\xff\r\n\r\n",
    "null-in-header": answer(HTML, "X: a\0b"),
    "control-in-header": answer(HTML, "X: a\1\x7fb"),
    "repeated-headers": answer(HTML, "Vary: A", "vary: B", "VARY: A", "X-Latin: caf\xe9"),
    # where it points
    "redirect-loop": redirect(b"/redirect-loop"),
    "redirect-file": redirect(b"file:///etc/passwd"),
    "redirect-private": redirect(b"http://private.example/page"),
    "redirect-literal": redirect(b"http://127.0.0.2/page"),
    "redirect-metadata": redirect(b"http://169.254.169.254/latest/meta-data/"),
    "redirect-nowhere": b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n",
    "redirect-empty": redirect(b""),
    "redirect-relative": redirect(b"../page?a=1#part"),
    "redirect-schemeless": redirect(b"//other.example/page"),
    "redirect-utf-8": redirect("/grüße".encode()),
    "redirect-latin-1": redirect("/gr\xfc\xdfe".encode("latin-1")),
    "redirect-long": redirect(b"/" + b"x" * 20_000),
    "redirect-odd": redirect(b"http://[::1"),
    "moved": redirect(b"/feed", "301 Moved Permanently"),
    # statuses that callers judge
    "gone": answer(b"", status="410 Gone"),
    "false-304": answer(b"", status="304 Not Modified"),
    "error": answer(b"", status="500 Internal Server Error"),
    "wait-seconds": answer(b"", "Retry-After: 120", status="429 Too Many Requests"),
}


def _feed(host: str) -> bytes:
    items = "".join(
        f"<item><title>Item {n}</title><link>http://{host}/page/{n}</link>"
        f"<pubDate>Sat, 0{n} Nov 2025 06:00:00 GMT</pubDate></item>"
        for n in (1, 2, 3)
    )
    return f'<rss version="2.0"><channel><title>{host}</title>{items}</channel></rss>'.encode()


async def _page(_: Request, writer: StreamWriter) -> bool:
    writer.write(answer(HTML, _HTML))
    return True


async def _send_feed(request: Request, writer: StreamWriter) -> bool:
    writer.write(answer(_feed(request.host), _RSS, 'ETag: "1"'))
    return True


async def _moved_and_back(request: Request, writer: StreamWriter) -> bool:
    if request.count <= 2:
        writer.write(redirect(b"/elsewhere", "301 Moved Permanently"))
        return True
    return await _send_feed(request, writer)


async def _wait_date(_: Request, writer: StreamWriter) -> bool:
    date = formatdate(time() + 120, usegmt=True)
    writer.write(answer(b"", f"Retry-After: {date}", status="429 Too Many Requests"))
    return True


async def _hang(_: Request, __: StreamWriter) -> bool:
    await asyncio.sleep(3_600)
    return False


async def _hang_after_headers(request: Request, writer: StreamWriter) -> bool:
    writer.write(_OK + b"Content-Length: 1000\r\n\r\n")
    return await _hang(request, writer)


async def _drip(writer: StreamWriter, beginning: bytes, piece: bytes) -> bool:
    writer.write(beginning)
    while not writer.is_closing():
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(DRIP_SECONDS)
    return False


async def _flood(writer: StreamWriter, beginning: bytes, piece: bytes) -> bool:
    writer.write(beginning)
    while not writer.is_closing():
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0)  # drain alone need not give way, so that its end is never seen
    return False


async def _bomb(_: Request, writer: StreamWriter) -> bool:
    writer.write(_OK + b"Content-Encoding: gzip\r\nContent-Type: text/html\r\n\r\n")
    writer.write(bomb())
    await writer.drain()
    return False


def bomb() -> bytes:
    """500 MB of zeros in gzip: a block, aligned to bytes, five hundred times; its CRC is wrong."""
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
    writer.write(_OK + b"\r\nsome of the body")
    await writer.drain()
    await asyncio.sleep(DRIP_SECONDS)
    _linger_not(writer)
    return False


def _linger_not(writer: StreamWriter) -> None:
    peer: socket.socket = writer.get_extra_info("socket")
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def _kept_then_closed(request: Request, writer: StreamWriter) -> bool:
    """Closes a kept connection just when it is used again, which only a second try survives."""
    if request.count == 2:
        return False
    return await _page(request, writer)


Behaviour = Callable[[Request, StreamWriter], Awaitable[bool]]

BEHAVIOURS: dict[str, Behaviour] = {
    "page": _page,
    "feed": _send_feed,
    "moved-and-back": _moved_and_back,
    "wait-date": _wait_date,
    "hang": _hang,
    "hang-after-headers": _hang_after_headers,
    "drip-body": lambda _, writer: _drip(writer, _OK + b"Content-Length: 1000\r\n\r\n", b"x"),
    "drip-headers": lambda _, writer: _drip(writer, _OK + b"X: ", b"x"),
    "endless": lambda _, writer: _flood(writer, _OK + b"\r\n", bytes(65_536)),
    "endless-chunks": lambda _, writer: _flood(writer, _CHUNKED, b"1\r\nx\r\n" * 10_000),
    "endless-continue": lambda _, writer: _flood(
        writer, b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000
    ),
    "endless-members": lambda _, writer: _flood(
        writer, _OK + b"Content-Encoding: gzip\r\n\r\n", gzip.compress(b"") * 1_000
    ),
    "bomb": _bomb,
    "close": _close,
    "reset": _reset,
    "reset-in-body": _reset_in_body,
    "kept-then-closed": _kept_then_closed,
}
