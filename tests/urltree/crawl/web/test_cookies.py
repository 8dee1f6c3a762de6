from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from agents.settings.job import Settings
from tests.urltree.crawl.web.answers import redirect
from tests.urltree.crawl.web.conftest import MAX_BYTES
from tests.urltree.crawl.web.misbehaving import Misbehaving
from urltree.crawl.web.client import WebClient
from urltree.crawl.web.cookies import ChainCookies, may_request_again
from urltree.crawl.web.redirects import redirect_target

NOW = 784_111_777.0  # Sun, 06 Nov 1994 08:49:37 GMT
HERE = "https://www.example.org/a/b"


def after(*headers: str, url: str = HERE) -> ChainCookies:
    """Return the cookies after a response with these headers Set-Cookie."""
    cookies = ChainCookies(clock=lambda: NOW)
    cookies.store(URL(url), headers)
    return cookies


def sent(header: str, to: str, url: str = HERE) -> bool:
    """Return whether a cookie that a response of `url` has set is sent to another URL."""
    return after(header, url=url).header(URL(to)) != ""


@pytest.mark.parametrize(
    ("header", "to"),
    [
        ("a=1", "https://www.example.org/a/c"),
        ("a=1", "https://www.example.org/a/"),
        ("a=1", "http://www.example.org:8080/a/c"),
        ("a=1; Path=/", "https://www.example.org/"),
        ("a=1; path=x", "https://www.example.org/a/c"),
        ("a=1; Path=/x/; Path=/", "https://www.example.org/"),
        ("a=1; Path=/; Domain=example.org", "https://news.example.org/"),
        ("a=1; Path=/; Domain=.EXAMPLE.org", "https://a.b.example.org/"),
        ("a=1; Path=/; Domain=example.org; Domain=", "https://news.example.org/"),
        ("a=1; Path=/; Domain=www.example.org", "https://x.www.example.org/"),
        ("a=1; Path=/; Secure", "https://www.example.org/"),
        ("a=1; Path=/; Max-Age=1", "https://www.example.org/"),
        ("a=1; Path=/; Max-Age=soon", "https://www.example.org/"),
        ("a=1; Path=/; Expires=Sun, 06 Nov 1994 08:49:38 GMT", "https://www.example.org/"),
        ("a=1; Path=/; Expires=Sun, 06-Nov-94 08:49:38 GMT", "https://www.example.org/"),
        ("a=1; Path=/; Expires=0", "https://www.example.org/"),
        ("a=1; Path=/; Max-Age=9; Expires=Sat, 05 Nov 1994 08:49:37 GMT", HERE),
    ],
)
def test_a_cookie_is_sent_where_it_fits(header: str, to: str) -> None:
    """A cookie is sent to its host and path, also with another port (RFC 6265, 5.4)."""
    assert sent(header, to)


@pytest.mark.parametrize(
    ("header", "to"),
    [
        ("a=1", "https://www.example.org/"),
        ("a=1", "https://www.example.org/ab"),
        ("a=1; Path=/a/b", "https://www.example.org/a/bc"),
        ("a=1; Path=/", "https://example.org/"),
        ("a=1; Path=/", "https://x.www.example.org/"),
        ("a=1; Path=/; Domain=news.example.org", "https://news.example.org/"),
        ("a=1; Path=/; Domain=other.example", "https://other.example/"),
        ("a=1; Path=/; Domain=ample.org", "https://www.example.org/"),
        ("a=1; Path=/; Domain=org", "https://www.example.org/"),
        ("a=1; Path=/; Domain=www.example.org", "https://example.org/"),
        ("a=1; Path=/; Secure", "http://www.example.org/"),
        ("a=1; Path=/; Max-Age=0", "https://www.example.org/"),
        ("a=1; Path=/; Max-Age=-5", "https://www.example.org/"),
        ("a=1; Path=/; Expires=Sun, 06 Nov 1994 08:49:37 GMT", "https://www.example.org/"),
        ("a=1; Path=/; Max-Age=0; Expires=Sun, 06 Nov 2094 08:49:37 GMT", HERE),
        ("a", HERE),
        ("=1", HERE),
        ("a=\x07", HERE),
        ("a=" + "x" * 4_096, HERE),
        ("", HERE),
    ],
)
def test_a_cookie_is_not_sent_where_it_does_not_fit(header: str, to: str) -> None:
    """A cookie of another host, path or scheme, an expired one and an invalid one is not sent."""
    assert not sent(header, to)


@pytest.mark.parametrize(
    ("url", "domain", "to"),
    [
        ("https://a.co.uk/", "co.uk", "https://a.co.uk/"),
        ("https://alice.github.io/", "github.io", "https://bob.github.io/"),
        ("https://github.io/", "github.io", "https://bob.github.io/"),
        ("https://1.2.3.4/", "3.4", "https://1.2.3.4/"),
        ("https://1.2.3.4/", "3.4", "https://9.9.3.4/"),
        ("http://www.example.org/", "example.org; Secure", "https://www.example.org/"),
    ],
)
def test_a_public_suffix_gets_no_cookie(url: str, domain: str, to: str) -> None:
    """A public suffix, a part of an IP address, or Secure over http makes a cookie invalid."""
    assert not sent(f"a=1; Path=/; Domain={domain}", to, url)


@pytest.mark.parametrize("url", ["http://1.2.3.4/", "http://[2001:db8::1]/", "http://localhost/"])
def test_an_address_keeps_its_own_cookies(url: str) -> None:
    """The cookies of an IP address or of a host of one label belong to this host alone."""
    assert sent("a=1", url, url)
    assert not sent("a=1", "http://1.2.3.5/", url)


def test_a_chain_has_the_cookies_of_one_domain() -> None:
    """After the first cookie, cookies of another registrable domain are neither kept nor sent."""
    cookies = after("a=1; Path=/; Domain=example.org")
    cookies.store(URL("https://tracker.example/"), ["b=2; Path=/"])
    assert cookies.header(URL("https://tracker.example/")) == ""
    assert cookies.header(URL("https://news.example.org/")) == "a=1"
    assert cookies.changes == 1


def test_longer_paths_come_first_then_older_cookies() -> None:
    """All fitting cookies are sent in the RFC's order, also several of one name."""
    cookies = after("a=1; Path=/", "b=2; Path=/a", 'a="3 x"; Path=/a', "a=4; Path=/")
    assert cookies.header(URL(HERE)) == 'b=2; a="3 x"; a=4'


def test_memory_is_bounded() -> None:
    """The oldest of more than fifty cookies are dropped, and a header has at most 8 KiB."""
    cookies = after(*(f"a{n}={n}; Path=/" for n in range(60)))
    assert cookies.header(URL(HERE)).split("; ") == [f"a{n}={n}" for n in range(10, 60)]
    large = after(*(f"a{n}={'x' * 4_000}; Path=/" for n in range(60)))
    assert 4_000 < len(large.header(URL(HERE))) <= 8_192


def test_only_real_changes_count() -> None:
    """A cookie that is set again with the same value is no change; a deletion is one."""
    cookies = after("a=1; Path=/", "b=1; Path=/")
    for header, changes in [
        ("a=1; Path=/", 2),
        ("a=2; Path=/", 3),
        ("c=1; Max-Age=0; Path=/", 3),
        ("a=2; Max-Age=0; Path=/", 4),
    ]:
        cookies.store(URL(HERE), [header])
        assert cookies.changes == changes


@pytest.mark.parametrize(
    ("before", "changes", "allowed"),
    [((), 0, True), ((0,), 0, False), ((0,), 1, True), ((1,), 1, False), ((0, 1), 2, False)],
)
def test_a_chain_comes_back_once_if_a_cookie_was_set(
    before: tuple[int, ...], changes: int, *, allowed: bool
) -> None:
    """An address is requested a second time only if a cookie was set since, and never again."""
    assert may_request_again(before, changes) is allowed


def test_cookies_are_in_no_text() -> None:
    """The representation, which a log may contain, does not show the cookies."""
    assert "secret" not in repr(after("a=secret"))


@given(st.lists(st.text(max_size=80)), st.sampled_from([HERE, "http://[::1]/", "http://a/"]))
def test_any_header_is_a_cookie_or_nothing(headers: list[str], url: str) -> None:
    """Any text as Set-Cookie is stored or ignored, and the header has no control character."""
    header = after(*headers, url=url).header(URL(url))
    assert not set(header) & {chr(code) for code in (*range(32), 127)} - {"\t"}


def test_a_consent_cookie_opens_the_page(settings: Settings, server: Misbehaving) -> None:
    """A chain sends the cookie that a redirect has set; another request does not send it."""

    async def run() -> None:
        async with WebClient(settings.client) as client:
            cookies = ChainCookies()
            server.raw = redirect(
                b"/page/1\r\nSet-Cookie: consent=yes; Path=/\r\nSet-Cookie: b=2; Path=/"
            )
            url = "http://cookie.example/raw"
            moved = await client.get(url, max_bytes=MAX_BYTES, cookies=cookies)
            assert cookies.changes == 2
            await client.get(redirect_target(moved), max_bytes=MAX_BYTES, cookies=cookies)
            await client.get("http://cookie.example/page/2", max_bytes=MAX_BYTES)
            other = "http://other.example/page/3"
            await client.get(other, max_bytes=MAX_BYTES, cookies=cookies)

    before = len(server.requests)
    asyncio.run(run())
    found = [request.headers.get("cookie") for request in server.requests[before:]]
    assert found == [None, "consent=yes; b=2", None, None]
