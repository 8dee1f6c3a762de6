from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.urltree.crawl.web.conftest import Ask
from tests.urltree.crawl.web.misbehaving import Misbehaving
from urltree.crawl.decisions.response import Response, Trouble, WebError
from urltree.crawl.web.redirects import (
    mask_credentials,
    redirect_target,
    request_url,
    without_credentials,
)


def redirecting(location: str, url: str = "http://a.example/b/c?d") -> Response:
    """Return a redirect response with this Location header."""
    return Response(url, 302, {"location": location}, b"", 0.1)


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("https://b.example/", "https://b.example/"),
        ("//b.example/x", "http://b.example/x"),
        ("/x", "http://a.example/x"),
        ("x", "http://a.example/b/x"),
        ("../x?y=%2F&z#part", "http://a.example/x?y=%2F&z"),
        ("?y", "http://a.example/b/c?y"),
        (" /x ", "http://a.example/x"),
        ("/grüße und mehr", "http://a.example/gr%C3%BC%C3%9Fe%20und%20mehr"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("HTTP://B.example:80/%7e", "http://b.example/%7e"),
        ("http:\\\\b.example\\x", "http://b.example/x"),
        ("http://2130706433/", "http://127.0.0.1/"),
    ],
)
def test_a_location_is_read_as_browsers_do(location: str, url: str) -> None:
    """A Location becomes the URL that browsers request, even if it is relative or not ASCII."""
    assert redirect_target(redirecting(location)) == url


@pytest.mark.parametrize(
    "location",
    [
        *("", " ", "file:///etc/passwd", "ftp://a.example/x", "data:text/html,x", "gopher://a/x"),
        *("javascript:alert(1)", "mailto:a@example.org", "http://", "http://[::1", "https://a b/"),
        *("http://a.example:99999/", "http://a.example:x/", "about:blank", "ws://a.example/"),
    ],
)
def test_what_is_no_web_address_is_not_followed(location: str) -> None:
    """A Location that is not an http URL is a final error, because a retry would get it again."""
    with pytest.raises(WebError) as raised:
        redirect_target(redirecting(location))
    assert raised.value.trouble is Trouble.REDIRECT
    assert not raised.value.trouble.is_transient


def test_a_redirect_without_location_says_so() -> None:
    """A redirect without a Location header is an error whose message names the missing header."""
    with pytest.raises(WebError, match="status 302, but no Location header"):
        redirect_target(Response("http://a.example/", 302, {}, b"", 0.1))


@pytest.mark.parametrize(
    ("url", "requested"),
    [
        ("http://user:secret@a.example/x?y", "http://a.example/x?y"),
        ("http://secret@a.example/", "http://a.example/"),
        ("http://:secret@a.example/", "http://a.example/"),
        ("https:\\\\user:s@secret@a.example:8443\\x", "https://a.example:8443/x"),
        ("http://a.example/@secret", "http://a.example/@secret"),
        ("http://a.example/?q=me@a.example", "http://a.example/?q=me@a.example"),
    ],
)
def test_user_name_and_password_are_removed(url: str, requested: str) -> None:
    """A URL is requested without user name and password, also if it is a redirect's target."""
    assert request_url(url) == requested
    assert redirect_target(redirecting(url)) == requested
    assert without_credentials(url) in (url, requested)
    assert ("secret" in without_credentials(url)) is ("secret" in requested)


@pytest.mark.parametrize(
    "url",
    [
        *("ftp://user:secret@a.example/x", "http://user:secret@[::1", "//user:secret@a.example/"),
        *("http://user:secret@a.example:99999/", "http://user:se/secret@a.example/", "u:secret@a"),
        *("https://secret@a b/", "  http://user:secret@a.example:x/?@", "http://u:secret@"),
    ],
)
def test_no_message_contains_a_password(url: str) -> None:
    """The error for an invalid URL shows `***` instead of its user name and password."""
    with pytest.raises(WebError) as raised:
        request_url(url)
    assert "secret" not in str(raised.value)
    assert "***@" in str(raised.value)


def test_a_url_without_password_is_shown_as_it_is() -> None:
    """An `@` in a path or in a query is not the end of a password."""
    for url in ("http://a.example/@b", "https://a.example?b@c", "page"):
        assert mask_credentials(url) == url
    assert mask_credentials("http://u:p@a.example/@b") == "http://***@a.example/@b"


@given(st.text())
def test_whatever_a_location_is_the_target_is_a_web_address_or_trouble(location: str) -> None:
    """Any text as a Location yields a `redirect` error or a normalised http URL.

    Normalising this URL again does not change it.
    """
    try:
        url = redirect_target(redirecting(location))
    except WebError as error:
        assert error.trouble is Trouble.REDIRECT  # noqa: PT017
    else:
        assert url.startswith(("http://", "https://"))
        assert url.isascii()
        assert url.isprintable()
        assert " " not in url
        assert request_url(url) == url


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("redirect-loop", "http://any.example/redirect-loop"),
        ("redirect-relative", "http://any.example/page/redirect-relative?a=1"),
        ("redirect-schemeless", "http://other.example/page/redirect-schemeless"),
        ("redirect-utf-8", "http://any.example/gr%C3%BC%C3%9Fe"),
        ("redirect-latin-1", "http://any.example/gr%C3%BC%C3%9Fe"),
        ("redirect-long", f"http://any.example/{'x' * 20_000}"),
    ],
)
def test_what_a_server_sends_as_location_arrives(ask: Ask, path: str, url: str) -> None:
    """The client passes on the exact bytes of a Location header, so that its target is right."""
    (answer,) = ask(f"http://any.example/{path}")
    assert redirect_target(answer) == url


@pytest.mark.parametrize("path", ["redirect-file", "redirect-odd", "redirect-empty"])
def test_a_redirect_to_a_file_or_to_nothing_is_trouble(ask: Ask, path: str) -> None:
    """A redirect to a file URL, or an empty Location, is a `redirect` error."""
    (answer,) = ask(f"http://any.example/{path}")
    with pytest.raises(WebError) as raised:
        redirect_target(answer)
    assert raised.value.trouble is Trouble.REDIRECT


@pytest.mark.parametrize("path", ["redirect-private", "redirect-literal", "redirect-metadata"])
def test_a_redirect_to_a_private_address_is_refused(
    ask: Ask, server: Misbehaving, path: str
) -> None:
    """The address guard also refuses the target of a redirect if its address is private."""
    (answer,) = ask(f"http://any.example/{path}")
    with pytest.raises(WebError) as raised:
        ask(redirect_target(answer))
    assert raised.value.trouble is Trouble.REFUSED_ADDRESS
    assert server.private_connections == 0
