"""Generators that insert ads, author boxes, offers, consent banners or captions into every page.

Inserted text is not gold. Captions are the exception, because they belong to the article.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from html import escape
from random import Random

from bench.hard_streams.cut_page import CutPage, cut_page
from bench.hard_streams.naming import Naming
from bench.hard_streams.wording import CONSENT, OFFERS, biography
from urltree_evaluation.corpus import CorpusPage

StreamPages = Sequence[CorpusPage]

RECENT = 8  # number of recent articles to which a page may link
AUTHORS = 36  # with weights of 1 to 5, each author writes about 0.9 % to 4.6 % of the pages
_CAPTIONS = 6
_CAPTION = (40, 110)  # lowest and highest number of characters of a caption


def random_of(page: CorpusPage, what: str) -> Random:
    """Return a random generator that depends only on the page and `what`."""
    return Random(f"{what} {page.id}")


def on_each(pages: StreamPages, change: Callable[[int, CutPage], CorpusPage]) -> list[CorpusPage]:
    """Change each page that can be cut, and remove the gold of each other page."""
    return [
        replace(page, gold=None) if (article := cut_page(page)) is None else change(number, article)
        for number, page in enumerate(pages)
    ]


def recent(pages: StreamPages, number: int, count: int = RECENT) -> list[CutPage]:
    """Return the articles among the last `count` pages before a page, the oldest first."""
    before = pages[max(0, number - count) : max(0, number)]
    return [article for page in before if (article := cut_page(page))]


def interjections(pages: StreamPages, naming: Naming) -> list[CorpusPage]:
    """Insert between paragraphs, in rotation: nothing, "Read more: …", "Advertisement"."""

    def change(number: int, article: CutPage) -> CorpusPage:
        random = random_of(article.page, "interjections")
        known = recent(pages, number)
        added = {}
        for paragraph in range(len(article.lines) - 1):
            if paragraph % 3 == 2:
                added[f"after {paragraph}"] = f"<p {naming('advertisement')}>Advertisement</p>"
            elif paragraph % 3 == 1 and known:
                other = random.choice(known)
                added[f"after {paragraph}"] = (
                    f"<p {naming('read-more')}>Read more: {linked(other, escape(other.title))}</p>"
                )
        return replace(article.page, html=article.put(added))

    return on_each(pages, change)


def author_boxes(pages: StreamPages, naming: Naming) -> list[CorpusPage]:
    """Add a box about the author below each article; each box is on 1 % to 5 % of the pages."""
    domain = pages[0].domain if pages else ""
    random = Random(f"authors {domain}")
    biographies = [biography(random) for _ in range(AUTHORS)]
    weights = [random.uniform(1, 5) for _ in range(AUTHORS)]

    def change(_: int, article: CutPage) -> CorpusPage:
        text = random_of(article.page, "author").choices(biographies, weights)[0]
        box = f"<div {naming('author-box')}><p>{text}</p></div>"
        return replace(article.page, html=article.put({"outside": box}))

    return on_each(pages, change)


def paywall(pages: StreamPages, naming: Naming, *, ends: bool) -> list[CorpusPage]:
    """Insert one of three offers after the first paragraph; prices change every 50 pages.

    Args:
        pages: pages of a site.
        naming: function that makes the class name of the offer.
        ends: whether, on two of five pages, the article and its gold end at the offer.
    """

    def change(number: int, article: CutPage) -> CorpusPage:
        random = random_of(article.page, "paywall")
        texts = [text.format(price=1 + number // 50) for text in random.choice(OFFERS)]
        offer = f"<div {naming('paywall')}>{_paragraphs(texts)}</div>"
        if ends and random.random() < 0.4:
            shown = "\n".join(article.gold[: article.lines[0][1] + 1])
            short = article.put({"after 0": offer}, cut=("after 0", "inside"))
            return replace(article.page, html=short, gold=shown)
        return replace(article.page, html=article.put({"after 0": offer}))

    return on_each(pages, change)


def consent(pages: StreamPages, naming: Naming) -> list[CorpusPage]:
    """Insert a consent banner in one of three languages, as if fetched from three countries.

    All pages of a site have the banner at the same place, which is the start or the end of the
    page. The number of partners in the banner grows.
    """
    place = (
        "start" if Random(f"consent {pages[0].domain if pages else ''}").random() < 0.5 else "end"
    )

    def change(number: int, article: CutPage) -> CorpusPage:
        texts = random_of(article.page, "consent").choice(CONSENT)
        said = [text.format(partners=812 + number // 50) for text in texts]
        banner = f"<div {naming('cookie-consent')}>{_paragraphs(said)}</div>"
        return replace(article.page, html=article.put({place: banner}))

    return on_each(pages, change)


def captions(pages: StreamPages, naming: Naming) -> list[CorpusPage]:
    """Insert a gallery with captions into the article; the captions are gold.

    Captions are parts of the article's own sentences, so they are in the article's language and on
    no other page.
    """

    def change(_: int, article: CutPage) -> CorpusPage:
        random = random_of(article.page, "captions")
        texts = [_caption(article, random) for _ in range(_CAPTIONS)]
        figures = [
            f'<figure {naming("gallery-item")}><img src="/pictures/{number}.jpg">'
            f"<figcaption {naming('caption')}>{escape(text)}</figcaption></figure>"
            for number, text in enumerate(texts)
        ]
        gallery = f"<div {naming('gallery')}>{''.join(figures)}</div>"
        paragraph = min(1, len(article.lines) - 1)
        line = article.lines[paragraph][1] + 1
        gold = [*article.gold[:line], *texts, *article.gold[line:]]
        changed = article.put({f"after {paragraph}": gallery})
        return replace(article.page, html=changed, gold="\n".join(gold))

    return on_each(pages, change)


def linked(article: CutPage, markup: str) -> str:
    """Return markup inside a link to an article."""
    return f'<a href="{escape(article.page.url)}">{markup}</a>'


def _paragraphs(texts: Sequence[str]) -> str:
    return "".join(f"<p>{escape(text)}</p>" for text in texts)


def _caption(article: CutPage, random: Random) -> str:
    text = " ".join(article.gold[1:])
    length = random.randint(*_CAPTION)
    start = random.randrange(max(1, len(text) - length))
    words = text[start : start + length].split(" ")
    return " ".join(words[1:-1] if len(words) > 3 else words)
