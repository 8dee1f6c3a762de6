"""The canonical link and the AMP link in the head of a page are found as in a browser."""

from __future__ import annotations

import pytest

from urltree.crawl.decisions.host.head_links import MAX_HEAD, find_head_links

URL = "https://news.example/a/b?c"
CANONICAL = '<link rel="canonical" href="/story">'


@pytest.mark.parametrize(
    "head",
    [
        CANONICAL,
        "<link rel='canonical' href='/story'/>",
        "<LINK HREF=/story REL=Canonical>",
        '<link\n  data-x="1"\n  href = "/story"\n  rel = "shortlink canonical" >',
        '<link rel="canonical" href=""><link rel="canonical" href="/story">',
        '<base href="https://news.example/z/"><link rel="canonical" href="../story">',
        '<link rel="canonical" href=" https://news.example/story ">',
        '<link rel="canonical" href="/story"><link rel="canonical" href="/other">',
        """<script>write("<p><body class='a'>")</script><link rel="canonical" href="/story">""",
        '<!-- </head> --><link rel="canonical" href="/story">',
    ],
)
def test_a_canonical_link_is_found(head: str) -> None:
    """The first canonical link is found, whatever its quotes, case and order of attributes.

    A relative link is resolved against the page's URL or its `<base>`.
    """
    page = f"<html><head><title>a</title>{head}</head><body>".encode()
    assert find_head_links(page, URL) == ("https://news.example/story", None)


def test_an_amp_link_is_found_beside_it() -> None:
    """An AMP link is found beside a canonical link, and its entities are resolved."""
    page = f'{CANONICAL}<link rel="amphtml" href="/amp?a=1&amp;b=2">'.encode()
    assert find_head_links(page, URL) == (
        "https://news.example/story",
        "https://news.example/amp?a=1&b=2",
    )


@pytest.mark.parametrize(
    "page",
    [
        "",
        f"<head></head><body>{CANONICAL}",
        f"<body>{CANONICAL}",
        f"<!-- {CANONICAL} -->",
        f"<script>var a = '{CANONICAL}'</script>",
        f"<script>{CANONICAL}",
        '<link rel="canonical" href="javascript:alert(1)">',
        '<link rel="canonical" href="http://[">',
        '<link rel="canonical">',
        '<link rel="canonical" href="/' + "a" * 3_000 + '">',
        '<link rel="stylesheet" href="/canonical">',
        " " * MAX_HEAD + CANONICAL,
    ],
)
def test_what_is_no_link_of_the_head_is_none(page: str) -> None:
    """Links in comments, scripts or the body, and links with invalid URLs, are ignored."""
    assert find_head_links(page.encode(), URL) == (None, None)


@pytest.mark.parametrize(
    "page",
    [
        b"<link " * 50_000,
        b"<!--" * 60_000,
        b"<script>" * 30_000,
        b'<link rel="' + b" " * MAX_HEAD,
        b"<link " + b"a=" * MAX_HEAD,
        b"\0" * MAX_HEAD,
        bytes(range(256)) * 1_024,
    ],
)
def test_no_page_takes_long(page: bytes) -> None:
    """The search is fast on repeated markup, where a backtracking pattern would take hours."""
    assert find_head_links(page, URL) == (None, None)
