"""Pages that ended elsewhere, or with the text of another address, are held until it is settled."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from urltree.crawl.decisions.host.page.host_pages import HostPages
from urltree.crawl.decisions.host.page.page_ends import (
    MAX_HELD,
    PageRuling,
    Ruling,
    add_page,
    describe_end,
    is_elsewhere,
    judge,
    judge_held,
)
from urltree.crawl.decisions.host.page.visible_text import PageText
from urltree.crawl.decisions.timing import MINUTE

NOW = 1_700_000_000.0
SITE = "https://news.example"
SLUGS = [
    "bridge-closed-for-repairs",
    "mayor-wins-second-term",
    "storm-hits-the-northern-coast",
    "museum-opens-after-ten-years",
    "harbour-gets-a-new-crane",
    "teachers-ask-for-smaller-classes",
    "old-mill-becomes-a-library",
    "river-is-clean-again",
]
NAVIGATION = b"<nav>" + b"".join(b'<a href="/%d">Section</a> ' % n for n in range(30)) + b"</nav>"

Served = tuple[str, bytes]
"""The address at which a page ended, and its bytes."""


def url_of(slug: str) -> str:
    """Return the address of an article."""
    return f"{SITE}/2024/05/{slug}"


def title_of(slug: str) -> str:
    """Return the title of an article."""
    return slug.replace("-", " ").capitalize()


def article(slug: str) -> bytes:
    """Return the page of an article with 300 words."""
    words = random.Random(slug).sample(
        [f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(600)], 300
    )
    title = title_of(slug)
    text = f"<title>{title} | News</title><body><h1>{title}</h1><p>{' '.join(words)}</p>"
    return text.encode() + NAVIGATION


def wall(*parts: str, title: str = "News") -> bytes:
    """Return a page with little text."""
    return f"<title>{title}</title><body>".encode() + NAVIGATION + "".join(parts).encode()


class Host:
    """The worker that owns the host at which pages end: it judges each page that is served."""

    def __init__(self, serve: Callable[[str], Served], *, with_titles: bool = True) -> None:
        self.serve = serve
        self.with_titles = with_titles
        self.pages = HostPages.empty()
        self.held: dict[str, float] = {}
        self.ends: dict[str, PageRuling] = {}
        self.requests = 0

    def fetch(self, url: str, now: float, title: str | None = None) -> None:
        """Request a page, and judge it."""
        self.requests += 1
        final_url, page = self.serve(url)
        named = title if self.with_titles else None
        end = describe_end(url, final_url, PageText(page, url, final_url), named)
        add_page(self.pages, end, now)
        self.pages = HostPages.decode(self.pages.encode(), now)
        self._end(url, judge(end, self.pages, now, self.held.get(url)), now)

    def look(self, now: float, titles: dict[str, str]) -> None:
        """Look at the pages that are held."""
        for url, since in list(self.held.items()):
            found = judge_held(url, self.serve(url)[0], self.pages, now, since)
            if found.ruling is Ruling.PUBLISH:
                self.fetch(url, now, titles[url])
            else:
                self._end(url, found, now)

    def _end(self, url: str, found: PageRuling, now: float) -> None:
        if found.ruling is Ruling.HOLD:
            assert found.until is not None
            assert now < found.until <= self.held.setdefault(url, now) + MAX_HELD
        else:
            self.held.pop(url, None)
            self.ends[url] = found


def follow(host: Host, urls: list[str], seconds_each: float = 2.0) -> dict[str, PageRuling]:
    """Fetch pages one by one, and look at the held ones for an hour and a minute."""
    titles = {url: title_of(url.rpartition("/")[2].partition("?")[0]) for url in urls}
    for number, url in enumerate(urls):
        host.fetch(url, NOW + number * seconds_each, titles[url])
    for minute in range(1, 62):
        host.look(NOW + minute * MINUTE, titles)
    assert not host.held
    return host.ends


def many_to_one(_: str) -> Served:
    """Return a page to which every address leads."""
    return f"{SITE}/gate", wall("<p>Welcome to the gate of our site.</p>")


def front_page(_: str) -> Served:
    """Return the front page, which lists the newest articles."""
    links = "".join(f"<h2><a href='/{slug}'>{title_of(slug)}</a></h2>" for slug in SLUGS)
    return f"{SITE}/", wall(links, "<p>teaser text of the front page</p>" * 60)


def login(url: str) -> Served:
    """Return a login page that has the address of the article in its own address."""
    return f"{SITE}/login?next={url}", wall("<form>Name and password</form>")


def login_elsewhere(url: str) -> Served:
    """Return a login page of another domain."""
    return f"https://sso.example.org/realms/news/?return={url}", wall("<p>Sign in to go on.</p>")


def consent(url: str) -> Served:
    """Return a consent page, which is left by a cookie."""
    return f"{SITE}/privacy-gate/consent?return={url}", wall("<p>We value your privacy.</p>" * 60)


def subscribe(url: str) -> Served:
    """Return a page that sells subscriptions and repeats the title."""
    slug = url.rpartition("/")[2]
    text = f"<h1>{title_of(slug)}</h1><p>{'Read on with a subscription. ' * 80}</p>"
    return f"{SITE}/subscribe/{slug}", wall(text, title=title_of(slug))


def soft_404(url: str) -> Served:
    """Return the same text at each address."""
    return url, wall("<h1>Not found</h1><p>This page is gone. Try our search.</p>")


def soft_404_with_address(url: str) -> Served:
    """Return a text that repeats the address, with a time and a number of the request."""
    path = url.removeprefix(SITE)
    time = f"{len(url)}:{sum(map(ord, url)) % 60}"
    text = f"<p>There is no page {path} here ({time}, request {len(url)}f{sum(url.encode())}).</p>"
    return url, wall(text, title=f"{path} was not found")


def long_soft_404(url: str) -> Served:
    """Return the same long text at each address."""
    return url, wall("<h1>Not found</h1>", "<p>All about cookies and terms of use.</p>" * 40)


def too_many(url: str) -> Served:
    """Return a text that asks for fewer requests, with status 200."""
    return url, b"<body><p>Too many requests. Please wait for 30 seconds."


WALLS = [
    many_to_one,
    front_page,
    login,
    login_elsewhere,
    consent,
    subscribe,
    soft_404,
    soft_404_with_address,
    long_soft_404,
    too_many,
]


@pytest.mark.parametrize("order", range(3))
@pytest.mark.parametrize("serve", WALLS)
def test_a_wall_is_refused_at_every_address(serve: Callable[[str], Served], order: int) -> None:
    """Eight of eight articles that are replaced by a wall are refused, in any order.

    No page is requested twice: the first pages are refused by what the third one shows.
    """
    urls = [url_of(slug) for slug in SLUGS]
    random.Random(order).shuffle(urls)
    host = Host(serve)
    assert {found.ruling for found in follow(host, urls).values()} == {Ruling.WALL}
    assert len(host.ends) == host.requests == 8


@pytest.mark.parametrize("serve", [many_to_one, front_page, login, consent, soft_404, too_many])
def test_a_wall_is_refused_without_titles(serve: Callable[[str], Served]) -> None:
    """Walls are refused, although the source of the pages, such as a sitemap, has no titles."""
    found = follow(Host(serve, with_titles=False), [url_of(slug) for slug in SLUGS])
    assert {ruling.ruling for ruling in found.values()} == {Ruling.WALL}


@pytest.mark.parametrize("order", range(4))
def test_articles_between_walls_are_published(order: int) -> None:
    """Articles of a host are published, and its walls refused, in whichever order they come."""
    free = [f"{SITE}/2024/06/{slug}-in-brief" for slug in SLUGS]
    closed = [url_of(slug) for slug in SLUGS]
    urls = free + closed
    random.Random(order).shuffle(urls)

    def serve(url: str) -> Served:
        return (url, article(url.rpartition("/")[2])) if url in free else many_to_one(url)

    ends = follow(Host(serve), urls)
    assert {url for url, found in ends.items() if found.ruling is Ruling.WALL} == set(closed)


def moved(url: str) -> Served:
    """Return the article at its path on another domain."""
    return url.replace(SITE, "https://www.moved.example"), article(url.rpartition("/")[2])


def new_slug(url: str) -> Served:
    """Return the article with a longer slug."""
    return url + "-updated", article(url.rpartition("/")[2])


def other_slug(url: str) -> Served:
    """Return the article at an address that has nothing of its first one."""
    slug = url.rpartition("/")[2]
    return f"{SITE}/story/{''.join(reversed(slug.replace('-', '')))}", article(slug)


def live_page(_: str) -> Served:
    """Return a live page, which has all titles, although each item has an address of its own."""
    text = "".join(f"<h2>{title_of(slug)}</h2><p>{'news of the hour ' * 20}</p>" for slug in SLUGS)
    return f"{SITE}/live", wall(text, title="Live")


def localised(url: str) -> Served:
    """Return the article below a locale."""
    return url.replace(SITE, SITE + "/en-gb") + "/", article(url.rpartition("/")[2])


@pytest.mark.parametrize("serve", [moved, new_slug, other_slug, live_page, localised])
def test_a_redirect_to_the_article_is_published_at_once(serve: Callable[[str], Served]) -> None:
    """Articles are published at their first request if their redirect leads to the article."""
    host = Host(serve)
    ends = follow(host, [url_of(slug) for slug in SLUGS])
    assert {found.ruling for found in ends.values()} == {Ruling.PUBLISH}
    assert len(ends) == host.requests


def test_a_page_that_the_feed_names_is_published() -> None:
    """Items that lead to a page that another item names are published."""
    live = f"{SITE}/live"
    host = Host(lambda _: (live, wall("<p>what happens now</p>" * 90)))
    ends = follow(host, [live, *(url_of(slug) for slug in SLUGS)])
    assert {found.ruling for found in ends.values()} == {Ruling.PUBLISH}


def test_one_page_under_several_fragments_and_parameters_is_published() -> None:
    """Items of one live page differ in fragment and query only; none of them is a wall."""
    page = wall("<p>what happens now in the town</p>" * 90, title="Live")
    host = Host(lambda url: (url.partition("#")[0], page))
    urls = [f"{SITE}/live?post={n}" for n in range(4)] + [f"{SITE}/live#{n}" for n in range(4)]
    assert {found.ruling for found in follow(host, urls).values()} == {Ruling.PUBLISH}


def test_a_lone_page_is_held_for_an_hour_at_most() -> None:
    """A page that nothing settles is published after an hour, with a second request."""
    host = Host(lambda _: (f"{SITE}/9f3a", wall("<p>A short note without its title.</p>")))
    ends = follow(host, [url_of(SLUGS[0])])
    assert [found.ruling for found in ends.values()] == [Ruling.PUBLISH]
    assert host.requests == 2


def test_a_lone_page_at_a_login_is_refused_after_an_hour() -> None:
    """A page that ended at a path for login is refused, although no other item ended there."""
    [found] = follow(Host(login), [url_of(SLUGS[0])]).values()
    assert (found.ruling, found.wall) == (Ruling.WALL, "login")
    assert found.message.endswith("it ended at https://news.example/login")


def test_three_other_short_pages_settle_a_short_page() -> None:
    """Short posts with texts of their own are published after five minutes."""
    host = Host(lambda url: (url, wall(f"<p>{' '.join(SLUGS[len(url) % 8].split('-'))} pic</p>")))
    titles = {url_of(f"x{n}" * n): "Quite another headline" for n in range(1, 5)}
    for number, (url, title) in enumerate(titles.items()):
        host.fetch(url, NOW + number, title)
    assert len(host.held) == 4
    host.look(NOW + 4 * MINUTE, titles)
    assert not host.ends
    host.look(NOW + 6 * MINUTE, titles)
    assert {found.ruling for found in host.ends.values()} == {Ruling.PUBLISH}


def test_short_posts_of_a_photo_blog_are_published_at_once() -> None:
    """Posts whose only words are their titles are published, although their slugs repeat them."""

    def photo(url: str) -> Served:
        title = title_of(url.rpartition("/")[2])
        return url, wall(f"<h1>{title}</h1><img src='1.jpg'>", title=f"{title} | Photos")

    for with_titles in (True, False):
        host = Host(photo, with_titles=with_titles)
        ends = follow(host, [url_of(slug) for slug in SLUGS])
        assert {found.ruling for found in ends.values()} == {Ruling.PUBLISH}
        assert host.requests == 8


def test_items_without_words_in_their_titles_count_as_untitled() -> None:
    """A feed with empty titles, or with titles of punctuation, holds none of its articles."""
    for title in ("", "…", "<b></b>"):
        host = Host(lambda url: (url, article(url.rpartition("/")[2])))
        for slug in SLUGS:
            host.fetch(url_of(slug), NOW, title)
        assert not host.held


def test_a_time_in_the_future_is_no_time() -> None:
    """A page that a wrong clock has held for ever is held for an hour from now."""
    url, final_url = url_of(SLUGS[0]), f"{SITE}/gate"
    pages = HostPages.empty()
    end = describe_end(url, final_url, PageText(b"<p>gate", url, final_url), None)
    add_page(pages, end, NOW)
    found = judge(end, pages, NOW, NOW + 90 * 86_400)
    assert found.ruling is Ruling.HOLD
    assert found.until is not None
    assert found.until <= NOW + MAX_HELD


@pytest.mark.parametrize(
    ("asked", "found", "elsewhere"),
    [
        ("https://a.example/politics/a-b-c", "https://a.example/plus/politics/a-b-c", False),
        ("http://news.example/a/b", "https://www.news.example/a/b/", False),
        ("https://old.example/2024/a-b", "https://new.example/2024/a-b", False),
        ("https://a.example/x/a-b-c", "https://a.example/x/a-b-c-d-e.html", False),
        ("https://a.example/x/12345-old", "https://a.example/y/new-12345", False),
        ("https://a.example/a-b", "https://a.example/de-at/a-b", False),
        ("https://a.example/a/index.html", "https://a.example/a", False),
        ("https://a.example/a/b-c.html", "https://a.example/a/b-c.amp", False),
        ("https://a.example/login-for-all", "https://a.example/login-for-all/", False),
        ("https://a.example/a?utm_source=x", "https://a.example/a", False),
        ("https://a.example/news/a-b", "https://a.example/", True),
        ("https://a.example/news/a-b", "https://a.example/en/", True),
        ("https://a.example/news/a-b", "https://a.example/news", True),
        ("https://a.example/news/a-b", "https://a.example/login/news/a-b", True),
        ("https://a.example/news/a-b", "https://a.example/Sign-In.php/a-b", True),
        ("https://a.example/2024/a-b", "https://a.example/2024/", True),
        ("https://a.example/?p=12", "https://a.example/x", True),
        ("https://a.example/a", "http://[", True),
        ("/news/123.html", "/123", False),
        ("/news/123.html", "/login/123", True),
    ],
)
def test_some_paths_are_another_one(asked: str, found: str, elsewhere: bool) -> None:
    """Two paths are the same page if they differ in what sites change without another page."""
    assert is_elsewhere(asked, found) is elsewhere
