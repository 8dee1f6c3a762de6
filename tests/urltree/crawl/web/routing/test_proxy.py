"""Requests go through the operator's proxy, and still reach no private address."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agents.settings.job import Settings
from tests.urltree.crawl.web.answers import HTML
from tests.urltree.crawl.web.conftest import MAX_BYTES
from tests.urltree.crawl.web.misbehaving import Misbehaving
from tests.urltree.crawl.web.routing.holding import Names
from tests.urltree.crawl.web.routing.small_proxy import SmallProxy, proxying
from urltree.crawl.decisions.response import Response, Trouble, WebError
from urltree.crawl.web.client import WebClient
from urltree.crawl.web.routing.proxy import ProxyExceptions, parse_proxy

Get = Callable[..., Awaitable[Response]]
Test = Callable[[Get, SmallProxy], Awaitable[None]]


@pytest.fixture
def through(server: Misbehaving, settings: Settings) -> Callable[..., None]:
    """Return a function that runs a test with a client behind a proxy at 127.0.0.5."""

    def run(test: Test, scheme: str = "http", **change: object) -> None:
        async def both() -> None:
            tls = server._certificates.context("localhost") if scheme == "https" else None
            address = "127.0.0.1" if tls else "127.0.0.5"
            async with proxying(server.http_port, address, tls) as proxy:
                url = f"{scheme}://{'localhost' if tls else address}:{proxy.port}"
                options = replace(settings.client, proxy=url, **change)  # type: ignore[arg-type]
                async with WebClient(options) as client:

                    async def get(address: str, **options: object) -> Response:
                        return await client.get(address, max_bytes=MAX_BYTES, **options)  # type: ignore[arg-type]

                    await test(get, proxy)

        asyncio.run(both())

    return run


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_http_targets_are_asked_by_name(through: Callable[..., None], scheme: str) -> None:
    """For an http URL, the proxy gets the whole URL; a proxy with a private address is used."""

    async def test(get: Get, proxy: SmallProxy) -> None:
        answer = await get("http://any.example/page?a=%20")
        assert (answer.status, answer.body) == (200, HTML)
        ((line, headers),) = proxy.asked
        assert line == "GET http://any.example/page?a=%20 HTTP/1.1"
        assert headers["host"] == "any.example"

    through(test, scheme)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_https_targets_are_asked_by_the_checked_address(
    through: Callable[..., None], server: Misbehaving, scheme: str
) -> None:
    """For an https URL, the proxy gets the address, and the host gets its own name.

    A kept connection is used only for the same name, although the address is the same.
    """

    async def test(get: Get, proxy: SmallProxy) -> None:
        before = len(server.requests)
        for host in ("a.example", "a.example", "b.example:443"):
            assert (await get(f"https://{host}/page")).body == HTML
        line = f"CONNECT 127.0.0.1:{server.https_port} HTTP/1.1"
        assert [asked[0] for asked in proxy.asked] == [line, line]
        assert {asked[1]["host"] for asked in proxy.asked} == {f"127.0.0.1:{server.https_port}"}
        hosts = [request.host for request in server.requests[before:]]
        assert hosts == ["a.example", "a.example", "b.example"]
        with pytest.raises(WebError) as raised:
            await get("https://wrong-name.example/page")
        assert raised.value.trouble is Trouble.TLS

    through(test, scheme)


@pytest.mark.parametrize(
    "url",
    [
        *("http://private.example/page", "https://private.example/page", "http://127.0.0.2/page"),
        *("https://127.0.0.5/", "http://10.0.0.1/", "http://[::1]/", "http://8.8.8.8:25/"),
        *("https://8.8.8.8:25/", "http://any.example:25/"),
    ],
)
def test_the_proxy_is_not_asked_for_a_private_address(
    through: Callable[..., None], url: str
) -> None:
    """A private address or a bad port is refused before the proxy is asked, the proxy's own too."""

    async def test(get: Get, proxy: SmallProxy) -> None:
        with pytest.raises(WebError) as raised:
            await get(url)
        assert raised.value.trouble is Trouble.REFUSED_ADDRESS, raised.value.message
        assert proxy.asked == []

    rules = ("private.example::127.0.0.2:80", "any.example:25:127.0.0.1:80")
    through(test, connect_to=rules)


def test_an_http_host_with_one_private_address_is_refused(
    server: Misbehaving, settings: Settings
) -> None:
    """The proxy chooses the address of an http host itself, so all of them must be public."""

    async def run() -> None:
        async with proxying(server.http_port) as proxy:
            options = replace(settings.client, proxy=f"http://127.0.0.5:{proxy.port}")
            async with WebClient(options) as client:
                table = {"mixed.example": ["10.0.0.1", "127.0.0.1"]}
                client._routes._resolver = Names(server.https_port, table)
                with pytest.raises(WebError) as raised:
                    await client.get("http://mixed.example/page", max_bytes=MAX_BYTES)
                assert raised.value.trouble is Trouble.REFUSED_ADDRESS
                assert proxy.asked == []
                answer = await client.get("https://mixed.example/page", max_bytes=MAX_BYTES)
                assert answer.body == HTML
                assert proxy.asked[0][0].startswith("CONNECT 127.0.0.1:")

    asyncio.run(run())


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_the_proxy_gets_its_credentials_and_the_host_does_not(
    through: Callable[..., None], server: Misbehaving, tmp_path: Path, scheme: str
) -> None:
    """The credentials of the proxy come from a file, and are part of no request to a host."""
    (tmp_path / "proxy").write_text("user:secret")

    async def test(get: Get, proxy: SmallProxy) -> None:
        before = len(server.requests)
        await get(f"{scheme}://any.example/page")
        assert proxy.asked[0][1]["proxy-authorization"] == "Basic dXNlcjpzZWNyZXQ="
        (request,) = server.requests[before:]
        assert "authorization" not in request.headers
        if scheme == "https":
            assert "proxy-authorization" not in request.headers
        (tmp_path / "proxy").unlink()
        with pytest.raises(WebError) as raised:
            await get(f"{scheme}://any.example/page")
        assert raised.value.trouble is Trouble.CREDENTIALS

    through(test, credentials_dir=tmp_path, proxy_credentials="proxy")


def test_exceptions_are_asked_without_the_proxy(through: Callable[..., None]) -> None:
    """A host, a domain or a network of `no_proxy` is requested directly, and still guarded."""

    async def test(get: Get, proxy: SmallProxy) -> None:
        for url in ("http://direct.example/page", "https://a.direct.example/page"):
            assert (await get(url)).body == HTML
        assert proxy.asked == []
        with pytest.raises(WebError) as raised:
            await get("http://127.0.0.2/page")
        assert raised.value.trouble is Trouble.REFUSED_ADDRESS
        await get("http://proxied.example/page")
        assert len(proxy.asked) == 1

    through(test, no_proxy=("direct.example", "127.0.0.2/32"))


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("url", ["http://any.example/page", "https://any.example/page"])
def test_a_proxy_that_does_not_work_is_no_tls_error_of_the_host(
    server: Misbehaving, settings: Settings, scheme: str, url: str
) -> None:
    """A proxy that refuses, or whose certificate is invalid, is the error `connect`."""

    async def run() -> None:
        tls = server._certificates.context("wrong-name.example") if scheme == "https" else None
        async with proxying(server.http_port, "127.0.0.1", tls) as proxy:
            proxy.refusal = 407
            options = replace(settings.client, proxy=f"{scheme}://127.0.0.1:{proxy.port}")
            async with WebClient(options) as client:
                with pytest.raises(WebError) as raised:
                    await client.get(url, max_bytes=MAX_BYTES)
                assert raised.value.trouble is Trouble.CONNECT, raised.value.message

    asyncio.run(run())


def test_the_limit_of_an_address_does_not_apply_behind_the_proxy(
    through: Callable[..., None],
) -> None:
    """More requests than `requests_per_address` go through the proxy at once."""

    async def test(get: Get, proxy: SmallProxy) -> None:
        asked = [asyncio.create_task(get(f"http://p{n}.example/hang")) for n in range(5)]
        while len(proxy.asked) < 5:  # noqa: ASYNC110 - the proxy has no event for it
            await asyncio.sleep(0.01)
        for task in asked:
            task.cancel()
        await asyncio.wait(asked)

    through(test, requests_per_address=1)


@pytest.mark.parametrize(
    "text",
    [
        *("", "proxy:3128", "socks5://proxy.example:1080", "http://", "http://proxy.example/path"),
        *("http://user:secret@proxy.example:3128", "http://proxy.example?a", "http://secret@p"),
    ],
)
def test_a_url_that_is_no_proxy_is_refused(text: str) -> None:
    """The URL of a proxy has a scheme, a host and perhaps a port, but never a password."""
    with pytest.raises(ValueError, match="proxy should") as raised:
        parse_proxy(text)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("rule", "host", "address", "matches"),
    [
        ("example.org", "example.org", "192.0.2.1", True),
        ("example.org", "www.example.org", "192.0.2.1", True),
        (".Example.org", "www.example.org.", "192.0.2.1", True),
        ("*.example.org", "example.org", "192.0.2.1", True),
        ("example.org", "anexample.org", "192.0.2.1", False),
        ("www.example.org", "example.org", "192.0.2.1", False),
        ("bücher.example", "xn--bcher-kva.example", "192.0.2.1", True),
        ("localhost", "localhost", "127.0.0.1", True),
        ("192.0.2.0/24", "a.example", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.1", "192.0.2.1", True),
        ("192.0.2.0/24", "a.example", "198.51.100.1", False),
        ("192.0.2.0/24", "a.example", "2001:db8::1", False),
        ("[2001:db8::1]", "2001:db8::1", "2001:db8::1", True),
        ("2001:db8::/32", "a.example", "2001:db8::1", True),
    ],
)
def test_an_exception_is_a_host_a_domain_or_a_network(
    rule: str, host: str, address: str, *, matches: bool
) -> None:
    """A domain covers its hosts, and a network the hosts with an address in it."""
    assert ProxyExceptions([rule]).match(host, address) is matches


@pytest.mark.parametrize("rule", ["", "a b", "http://example.org", "10.0.0.0/99", "a:80", "*"])
def test_another_exception_is_refused(rule: str) -> None:
    """A rule that is neither a host nor a network is an error that shows the rule."""
    with pytest.raises(ValueError, match="is not a host, a domain or a network"):
        ProxyExceptions([rule])
