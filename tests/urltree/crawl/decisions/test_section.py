"""The links of a section page are found, with their text and their place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.source.section import MAX_LINKS, find_links, is_navigation

URL = "https://www.news.example/city/"


def found(html: str, url: str = URL) -> list[tuple[str, str | None]]:
    """Return addresses and texts of the links of a page."""
    return [(item.link, item.title) for item in find_links(html.encode(), "text/html", url)]


def test_a_link_has_an_address_a_text_and_a_place() -> None:
    """The place is a path of tags with their first stable class name or id."""
    html = (
        '<main><div class="teaser post-1234 big"><h2 id=top><a href="../flood?a=1#x">After  the'
        "<br>flood</a></h2></div></main>"
    )
    assert find_links(html.encode(), None, URL) == (
        FeedItem(
            link="https://www.news.example/flood?a=1",
            title="After the flood",
            place="html/body/main/div.teaser/h2.top",
        ),
    )


def test_a_heading_inside_a_link_belongs_to_the_place() -> None:
    """Some teasers are one link around a heading; the place shows the heading."""
    (item,) = find_links(b"<a href=/flood><h3>After the flood</h3></a>", None, URL)
    assert (item.title, item.place) == ("After the flood", "html/body/h3")


def test_an_address_is_returned_once_with_its_longest_text() -> None:
    """The picture, the headline and "more" of a teaser are one link, at the place of the headline.

    Addresses that differ in their scheme or in noise parameters are one page.
    """
    html = (
        '<div class=pic><a href="/flood?utm_source=x"><img alt="A river"></a></div>'
        '<h2><a href="http://www.news.example/flood">After the flood</a></h2><p><a href=/flood>more'
    )
    (item,) = find_links(html.encode(), None, URL)
    assert item.link == "https://www.news.example/flood?utm_source=x"
    assert (item.title, item.place) == ("After the flood", "html/body/h2")


@pytest.mark.parametrize(
    "link",
    [
        '<a href="https://other.example/x">x</a>',
        '<a href="mailto:a@news.example">x</a>',
        '<a href="javascript:x()">x</a>',
        '<a href="#top">x</a>',
        '<a href="https://news.example:99999/">x</a>',
        '<a href="/photo.JPG">x</a>',
        "<a name=top>x</a>",
        '<template><a href="/x">x</a></template>',
        '<script>"<a href=/x>x</a>"</script>',
        '<!-- <a href="/x">x</a> -->',
    ],
)
def test_other_links_are_left_out(link: str) -> None:
    """Links to other sites, files, the page itself, and in hidden elements are left out."""
    assert found(f"{link}<a href=/y>y</a>") == [("https://www.news.example/y", "y")]


def test_hosts_of_the_same_domain_belong_to_the_site() -> None:
    """A section page may link to articles on another host of its registrable domain."""
    assert found("<a href=//sport.news.example/x>x") == [("https://sport.news.example/x", "x")]


def test_links_are_relative_to_the_base_of_the_page() -> None:
    """Links are resolved against `<base>`, unless it is invalid."""
    assert found("<base href=/a/><a href=x>x") == [("https://www.news.example/a/x", "x")]
    assert found('<base href="http://["><a href=x>x') == [("https://www.news.example/city/x", "x")]


def test_a_link_without_text_has_the_text_that_stands_for_it() -> None:
    """The label of the link is used, or else the text that stands for its picture."""
    assert found('<a href=/x aria-label="After the flood"></a><a href=/y><img alt=River></a>') == [
        ("https://www.news.example/x", "After the flood"),
        ("https://www.news.example/y", "River"),
    ]


def test_the_number_of_links_is_limited() -> None:
    """A page with very many links yields the first ones."""
    html = "".join(f"<a href=/{at}>x</a>" for at in range(MAX_LINKS + 10))
    assert len(found(html)) == MAX_LINKS
    assert len(found("<a href=/x>x</a>" * 100_000)) == 1


def test_a_deep_place_keeps_the_navigation_around_it() -> None:
    """Of a place only the inner elements are kept, and the outer ones that mean navigation."""
    (item,) = find_links(b"<footer>" + b"<div>" * 50_000 + b"<a href=/x>x", None, URL)
    assert item.place == "footer" + "/div" * 12


@pytest.mark.parametrize("name", ["nav", "footer", "ul.menu", "div.main-nav", "div.breadcrumbs"])
def test_names_of_menus_mean_navigation(name: str) -> None:
    """Tags and words that mean a menu make a place one of navigation."""
    assert is_navigation(name)


@pytest.mark.parametrize("name", ["main", "div.teaser", "section.popular", "div.__next", "form"])
def test_names_of_lists_do_not_mean_navigation(name: str) -> None:
    """Words that mean boilerplate below an article may mean the list of a section page."""
    assert not is_navigation(name)


@given(st.binary(max_size=300))
def test_any_bytes_have_links_or_none(page: bytes) -> None:
    """No page raises an error, and each link is an http URL of the site."""
    for html in (page, b"<a href='" + page + b"'>x</a>", b"<base href='" + page + b"'><a href=x>"):
        for item in find_links(html, None, URL):
            assert item.link.startswith(("https://", "http://"))
            assert "news.example" in item.link
