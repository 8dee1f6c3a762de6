"""A web site: its articles, their addresses, and its responses to requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from email.utils import format_datetime
from functools import cache, cached_property
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from demo.sites.article import Article
from demo.sites.feed import FeedFormat, SampleItem

FORBIDDEN = "/intern/"  # path that robots.txt forbids; the job obeys robots.txt
_ROBOTS = f"User-agent: *\nDisallow: {FORBIDDEN}\n".encode()
_PDF = b"%PDF-1.4\n1 0 obj << /Type /Catalog >> endobj\ntrailer << /Root 1 0 R >>\n%%EOF\n"


@dataclass(frozen=True, slots=True)
class SiteResponse:
    """An HTTP response."""

    status: int
    content_type: str
    body: bytes = b""
    location: str | None = None


@dataclass(frozen=True)
class SampleSite:
    """A web site of the sample.

    Attributes:
        host: host of the site's pages, whose addresses begin with https.
        name: name for readers.
        template: folder in `templates/`, whose texts are in the site's language.
        sections: name of each section for readers, by its name in addresses.
        address: returns the path and query of an article.
        articles: articles in the order of publication.
        feed: format and address of its feed.
        parameter: query parameter that names the page; empty if the path names it.
        charset: charset of the bytes that it sends.
    """

    host: str
    name: str
    template: str
    sections: Mapping[str, str]
    address: Callable[[Article], str]
    articles: tuple[Article, ...]
    feed: FeedFormat
    parameter: str = ""
    charset: str = "utf-8"

    def url(self, article: Article) -> str:
        """Return the address of an article."""
        return f"https://{self.host}{self.address(article)}"

    @property
    def feed_url(self) -> str:
        """Address of the feed."""
        return f"https://{self.host}{self.feed.path}"

    def listing(self, items: Sequence[SampleItem]) -> bytes:
        """Return the feed with these items, newest first."""
        template = environment().get_template(f"feeds/{self.feed.template}")
        return template.render(site=self, items=items).encode(self.charset, "xmlcharrefreplace")

    def answer(self, scheme: str, target: str) -> SiteResponse:
        """Return the response to a request for a path and query, except for the feed."""
        if scheme == "http":
            return self._redirect(target)
        article = self.article_at(target)
        if article:
            return self._html("article.html", article=article)
        parts = urlsplit(target)
        if parts.path == "/go":
            return self._short(parse_qs(parts.query).get("a", [""])[0])
        if parts.path == "/":
            return self._html("front.html", listed=self.articles[-1:-25:-1], section=None)
        return self._other(parts.path)

    def _other(self, path: str) -> SiteResponse:
        name = path.strip("/")
        if name == "robots.txt":
            return SiteResponse(200, "text/plain", _ROBOTS)
        if name in self.sections:
            listed = [a for a in reversed(self.articles) if a.section == name]
            return self._html("front.html", listed=listed, section=name)
        if name == "leer":
            return SiteResponse(200, self._type)
        if name.endswith(".pdf"):
            return SiteResponse(200, "application/pdf", _PDF)
        # 404 is not final for a page that a feed has just named, and is asked again for hours.
        return SiteResponse(410, self._type, b"<!doctype html><title>410</title><h1>410 Gone</h1>")

    def article_at(self, target: str) -> Article | None:
        """Return the article at a path and query; unknown parameters are ignored."""
        return self._by_place.get(self._place(target))

    @cached_property
    def _by_place(self) -> dict[tuple[str, ...], Article]:
        return {self._place(self.address(article)): article for article in self.articles}

    def _place(self, target: str) -> tuple[str, ...]:
        """Return path and value of `parameter`, the same for all spellings of an address."""
        parts = urlsplit(target)
        return (unquote(parts.path), *parse_qs(parts.query).get(self.parameter, []))

    @property
    def _type(self) -> str:
        return f"text/html; charset={self.charset}"

    def _redirect(self, target: str) -> SiteResponse:
        return SiteResponse(301, self._type, location=f"https://{self.host}{target}")

    def _short(self, number: str) -> SiteResponse:
        """Return the redirect of a short link, as sites offer them for sharing."""
        for article in self.articles:
            if str(article.number) == number:
                return SiteResponse(302, self._type, location=self.url(article))
        return SiteResponse(404, self._type)

    def _html(self, page: str, **context: object) -> SiteResponse:
        template = environment().get_template(f"{self.template}/{page}")
        text = template.render(site=self, **context)
        return SiteResponse(200, self._type, text.encode(self.charset, "xmlcharrefreplace"))

    def before(self, article: Article, count: int) -> tuple[Article, ...]:
        """Return the newest articles before this one, newest first, for a sidebar."""
        at = self.articles.index(article)
        return self.articles[max(0, at - count) : at][::-1]

    def popular(self, article: Article, count: int) -> list[Article]:
        """Return older articles that count as the most read ones on the article's day."""
        known = self.articles[: self.articles.index(article)]
        day = article.published.toordinal()
        return sorted(known, key=lambda other: (other.number * 7919 + day * 104729) % 1009)[:count]

    def related(self, article: Article, count: int) -> list[Article]:
        """Return older articles of the same section."""
        known = self.articles[: self.articles.index(article)]
        return [other for other in reversed(known) if other.section == article.section][:count]


@cache
def environment() -> Environment:
    """Return the templates of all sites; all values are escaped."""
    made = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"inline": inline_markup, "rfc822": format_datetime}
    return made


def inline_markup(text: str) -> Markup:
    """Add a link or an emphasis to a line, as editors do; its text stays the same."""
    words = [str(escape(word)) for word in text.split(" ")]
    if len(words) > 12 and len(text) % 3 == 0:
        words[5:8] = [f'<a href="/{len(text)}">{" ".join(words[5:8])}</a>']
    elif len(words) > 9 and len(text) % 4 == 0:
        words[3] = f"<em>{words[3]}</em>"
    return Markup(" ".join(words))  # noqa: S704 - escaped above
