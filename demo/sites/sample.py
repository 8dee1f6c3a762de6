"""What a reader of the five sites' feeds would request, in the order of time.

Most articles are requested once. Some come again under an address that means the same, one kind
for each step that reveals a duplicate, and each site has addresses behind which there is no page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from urllib.parse import urlsplit

from demo.sites.article import Article
from demo.sites.catalogue import sites
from demo.sites.site import Site

SEED = "urltree"
ARTICLES = 120  # of each site
DELAY = timedelta(minutes=7)  # from publication to the fetch
AGAIN = timedelta(hours=5)  # until the same article turns up once more
CAMPAIGN = "utm_source=feed&utm_medium=rss"


@dataclass(frozen=True, slots=True)
class Request:
    """An address to fetch, with what the feed that named it says.

    Attributes:
        fetched_at: when; the sample has no clock.
    """

    url: str
    fetched_at: datetime
    title: str | None = None
    published: datetime | None = None


@dataclass(frozen=True)
class Sample:
    """The sites, and the requests to them."""

    sites: tuple[Site, ...]
    requests: tuple[Request, ...] = field(repr=False)

    def site(self, host: str) -> Site | None:
        """The site of a Host header."""
        name = host.lower().partition(":")[0]
        return next((site for site in self.sites if site.host == name), None)

    def gold(self, url: str) -> str | None:
        """The title and body of the article at an address; None where there is none."""
        parts = urlsplit(url)
        site = self.site(parts.netloc)
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        article = site.article_at(target) if site else None
        return article.gold if article else None


@cache
def sample(seed: str = SEED, articles: int = ARTICLES) -> Sample:
    """The same sample for the same arguments, to the byte."""
    made = sites(seed, articles)
    requests = [request for site in made for request in _requests(site)]
    return Sample(made, tuple(sorted(requests, key=lambda r: (r.fetched_at, r.url))))


def _requests(site: Site) -> Iterator[Request]:
    for at, article in enumerate(site.articles):
        url = site.url(article)
        fetched_at = article.published + DELAY
        first = _FIRST.get(at % 10)
        yield _request(first(site, article) if first else url, article, fetched_at)
        again = _AGAIN.get(at % 10)
        if again:
            yield _request(again(site, article), article, fetched_at + AGAIN)
    middle = site.articles[len(site.articles) // 2].published
    for path in ("/weg", "/leer/", "/preise.pdf"):
        yield Request(f"https://{site.host}{path}", middle)


def _request(url: str, article: Article, fetched_at: datetime) -> Request:
    return Request(url, fetched_at, article.title, article.published)


def _same(site: Site, article: Article) -> str:
    return site.url(article)


def _short(site: Site, article: Article) -> str:
    return f"https://{site.host}/go?a={article.number}"


def _insecure(site: Site, article: Article) -> str:
    return "http" + site.url(article).removeprefix("https")


def _spelled(site: Site, article: Article) -> str:
    return f"https://{site.host.upper()}:443{site.address(article)}#main"


def _campaign(site: Site, article: Article) -> str:
    url = site.url(article)
    return f"{url}{'&' if '?' in url else '?'}{CAMPAIGN}"


# by the last digit of an article's place in its site: how it is first requested, and how again
_Spelling = Callable[[Site, Article], str]
_FIRST: Mapping[int, _Spelling] = {1: _insecure, 2: _short, 3: _campaign}
_AGAIN: Mapping[int, _Spelling] = {4: _same, 5: _short, 6: _spelled, 7: _campaign}
