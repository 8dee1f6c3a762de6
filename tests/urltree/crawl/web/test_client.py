from __future__ import annotations

import asyncio

import pytest

from agents.settings.job import Settings
from tests.agents.limits import GUARD
from tests.urltree.crawl.web.answers import ANSWERS, HTML, redirect
from tests.urltree.crawl.web.conftest import MAX_BYTES, Ask
from tests.urltree.crawl.web.misbehaving import Misbehaving
from urltree.crawl.decisions.response import Trouble, WebError
from urltree.crawl.web import client as clients
from urltree.crawl.web.client import WebClient
from urltree.crawl.web.redirects import redirect_target

SHORT = {"header_seconds": 1.0, "read_seconds": 1.0, "total_seconds": 1.5}
NO_CONNECTION = {Trouble.DNS: {"connect_to": ()}, Trouble.CONNECT: {"connect_seconds": 0.7}}


@pytest.mark.parametrize(
    ("path", "trouble"),
    [
        ("bomb", Trouble.TOO_LARGE),
        ("endless", Trouble.TOO_LARGE),
        ("truncated-length", Trouble.TRUNCATED),
        ("truncated-chunk", Trouble.TRUNCATED),
        ("truncated-chunks", Trouble.TRUNCATED),
        ("truncated-gzip", Trouble.TRUNCATED),
        ("reset-in-body", Trouble.TRUNCATED),
        ("half-headers", Trouble.TRUNCATED),
        ("fake-gzip", Trouble.ENCODING),
        ("damaged-gzip", Trouble.ENCODING),
        ("endless-members", Trouble.ENCODING),
        ("brotli", Trouble.ENCODING),
        ("large-headers", Trouble.HEADERS_TOO_LARGE),
        ("large-header", Trouble.HEADERS_TOO_LARGE),
        ("many-headers", Trouble.HEADERS_TOO_LARGE),
        ("some-headers", Trouble.HEADERS_TOO_LARGE),
        ("http-0.9", Trouble.PROTOCOL),
        ("garbage", Trouble.PROTOCOL),
        ("bad-status", Trouble.PROTOCOL),
        ("bad-chunk", Trouble.PROTOCOL),
        ("status-999", Trouble.PROTOCOL),
        ("switching", Trouble.PROTOCOL),
        ("continue-garbage", Trouble.PROTOCOL),
        ("null-in-header", Trouble.PROTOCOL),
        ("more-than-length", Trouble.PROTOCOL),
        ("two-lengths", Trouble.PROTOCOL),
        ("two-lengths-in-a-list", Trouble.PROTOCOL),
        ("equal-negative-lengths", Trouble.PROTOCOL),
        ("equal-lengths-truncated", Trouble.TRUNCATED),
        ("negative-length", Trouble.PROTOCOL),
        ("huge-length", Trouble.PROTOCOL),
        ("endless-chunks", Trouble.PROTOCOL),
        ("endless-continue", Trouble.PROTOCOL),
        ("close", Trouble.CONNECT),
        ("reset", Trouble.CONNECT),
    ],
)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_each_misbehaviour_ends_in_its_trouble_before_any_limit(
    ask: Ask, scheme: str, path: str, trouble: Trouble
) -> None:
    """Each kind of invalid response raises its own error at once, not a `timeout` later."""
    with pytest.raises(WebError) as raised:
        ask(f"{scheme}://any.example/{path}")
    assert raised.value.trouble is trouble, raised.value.message


def test_what_never_ends_is_ended(settings: Settings) -> None:
    """If headers or a body arrive too slowly or not at all, the error is `timeout`."""
    paths = ("hang", "hang-after-headers", "drip-headers", "drip-body")
    urls = [f"{scheme}://{path}.example/{path}" for scheme in ("http", "https") for path in paths]

    async def all_of_them() -> list[object]:
        async with (
            asyncio.timeout(GUARD),
            WebClient(settings.model_copy(update=SHORT).client) as client,
        ):
            asked = (client.get(url, max_bytes=MAX_BYTES) for url in urls)
            return await asyncio.gather(*asked, return_exceptions=True)

    troubles = [getattr(error, "trouble", error) for error in asyncio.run(all_of_them())]
    assert troubles == [Trouble.TIMEOUT] * len(urls)


@pytest.mark.parametrize(
    ("url", "trouble"),
    [
        ("https://expired.example/page", Trouble.TLS),
        ("https://wrong-name.example/page", Trouble.TLS),
        ("https://self-signed.example/page", Trouble.TLS),
        ("https://garbage-tls.example/page", Trouble.TLS),
        ("https://silent-tls.example/page", Trouble.CONNECT),
        ("http://refused.example/page", Trouble.CONNECT),
        ("http://bad..name/page", Trouble.DNS),
        (f"http://{'x' * 64}.example/page", Trouble.DNS),
        ("ftp://any.example/page", Trouble.REDIRECT),
        ("file:///etc/passwd", Trouble.REDIRECT),
        ("page", Trouble.REDIRECT),
        ("http://\ud800/", Trouble.REDIRECT),
        ("", Trouble.REDIRECT),
    ],
)
def test_what_cannot_be_connected_to_says_why(ask: Ask, url: str, trouble: Trouble) -> None:
    """The error names the cause: an invalid certificate, name or scheme, or an unreachable port."""
    with pytest.raises(WebError) as raised:
        ask(url, change=NO_CONNECTION.get(trouble))
    assert raised.value.trouble is trouble, raised.value.message


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("page", HTML),
        ("gzip", HTML),
        ("gzip-empty", b""),
        ("continue", HTML),
        ("no-length", HTML),
        ("control-in-header", HTML),
        ("gzip-and-identity", HTML),
        ("gzip-in-two-headers", HTML),
        ("charset-as-encoding", HTML),
        ("equal-lengths", b"body"),
        ("equal-lengths-in-a-list", b"body"),
        ("equal-lengths-after-continue", b"body"),
    ],
)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_what_browsers_forgive_is_an_answer(ask: Ask, scheme: str, path: str, body: bytes) -> None:
    """The client accepts unusual responses that browsers accept, if their body is complete."""
    (answer,) = ask(f"{scheme}://any.example/{path}")
    assert (answer.status, answer.body) == (200, body)


@pytest.mark.parametrize(
    ("path", "status"),
    [("moved", 301), ("redirect-loop", 302), ("gone", 410), ("error", 500), ("false-304", 304)],
)
def test_a_status_is_an_answer_and_nobody_follows_it(ask: Ask, path: str, status: int) -> None:
    """The client returns redirects and error statuses as responses; its caller handles them."""
    (answer,) = ask(f"http://any.example/{path}")
    assert (answer.status, answer.is_redirect) == (status, status in (301, 302))


def test_a_body_of_exactly_the_limit_is_taken(ask: Ask) -> None:
    """The client accepts a body of exactly `max_bytes` and rejects a body of one byte more."""
    (answer,) = ask("http://any.example/gzip", max_bytes=len(HTML))
    assert answer.body == HTML
    for path in ("gzip", "page"):
        with pytest.raises(WebError) as raised:
            ask(f"http://any.example/{path}", max_bytes=len(HTML) - 1)
        assert raised.value.trouble is Trouble.TOO_LARGE


@pytest.mark.parametrize(
    "path",
    [
        *("304", "304-with-length", "304-with-chunks", "304-without-length", "304-with-response"),
        *("304-with-late-body", "304-with-length-alone", "204-with-body"),
    ],
)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_body_after_a_304_is_dropped(ask: Ask, scheme: str, path: str) -> None:
    """A 304 or 204 with a body counts, and its body is not taken for the next response."""
    first, second = ask(f"{scheme}://{path}.example/{path}", f"{scheme}://{path}.example/page")
    assert (first.status, first.body) == (int(path[:3]), b"")
    assert (second.status, second.body) == (200, HTML)


def test_a_304_without_body_keeps_its_connection(ask: Ask, server: Misbehaving) -> None:
    """A correct 304 costs no connection."""
    before = server.connections
    ask("http://kept-304.example/304", "http://kept-304.example/page")
    assert server.connections == before + 1


@pytest.mark.parametrize("limit", [0, 100, MAX_BYTES])
@pytest.mark.parametrize("path", ["endless", "bomb", "much-then-hang"])
def test_a_body_above_the_limit_can_be_cut(ask: Ask, path: str, limit: int) -> None:
    """With `cut`, the beginning of a larger body is a response, also of a compression bomb."""
    (answer,) = ask(f"http://any.example/{path}", cut=True, max_bytes=limit)
    assert (answer.body, answer.is_cut) == (bytes(limit), True)


def test_a_body_within_the_limit_is_not_cut(ask: Ask) -> None:
    """With `cut`, a body of at most `max_bytes` is complete."""
    for path in ("page", "gzip"):
        (answer,) = ask(f"http://any.example/{path}", cut=True, max_bytes=len(HTML))
        assert (answer.body, answer.is_cut) == (HTML, False)
        (answer,) = ask(f"http://any.example/{path}", cut=True, max_bytes=len(HTML) - 1)
        assert (answer.body, answer.is_cut) == (HTML[:-1], True)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_password_in_a_url_is_not_sent(ask: Ask, server: Misbehaving, scheme: str) -> None:
    """No request has an Authorization header, also not after a redirect to such a URL."""
    host = f"no-password-{scheme}.example"
    server.raw = redirect(f"{scheme}://user:secret@{host}/page".encode())
    (moved,) = ask(f"{scheme}://user:secret@{host}/raw")
    (answer,) = ask(redirect_target(moved))
    asked = [request for request in server.requests if request.host == host]
    assert [request.path for request in asked] == ["/raw", "/page"]
    assert all("authorization" not in request.headers for request in asked)
    assert "secret" not in moved.url + answer.url


@pytest.mark.parametrize(
    "url",
    [
        *("http://user:secret@refused.example/", "https://user:secret@expired.example/"),
        *("http://user:secret@any.example/garbage", "http://user:secret@any.example/hang"),
        *("ftp://user:secret@any.example/", "http://user:secret@private.example/"),
    ],
)
def test_no_error_shows_a_password(ask: Ask, url: str) -> None:
    """The message of a failed request does not contain the password of its URL."""
    with pytest.raises(WebError) as raised:
        ask(url, change={"header_seconds": 1.0})
    assert "secret" not in raised.value.message


def test_headers_are_joined_and_readable(ask: Ask) -> None:
    """Header names become lower case, and the different values of repeated headers are joined.

    Control characters are removed. Bytes that are not UTF-8 are decoded as Latin-1.
    """
    paths = ("repeated-headers", "control-in-header")
    repeated, control = ask(*(f"http://a.example/{path}" for path in paths))
    assert repeated.headers["vary"] == "A, B"
    assert repeated.headers["x-latin"] == "café"
    assert control.headers["x"] == "ab"


def test_a_request_says_who_asks_and_asks_for_gzip_alone(ask: Ask, server: Misbehaving) -> None:
    """A request has our User-Agent and accepts only gzip.

    The URL and the caller's headers are sent unchanged.
    """
    url = "https://honest.example/page/%7e%2F%zz?b=%20&a=+&a"
    ask(url, headers={"If-None-Match": 'W/"é"'})
    (request,) = (request for request in server.requests if request.host == "honest.example")
    assert request.path == "/page/%7e%2F%zz?b=%20&a=+&a"
    assert request.headers["user-agent"].startswith("urltree/")
    assert request.headers["user-agent"].endswith("(+me@example.org)")
    assert request.headers["accept-encoding"] == "gzip"
    assert request.headers["if-none-match"].encode("latin-1").decode() == 'W/"é"'


def test_a_body_that_is_not_wanted_is_not_read(ask: Ask) -> None:
    """The client does not read a body for which `wants` returns False, even an endless one."""
    (answer,) = ask("http://any.example/endless", wants=lambda status, _: status != 200)
    assert (answer.status, answer.body) == (200, b"")


def test_an_unwanted_header_of_a_request_is_an_error_of_ours(ask: Ask) -> None:
    """A header value with a line break is refused, because it would add a second header."""
    with pytest.raises(WebError) as raised:
        ask("http://any.example/page", headers={"If-None-Match": "a\r\nX: b"})
    assert raised.value.trouble is Trouble.PROTOCOL


@pytest.mark.parametrize("path", ["close", "reset"])
def test_a_server_that_closes_is_asked_once(ask: Ask, server: Misbehaving, path: str) -> None:
    """The client does not repeat a request at once if the server closes a new connection.

    A repetition would ignore the pause between two requests to a host.
    """
    with pytest.raises(WebError):
        ask(f"http://once-{path}.example/{path}")
    assert sum(request.host == f"once-{path}.example" for request in server.requests) == 1


def test_a_kept_connection_that_was_closed_meanwhile_is_no_trouble(
    ask: Ask, server: Misbehaving, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request whose kept connection was closed is repeated on a new one (RFC 9112, 9.3.1)."""
    monkeypatch.setattr(clients, "_KEPT_SECONDS", GUARD)  # longer than a pause of the machine
    answers = ask(*["http://kept.example/kept-then-closed"] * 2)
    assert [answer.body for answer in answers] == [HTML, HTML]
    assert sum(request.host == "kept.example" for request in server.requests) == 3


def test_a_slow_host_delays_no_other(settings: Settings, server: Misbehaving) -> None:
    """Fifty requests get their responses while twenty requests to other hosts hang."""

    def are_asked() -> int:
        return sum(request.host.startswith("slow-") for request in server.requests)

    async def both() -> None:
        async with asyncio.timeout(GUARD), WebClient(settings.client) as client:

            async def get(host: str, path: str) -> None:
                await client.get(f"http://{host}.example/{path}", max_bytes=MAX_BYTES)

            slow = [asyncio.create_task(get(f"slow-{n}", "hang")) for n in range(20)]
            while are_asked() < len(slow):  # noqa: ASYNC110 - the server is in another thread
                await asyncio.sleep(0.01)
            await asyncio.gather(*(get(f"quick-{n}", "page") for n in range(50)))
            assert not any(task.done() for task in slow)
            for task in slow:
                task.cancel()
            await asyncio.wait(slow)

    asyncio.run(both())


def test_nothing_but_a_web_error_escapes_from_all_of_them_at_once(settings: Settings) -> None:
    """Each of many simultaneous requests ends with a response or a WebError."""

    async def all_of_them() -> list[object]:
        async with WebClient(settings.client) as client:
            asked = (
                client.get(f"http://h{n}.example/{path}", max_bytes=MAX_BYTES)
                for n, path in enumerate(ANSWERS)
            )
            return await asyncio.gather(*asked, return_exceptions=True)

    found = asyncio.run(all_of_them())
    assert [
        error
        for error in found
        if isinstance(error, Exception | asyncio.CancelledError) and not isinstance(error, WebError)
    ] == []
