"""The five sites and the items of their feeds, in the order of time.

Most articles are listed once. Some are listed a second time, at another address of the same page.
There is one kind of such address for each step that recognises duplicates. Each site also lists
addresses without a usable page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from urllib.parse import urlsplit

from demo.sites.article import Article
from demo.sites.catalogue import sites
from demo.sites.feed import SampleItem
from demo.sites.site import FORBIDDEN, SampleSite

SEED = "urltree"
ARTICLES = 120  # number of articles of each site
AGAIN = timedelta(hours=5)  # time until an article is listed again with a new date
CAMPAIGN = "utm_source=feed&utm_medium=rss"
# Paths without a usable page: missing, empty, not HTML, forbidden by robots.txt.
NO_PAGES = ("/weg", "/leer/", "/preise.pdf", FORBIDDEN)


@dataclass(frozen=True)
class SiteSample:
    """The sites, and the items of their feeds by host, in the order of time."""

    sites: tuple[SampleSite, ...]
    feeds: Mapping[str, tuple[SampleItem, ...]] = field(repr=False)

    @property
    def items(self) -> list[SampleItem]:
        """Items of all feeds, in the order of time."""
        everything = (item for items in self.feeds.values() for item in items)
        return sorted(everything, key=lambda item: (item.published, item.url))

    def site(self, host: str) -> SampleSite | None:
        """Return the site that a Host header names, or None if there is no such site."""
        name = host.lower().partition(":")[0]
        return next((site for site in self.sites if site.host == name), None)

    def gold(self, url: str) -> str | None:
        """Return title and body of the article at an address, or None if it has no article."""
        parts = urlsplit(url)
        site = self.site(parts.netloc)
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        article = site.article_at(target) if site else None
        return article.gold if article else None


@cache
def make_sample(seed: str = SEED, articles: int = ARTICLES) -> SiteSample:
    """Generate the sample; the same arguments give the same bytes."""
    made = sites(seed, articles)
    return SiteSample(made, {site.host: _feed(site) for site in made})


def _feed(site: SampleSite) -> tuple[SampleItem, ...]:
    listed = sorted(_listed(site), key=lambda row: row[:2])
    return tuple(
        SampleItem(f"tag:{site.host},2026:{at}", url, title, summary, published)
        for at, (published, url, title, summary) in enumerate(listed)
    )


def _listed(site: SampleSite) -> Iterator[tuple[datetime, str, str, str]]:
    """Return date, address, title and summary of each item."""
    for at, article in enumerate(site.articles):
        said = article.title, article.summary
        first = _FIRST.get(at % 10, _same)
        yield article.published, first(site, article), *said
        again = _AGAIN.get(at % 10)
        if again:
            yield article.published + AGAIN, again(site, article), *said
    middle = site.articles[len(site.articles) // 2].published
    for path in NO_PAGES:
        yield middle, f"https://{site.host}{path}", path, ""


def _same(site: SampleSite, article: Article) -> str:
    return site.url(article)


def _short(site: SampleSite, article: Article) -> str:
    return f"https://{site.host}/go?a={article.number}"


def _insecure(site: SampleSite, article: Article) -> str:
    return "http" + site.url(article).removeprefix("https")


def _spelled(site: SampleSite, article: Article) -> str:
    return f"https://{site.host.upper()}:443{site.address(article)}#main"


def _campaign(site: SampleSite, article: Article) -> str:
    url = site.url(article)
    return f"{url}{'&' if '?' in url else '?'}{CAMPAIGN}"


# Functions that return the first and the second address of an article, by the last digit of the
# article's index in its site.
_Spelling = Callable[[SampleSite, Article], str]
_FIRST: Mapping[int, _Spelling] = {1: _insecure, 2: _short, 3: _campaign}
_AGAIN: Mapping[int, _Spelling] = {4: _same, 5: _short, 6: _spelled, 7: _campaign}
