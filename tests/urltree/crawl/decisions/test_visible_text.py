"""The digest of a page is equal for the same wall at other addresses, and for little else."""

from __future__ import annotations

import pytest

from urltree.crawl.decisions.host.page.visible_text import (
    MAX_TEXT,
    PageText,
    count_body_words,
    count_words,
)

URLS = ("https://news.example/a/bridge-closed-for-repairs", "https://news.example/b/7-mayor_wins")


def digest(page: str, url: str = URLS[0]) -> int:
    """Return the digest of a page that was not redirected."""
    return PageText(page.encode(), url, url).digest


@pytest.mark.parametrize(
    "page",
    [
        "<p>Not found",
        "<p>There is no {path} here",
        "<p>There is no {url}, error 404 on 4 May, request 8f3a9{number}",
        "<p>Nothing was found for “{words}”",
        "<title>{path} is gone</title><p>Not found",
        "<head><script>var at = '{words} {number}'</script></head><p>Not found",
        "<p class='{words}'><!-- {words} --><style>{words}</style>Not found",
    ],
)
def test_a_wall_is_the_same_at_each_address(page: str) -> None:
    """The address, numbers and what is not visible do not change the digest of a wall."""
    found = set()
    for number, url in enumerate(URLS):
        path = url.removeprefix("https://news.example")
        words = path.rpartition("/")[2].replace("-", " ").replace("_", " ")
        text = page.format(url=url, path=path, words=words, number=1_000 + number)
        found.add(digest(text, url))
    assert len(found) == 1


@pytest.mark.parametrize(
    ("page", "other"),
    [
        ("<p>The bridge is closed", "<p>The bridge is open"),
        ("<title>1.68.0 released</title><p>Download", "<title>1.68.1 released</title><p>Download"),
        ("<meta property=og:title content=a><p>x", "<meta property=og:title content=b><p>x"),
        ("<p>Это мост", "<p>Это дом"),
        ("<p>桥梁关闭", "<p>桥梁开放"),
    ],
)
def test_pages_with_other_words_differ(page: str, other: str) -> None:
    """Pages whose words or titles differ have different digests."""
    assert digest(page) != digest(other)


def test_posts_of_one_word_differ() -> None:
    """Posts that have no other words than those of their addresses differ by their titles."""
    pages = [f"<title>{word} photo</title><h1>{word} photo</h1>" for word in ("sunset", "harbour")]
    urls = [f"https://blog.example/{word}-photo" for word in ("sunset", "harbour")]
    assert digest(pages[0], urls[0]) != digest(pages[1], urls[1])


@pytest.mark.parametrize(
    ("page", "title", "shows"),
    [
        ("<h1>The bridge is closed</h1>", "The bridge is closed", True),
        ("<title>The Bridge Is Closed | News</title>", "The bridge is closed!", True),
        ("<h1>It&rsquo;s the bridge</h1> closed", "Bridge closed: it&#39;s for <b>good</b>", True),
        ("<meta content='The bridge is closed' property=og:title><p>x", "Bridge is closed", True),
        ("<h1>L&rsquo;&eacute;t&eacute; est l&agrave;</h1>", "L\u2019été est là", True),
        ("<p>/a/bridge-closed-for-repairs was not found", "Bridge closed for repairs", False),
        ("<p>Not found", "The bridge is closed", False),
        ("<p>Not found", "", False),
        ("<title>Bridge closed for repairs</title>", None, True),
        ("<title>/a/bridge-closed-for-repairs</title>", None, False),
        ("<title>Not found</title><p>bridge closed for repairs", None, False),
    ],
)
def test_a_page_shows_its_title(page: str, title: str | None, shows: bool) -> None:
    """A page shows a title if it has most of its words, but not in an address."""
    assert PageText(page.encode(), URLS[0], URLS[0]).shows(title) is shows


def test_other_encodings_are_read() -> None:
    """A page in another encoding shows its title and has the digest of the page in UTF-8."""
    page, title = "<title>Мост закрыт</title><p>Мост закрыт до осени", "Мост закрыт"
    for charset in ("windows-1251", "utf-16"):
        found = PageText(page.encode(charset), *URLS[:1] * 2, f"text/html; charset={charset}")
        assert found.shows(title)
        assert found.digest == digest(page)


@pytest.mark.parametrize(
    ("page", "words", "own"),
    [
        ("one two <b>three</b>", 3, 3),
        ("<head><title>x y z</title></head><body class=a>one <a href=/>two</a> three", 3, 2),
        ("<p>one<script>x</script><noscript>y</noscript><svg><title>z</title></svg>", 1, 1),
        ("<p>桥梁关闭到秋天", 1 + 3, 1 + 3),
        ("", 0, 0),
    ],
)
def test_words_are_counted(page: str, words: int, own: int) -> None:
    """Visible words are counted, in scripts without spaces two characters as one word."""
    assert count_body_words(page.encode()) == words
    assert PageText(page.encode(), *URLS).own_words == own
    assert count_words("a b-c") == 3


@pytest.mark.parametrize(
    "part",
    ["<", "<a ", "<title", "<!--", "<script>", "og:title", ">", "> ", "&amp", "<a></a>", "x "],
)
def test_no_page_takes_long(part: str) -> None:
    """Repeated markup is read in linear time: a quadratic search of a megabyte takes minutes."""
    page = (part * MAX_TEXT)[: 2 * MAX_TEXT].encode()
    text = PageText(page, *URLS)
    assert not text.shows("Bridge closed")
    assert text.digest
    assert text.own_words >= 0
