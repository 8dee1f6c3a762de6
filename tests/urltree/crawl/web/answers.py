"""Fixed bytes with which the misbehaving server responds, keyed by the first path segment.

The server sends these bytes and then closes the connection.
"""

from __future__ import annotations

import gzip


def answer(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """Return the bytes of a well-formed response."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def redirect(location: bytes, status: str = "302 Found") -> bytes:
    """Return the bytes of a redirect."""
    head = f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nLocation: ".encode()
    return head + location + b"\r\n\r\n"


# `fetch` holds a page with fewer than 100 words, because it may be a wall.
_WORDS = " ".join(f"The word of line {at} is read." for at in range(25)).encode()
HTML = b"<!doctype html><title>A page</title><p>Its text, long enough to be read.</p><p>" + _WORDS
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
_GZIP = "Content-Encoding: gzip"
HTML_TYPE = "Content-Type: text/html; charset=utf-8"
RSS_TYPE = "Content-Type: application/rss+xml"

ANSWERS: dict[str, bytes] = {
    # responses with a wrong or unusual body length
    "truncated-length": OK + b"Content-Length: 1000\r\n\r\nonly this",
    "truncated-chunk": CHUNKED + b"64\r\nonly this",
    "truncated-chunks": CHUNKED + b"9\r\nonly this\r\n",
    "bad-chunk": CHUNKED + b"9\r\nonly this\r\nZZ\r\nx\r\n0\r\n\r\n",
    "two-lengths": OK + b"Content-Length: 4\r\nContent-Length: 9\r\n\r\nbodybodyb",
    "equal-lengths": OK + b"Content-Length: 4\r\nX: y\r\nContent-length:4\r\n\r\nbody",
    "equal-lengths-in-a-list": OK + b"Content-Length: 4, 4\r\n\r\nbody",
    "equal-lengths-after-continue": b"HTTP/1.1 100 Continue\r\n\r\n"
    + OK
    + b"Content-Length: 4\r\nContent-Length: 4\r\n\r\nbody",
    "equal-lengths-truncated": OK + b"Content-Length: 9\r\nContent-Length: 9\r\n\r\nbody",
    "two-lengths-in-a-list": OK + b"Content-Length: 4, 9\r\n\r\nbodybodyb",
    "equal-negative-lengths": OK + b"Content-Length: -4\r\nContent-Length: -4\r\n\r\nbody",
    "negative-length": OK + b"Content-Length: -4\r\n\r\nbody",
    "huge-length": OK + b"Content-Length: 99999999999999999999999\r\n\r\nbody",
    "more-than-length": answer(b"body") + b"and more",
    "no-length": OK + b"\r\n" + HTML,
    # responses with a wrong or unusual encoding of the body
    "gzip": answer(gzip.compress(HTML), _GZIP, HTML_TYPE),
    "gzip-empty": answer(b"", _GZIP),
    "truncated-gzip": answer(gzip.compress(HTML * 100)[:-20], _GZIP),
    "fake-gzip": answer(HTML, _GZIP),
    "damaged-gzip": answer(gzip.compress(HTML)[:-8] + bytes(8), _GZIP),
    "gzip-and-identity": answer(gzip.compress(HTML), "Content-Encoding: gzip, identity"),
    "charset-as-encoding": answer(HTML, "Content-Encoding: utf-8", HTML_TYPE),
    "gzip-in-two-headers": answer(gzip.compress(HTML), "Content-Encoding: none", _GZIP),
    "brotli": answer(HTML, "Content-Encoding: br"),
    "wrong-charset": answer(
        "<title>Grüße</title><p>".encode("latin-1") + _WORDS,
        "Content-Type: text/html; charset=utf-8",
    ),
    # responses with unusual headers or an unusual status line
    "large-headers": answer(HTML, *(f"X-{n}: {'x' * 1_000}" for n in range(300))),
    "large-header": answer(HTML, "X: " + "x" * 300_000),
    "many-headers": answer(HTML, *(f"X-{n}: x" for n in range(5_000))),
    "some-headers": answer(HTML, *(f"X-{n}: {'x' * 200}" for n in range(300))),
    "half-headers": OK + b"Content-Type: text/html\r\nX-Ha",
    "http-0.9": HTML,
    "garbage": bytes(range(256)) * 4,
    "bad-status": b"HTTP/1.1 abc OK\r\n\r\n",
    "status-999": b"HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n",
    "switching": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nzz",
    "continue": b"HTTP/1.1 100 Continue\r\n\r\n" * 3 + answer(HTML, HTML_TYPE),
    "continue-garbage": b"HTTP/1.1 100 Continue\r\n\r\n\x00\xff\r\n\r\n",
    "null-in-header": answer(HTML, "X: a\0b"),
    "control-in-header": answer(HTML, "X: a\1\x7fb"),
    "repeated-headers": answer(HTML, "Vary: A", "vary: B", "VARY: A", "X-Latin: caf\xe9"),
    # redirects to unusual targets
    "redirect-loop": redirect(b"/redirect-loop"),
    "redirect-file": redirect(b"file:///etc/passwd"),
    "redirect-private": redirect(b"http://private.example/page"),
    "redirect-literal": redirect(b"http://127.0.0.2/page"),
    "redirect-metadata": redirect(b"http://169.254.169.254/latest/meta-data/"),
    "redirect-nowhere": b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n",
    "redirect-empty": redirect(b""),
    "redirect-relative": redirect(b"../page/redirect-relative?a=1#part"),
    "redirect-schemeless": redirect(b"//other.example/page/redirect-schemeless"),
    "redirect-utf-8": redirect("/grüße".encode()),
    "redirect-latin-1": redirect("/gr\xfc\xdfe".encode("latin-1")),
    "redirect-long": redirect(b"/" + b"x" * 20_000),
    "redirect-odd": redirect(b"http://[::1"),
    "moved": redirect(b"/feed", "301 Moved Permanently"),
    # responses whose status the client's callers handle
    "gone": answer(b"", status="410 Gone"),
    "false-304": answer(b"", status="304 Not Modified"),
    "error": answer(b"", status="500 Internal Server Error"),
    "wait-seconds": answer(b"", "Retry-After: 1200", status="429 Too Many Requests"),
}
