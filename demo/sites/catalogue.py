"""The five sites of the sample: their names, layouts and content.

| host | kind | language | feed | special |
|---|---|---|---|---|
| www.der-morgenbote.example | newspaper | German | RSS 2.0 | agency articles at two addresses |
| les-carnets-de-lea.example | blog | French | Atom | signed posts, long comments |
| www.zielony-kat.example | shop, magazine | Polish | JSON Feed | the query names the page |
| docs.quillstack.example | manuals, releases | English | RSS 1.0 | code, tables, no comments |
| forum.veloklub.example | forum | Russian | RSS 2.0 | windows-1251, the query names the page |
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from demo.sites.article import Article, ArticlePart
from demo.sites.feed import ATOM, FORUM, JSON, RDF, RSS, FeedFormat
from demo.sites.shapes import advice, manual, news_report, post, question
from demo.sites.site import SampleSite
from demo.sites.writer import ArticleWriter

FIRST = datetime(2026, 1, 12, 5, tzinfo=UTC)
PACE = timedelta(minutes=140)  # 120 articles span 12 days, so max_age_days (14) evicts none


@dataclass(frozen=True)
class _Plan:
    """The fixed properties of a site, before its articles are generated."""

    host: str
    name: str
    template: str
    feed: FeedFormat
    locale: str
    shape: Callable[[ArticleWriter], tuple[ArticlePart, ...]]
    comments: int
    sections: Mapping[str, str]
    address: Callable[[Article], str]
    parameter: str = ""
    charset: str = "utf-8"


_PLANS = (
    _Plan(
        "www.der-morgenbote.example",
        "Der Morgenbote",
        "news",
        RSS,
        "de_DE",
        news_report,
        5,
        {
            "politik": "Politik",
            "wirtschaft": "Wirtschaft",
            "kultur": "Kultur",
            "sport": "Sport",
            "ticker": "Ticker",
        },
        lambda a: f"/{a.section}/{a.published:%Y/%m}/{a.slug}-{a.number}.html",
    ),
    _Plan(
        "les-carnets-de-lea.example",
        "Les carnets de Léa",
        "blog",
        ATOM,
        "fr_FR",
        post,
        7,
        {"cuisine": "Cuisine", "voyages": "Voyages", "lectures": "Lectures"},
        lambda a: f"/{a.published:%Y/%m}/{a.slug}/",
    ),
    _Plan(
        "www.zielony-kat.example",
        "Zielony Kąt",
        "magazine",
        JSON,
        "pl_PL",
        advice,
        3,
        {"warzywa": "Warzywa", "kwiaty": "Kwiaty", "trawnik": "Trawnik", "narzedzia": "Narzędzia"},
        lambda a: f"/poradnik.php?id={a.number}",
        "id",
    ),
    _Plan(
        "docs.quillstack.example",
        "Quillstack documentation",
        "manuals",
        RDF,
        "en_US",
        manual,
        0,
        {"guide": "Guide", "reference": "Reference", "releases": "Release notes"},
        lambda a: f"/4.2/{a.section}/{a.slug}/",
    ),
    _Plan(
        "forum.veloklub.example",
        "Велоклуб",
        "forum",
        FORUM,
        "ru_RU",
        question,
        6,
        {"remont": "Ремонт", "pohody": "Походы", "rynok": "Барахолка", "novosti": "Новости"},
        lambda a: f"/viewtopic.php?t={a.number}",
        "t",
        "windows-1251",
    ),
)


def sites(seed: str, articles: int) -> tuple[SampleSite, ...]:
    """Return the five sites with this number of articles each, and with syndicated articles."""
    news, blog, magazine, manuals, forum = (_site(plan, seed, articles) for plan in _PLANS)
    releases = [a for a in manuals.articles if a.section == "releases"][:4]
    return (
        _syndicated(news, [a for a in news.articles if a.section == "wirtschaft"][::6], "ticker"),
        blog,
        magazine,
        manuals,
        _syndicated(forum, releases, "novosti"),
    )


def _site(plan: _Plan, seed: str, count: int) -> SampleSite:
    writer = ArticleWriter(plan.locale, plan.shape)
    chance = random.Random(f"{seed} {plan.host}")
    articles = []
    for at in range(count):
        number = 10_000 + 17 * at + chance.randint(0, 9)
        published = FIRST + at * PACE + timedelta(minutes=chance.randint(0, 90))
        section = chance.choice(list(plan.sections))
        own = f"{seed} {plan.host} {at}"
        articles.append(writer.article(own, number, section, published, comments=plan.comments))
    return SampleSite(
        plan.host,
        plan.name,
        plan.template,
        plan.sections,
        plan.address,
        tuple(articles),
        plan.feed,
        plan.parameter,
        plan.charset,
    )


def _syndicated(site: SampleSite, pieces: list[Article], section: str) -> SampleSite:
    """Return the site with copies of other articles added to a section.

    The copies have the same words, but other addresses.
    """
    copies = [
        replace(
            piece,
            number=90_000 + at,
            section=section,
            published=piece.published + timedelta(minutes=25),
            comments=(),
        )
        for at, piece in enumerate(pieces)
    ]
    articles = sorted((*site.articles, *copies), key=lambda article: article.published)
    return replace(site, articles=tuple(articles))
