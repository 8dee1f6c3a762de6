"""The new articles of a section page are found by the structure of the page alone."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from demo.sites.catalogue import sites
from demo.sites.site import SampleSite
from urltree.crawl.decisions.source.address_shape import address_shape
from urltree.crawl.decisions.source.section import find_links
from urltree.crawl.decisions.source.section_articles import new_articles

URL = "https://news.example/city/"
WORDS = [
    "the",
    "council",
    "of",
    "the",
    "old",
    "town",
    "decides",
    "about",
    "a",
    "bridge",
    "near",
    "the",
    "river",
    "again",
    "today",
]


class Follower:
    """A follower of one section page; it looks at the page and keeps what it has learned."""

    def __init__(self, url: str = URL) -> None:
        self.url = url
        self.learned: dict[str, object] | None = None
        self.size = 0

    def look(self, html: bytes | str, content_type: str | None = None) -> set[str]:
        """Return the addresses of new articles, without the site; what is learned is JSON."""
        page = html if isinstance(html, bytes) else html.encode()
        items, learned = new_articles(find_links(page, content_type, self.url), self.learned)
        stored = json.dumps(learned)
        self.learned, self.size = json.loads(stored), len(stored)
        return {item.link.removeprefix("https://news.example") for item in items}


def headline(number: int) -> str:
    """Return a headline of five words that is different for each number."""
    return f"{number} {' '.join(WORDS[number % 9 : number % 9 + 5])}"


def address(number: int) -> str:
    """Return the address of an article."""
    return f"/city/{headline(number).replace(' ', '-')}.html"


def teaser(number: int, form: str = "<h2><a href={}>{}</a></h2>") -> str:
    """Return a teaser with links to the article, its author and its tag."""
    return (
        f"<div class=teaser>{form.format(address(number), headline(number))}"
        f"<span class=by><a href=/author/{number % 4}>Ann {number % 4}</a></span>"
        f"<a href=/tag/{number % 6}>tag {number % 6}</a></div>"
    )


def page(*numbers: int, form: str = "<h2><a href={}>{}</a></h2>", more: str = "") -> str:
    """Return a section page with a menu, these teasers, a pager, and a footer."""
    menu = "".join(f"<li><a href=/{name}>{name.title()}</a>" for name in WORDS[:9])
    pager = "".join(f"<a href=?page={at}>{at}</a>" for at in range(2, 9))
    return (
        f"<nav><ul>{menu}</ul></nav><main>{''.join(teaser(each, form) for each in numbers)}"
        f"<div class=pager>{pager}</div></main>{more}<footer><a href=/terms-and-conditions-of-use>"
        "Terms and conditions of use</a><a href=/privacy>Privacy</a></footer>"
    )


FORMS = {
    "linked headings": "<h2><a href={}>{}</a></h2>",
    "headings in links": "<a href={}><h3>{}</h3></a>",
    "links in a list": "<a class=x href={}>{}</a>",
    "more": "<h2>{1}</h2><a href={0}>Read more</a>",
    "pictures": "<a href={0}><img src=x></a><h2>{1}</h2>",
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_teasers_are_articles_and_nothing_else_is(form: str) -> None:
    """The first look takes the repeated teasers, in whatever form the site links its articles.

    Authors, tags, numbers of pages, menu and footer are left out. Later looks take what came.
    """
    follower = Follower()
    assert follower.look(page(*range(9), form=form)) == {address(at) for at in range(9)}
    assert follower.look(page(*range(9), form=form)) == set()
    assert follower.look(page(10, 9, *range(7), form=form)) == {address(9), address(10)}
    assert follower.look(page(*range(9), form=form)) == set()


def test_a_text_that_several_links_have_is_no_title() -> None:
    """Items of "read more" links have no title."""
    items, _ = new_articles(
        find_links(page(*range(9), form=FORMS["more"]).encode(), None, URL), None
    )
    assert {item.title for item in items} == {None}


def test_other_links_that_appear_later_are_no_articles() -> None:
    """A new author, tag, number of a page or entry of the menu is not an article."""
    follower = Follower()
    follower.look(page(*range(9)))
    grown = page(*range(9)).replace("/author/1>", "/author/77>").replace("/tag/2>", "/tag/88>")
    grown = grown.replace("</nav>", "<a href=/podcasts>Our new podcasts are here</a></nav>")
    assert follower.look(grown.replace("?page=8", "?page=9")) == set()


def test_one_new_article_at_another_place_is_found() -> None:
    """An article at a new place, such as the top of the page, is recognised by its shape."""
    follower = Follower()
    follower.look(page(*range(9)))
    top = f"<div class=breaking><a href={address(50)}>{headline(50)}</a></div>"
    assert follower.look(page(*range(9), more=top)) == {address(50)}


def test_a_new_design_makes_no_old_article_new() -> None:
    """After a change of all places, known addresses stay known, and new ones are found."""
    follower = Follower()
    follower.look(page(*range(9)))
    assert follower.look(page(9, *range(8), form="<p><a href={}>{}</a>")) == {address(9)}


def test_a_broken_page_forgets_nothing() -> None:
    """After an empty page, the articles that were there before are not new."""
    follower = Follower()
    assert follower.look("") == set()
    assert len(follower.look(page(*range(9)))) == 9
    assert follower.look("<p>Under construction") == set()
    assert follower.look(page(*range(9))) == set()


def test_headlines_without_spaces_are_wide_enough() -> None:
    """A headline in Chinese has no words to count; its letters are two columns wide."""
    titles = [
        "市政府决定修建新的河边大桥",
        "昨天夜里洪水淹没了老城区街道",
        "中学生发明会唱歌的自行车铃铛",
    ]
    html = "".join(f"<li><a href=/n/{at}.html>{title}</a>" for at, title in enumerate(titles))
    assert Follower().look(f"<nav><a href=/a>新闻</a></nav><ul>{html}</ul>") == {
        f"/n/{at}.html" for at in range(3)
    }


def test_what_is_learned_is_bounded() -> None:
    """After a hundred looks at ever new links, what is learned has less than 32 KB."""
    follower = Follower()
    for at in range(100):
        links = "".join(f"<a href=/{at}/a{n}-x/b-c-{n}>{headline(n)}</a>" for n in range(200))
        follower.look(links)
    assert 20_000 < follower.size < 32 * 1024


@pytest.mark.parametrize(
    ("url", "shape"),
    [
        ("https://a.example/", "/"),
        ("https://a.example/about", "/w"),
        ("https://a.example/after-the-flood/", "/slug/"),
        ("https://a.example/News/2026/11/after-the-flood.html", "/news/9/9/slug.html"),
        ("https://a.example/tag/river", "/tag/w"),
        ("https://a.example/article123456", "/slug"),
        ("https://a.example/view.php?t=17&lang=de", "/w.php?t=9&lang=w"),
    ],
)
def test_a_shape_has_no_variable_parts(url: str, shape: str) -> None:
    """Numbers and names of pages are replaced; folders and names of parameters stay."""
    assert address_shape(url) == shape


SITES = sites("section pages", 120)


def section_pages() -> list[tuple[SampleSite, str]]:
    """Return the front and the section pages of the sample sites."""
    return [(site, name) for site in SITES for name in ("", *site.sections)]


def test_new_articles_of_the_sample_sites_are_found() -> None:
    """At least 0.95 of the new articles are found, with at most 0.05 other links.

    The sites grow from 40 to 120 articles while they are looked at 21 times. The first look and
    the later ones are counted apart.
    """
    counts = {"first": [0, 0, 0], "later": [0, 0, 0]}
    for site, name in section_pages():
        follower = Follower(f"https://{site.host}/{name}")
        known: set[str] = set()
        articles = {site.url(article) for article in site.articles}
        for size in range(40, 121, 4):
            shown = replace(site, articles=site.articles[:size]).answer("https", f"/{name}")
            there = articles & set(re.findall(r'href="([^"]+)"', shown.body.decode(site.charset)))
            found = follower.look(shown.body, shown.content_type)
            row = counts["later" if known else "first"]
            row[0] += len(found & (there - known))
            row[1] += len(found - (there - known))
            row[2] += len(there - known - found)
            known |= there
    for right, wrong, missed in counts.values():
        assert right > 300
        assert right / (right + missed) >= 0.95
        assert wrong / (right + wrong) <= 0.05
