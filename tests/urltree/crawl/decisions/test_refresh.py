"""A refresh is a redirect if it is immediate, leads elsewhere, and its page has little text."""

from __future__ import annotations

import pytest

from urltree.crawl.decisions.host.page.refresh import find_refresh
from urltree.crawl.decisions.response import Response

URL = "https://news.example/a/b"
TEXT = b"<p>" + b"word " * 49
ARTICLE = b"<p>" + b"word " * 50


def answer(body: bytes = b"", **headers: str) -> Response:
    """Return a page."""
    return Response(URL, 200, headers, body, 0.1)


def meta(content: str) -> bytes:
    """Return a page with a refresh and little text."""
    return f'<head><meta content="{content}" http-equiv=Refresh></head>'.encode() + TEXT


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0; url=/login", "https://news.example/login"),
        ("0;URL=c", "https://news.example/a/c"),
        ("5, https://x.example/?a=1#top", "https://x.example/?a=1"),
        ("0.5; url='/c d'; x", "https://news.example/c%20d"),
        (" 3 /c", "https://news.example/c"),
        ("0; url=&quot;/c&quot;", "https://news.example/c"),
    ],
)
def test_a_short_refresh_is_a_redirect(content: str, target: str) -> None:
    """A page and a header redirect to the absolute address of the refresh, as in browsers."""
    assert find_refresh(answer(meta(content))) == target
    assert find_refresh(answer(TEXT, refresh=content.replace("&quot;", '"'))) == target


@pytest.mark.parametrize(
    "content",
    [
        "0",
        "6; url=/c",
        "300; url=/c",
        "300",
        "0; url=",
        "0; url=https://news.example/a/b#top",
        "0; url=b",
        "0; url=javascript:alert(1)",
        "0; url=http://[",
        "x; url=/c",
        "",
        "9" * 400 + "; url=/c",
    ],
)
def test_other_refreshes_are_no_redirects(content: str) -> None:
    """A refresh after more than 5 seconds, or of the page itself, or to no page, is ignored."""
    assert find_refresh(answer(meta(content))) is None
    assert find_refresh(answer(TEXT, refresh=content)) is None


def test_a_page_with_text_is_no_redirect() -> None:
    """A page with 50 words is published, whatever its refresh says."""
    page = meta("0; url=/c").replace(TEXT, ARTICLE)
    assert find_refresh(answer(page)) is None
    assert find_refresh(answer(ARTICLE, refresh="0; url=/c")) is None


@pytest.mark.parametrize(
    "page",
    [
        b"<noscript>" + meta("0; url=/c") + b"</noscript>",
        b"<!--" + meta("0; url=/c") + b"-->",
        b"<script>'" + meta("0; url=/c") + b"'</script>",
        b"<template>" + meta("0; url=/c") + b"</template>",
        meta("0; url=/c").replace(b"http-equiv", b"name"),
    ],
)
def test_a_refresh_that_browsers_ignore_is_ignored(page: bytes) -> None:
    """A refresh in `<noscript>`, a comment, a script or a template is no redirect."""
    assert find_refresh(answer(page)) is None


def test_the_base_of_the_page_counts() -> None:
    """The address of a refresh is relative to the base of the page."""
    page = b"<base href='https://cdn.example/x/'>" + meta("0; url=c")
    assert find_refresh(answer(page)) == "https://cdn.example/x/c"


@pytest.mark.parametrize("part", [b"<meta ", b"<!--", b"refresh<noscript>", b"<meta http-equiv="])
def test_no_page_takes_long(part: bytes) -> None:
    """The search is fast on a page of repeated markup."""
    assert find_refresh(answer(part * 200_000 + b"refresh")) is None
