"""The links of a section page, and where each link is on the page.

    <main> <div class="teaser"> <h2> <a href="/flood">After the flood</a>

    link   https://news.example/flood        title  After the flood
    place  main/div.teaser/h2

The same address often occurs several times in a teaser: around its picture, its headline and "read
more". It is returned once, with the longest text and the place of that text.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from urllib.parse import urlsplit

from urltree.address.url_key import KeyScheme
from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.feed.parsed_feed import MAX_TITLE, absolute_link, truncate_text
from urltree.heuristics.evidence.names import STRONG, Names
from urltree.html.elements import DROPPED, HEADINGS, INLINE, VOID, WHOLE_PAGE, read_attributes
from urltree.html.encoding import decode_html
from urltree.html.parser import parse_html
from urltree.page import PageError

MAX_LINKS = 2_000  # different addresses of one page
MAX_DEPTH = 12  # innermost elements of a place

_LANDMARKS = 3  # outermost elements of a place that mean navigation
_MAX_FOUND = 20_000  # links of one page that are read, with all repetitions of an address
_MAX_TEXT = 1_000  # characters of a link's text that are read
_MAX_OPEN = 1_000  # open elements that are known; deeper ones are on the place of their parent


def find_links(html: bytes, content_type: str | None, base_url: str) -> tuple[FeedItem, ...]:
    """Return the links of a page to its own registrable domain, in the order of the page.

    Links to the page itself are left out, and so are links in elements that are not text.

    Args:
        html: bytes of the page.
        content_type: value of the header Content-Type; only its charset is used.
        base_url: address of the page. Links are relative to it, or to the <base> of the page.

    Returns:
        Items with `link` (without fragment), `title` (text of the link, or the text that stands for
        its picture) and `place`; at most MAX_LINKS. Empty if the page cannot be parsed in time.
    """
    links = _Links()
    try:
        parse_html(decode_html(html, content_type).encode(errors="replace"), links)
    except PageError:
        return ()
    base = absolute_link(links.base, base_url) or base_url
    scheme = key_scheme()
    try:
        own = scheme.key(base_url, _no_title)
    except PageError:
        return ()
    found: dict[str, FeedItem] = {}
    for href, text, place in links.found:
        address = absolute_link(href, base)
        link = address.partition("#")[0] if address and "#!" not in address else address
        if link is None or urlsplit(link).path.lower().endswith(_FILES):
            continue
        try:
            key = scheme.key(link, _no_title)
        except PageError:
            continue
        if key.domain != own.domain or key.key == own.key:
            continue
        before = found.get(key.key)
        if before is None and len(found) >= MAX_LINKS:
            continue
        if before is None or len(text) > len(before.title or ""):
            kept = link if before is None else before.link
            found[key.key] = FeedItem(link=kept, title=truncate_text(text, MAX_TITLE), place=place)
    return tuple(found.values())


@cache
def key_scheme() -> KeyScheme:
    """Return the rules by which two addresses are one page; the shipped ones."""
    return KeyScheme()


def link_key(url: str) -> str:
    """Return the URL key of a link that `find_links` has returned."""
    return key_scheme().key(url, _no_title).key


def _no_title() -> None:
    return None


# Words that mean boilerplate below an article, but a list of articles on a section page
_LISTS = frozenset(
    {
        *("teaser", "teasers", "trending", "popular", "mostread", "related", "relatedposts"),
        *("recommend", "recommended", "recommendation", "recommendations", "promo", "promos"),
        *("promotion", "widget", "widgets", "sidebar", "sidebars", "banner", "feed", "overlay"),
        *("permalink", "jp", "sponsor", "sponsors", "sponsored", "blogroll", "register", "skip"),
        *("modal", "vote", "votes", "rating", "ratings", "search", "rss", "toc"),
    }
)
_NAMES = Names(strong=STRONG - _LISTS, soft=frozenset())
_NAVIGATION = frozenset({"nav", "footer", "menu", "button", "label"})
# Tags whose names describe the content of the page, or of one of its articles
_NAMELESS = WHOLE_PAGE | {"article", "li", "tr", "td"}

# Files that are no pages: a link to one of them is never an article.
_FILES = (
    *(".jpg", ".jpeg", ".png", ".gif", ".webp", ".svg", ".avif", ".ico", ".pdf", ".zip", ".gz"),
    *(".mp3", ".mp4", ".m4a", ".ogg", ".epub", ".xml", ".rss", ".atom", ".rdf", ".json", ".css"),
    *(".js", ".txt", ".ics"),
)


class _Links:
    """A parser target that collects links: href, text and place."""

    def __init__(self) -> None:
        self.base: str | None = None
        self.found: list[tuple[str, str, str]] = []
        self._names: list[str] = []
        self._navigation: list[int] = []  # places in `_names`, ascending
        self._depth = 0
        self._hidden = 0
        self._href: str | None = None
        self._place = ""
        self._text: list[str] = []
        self._size = 0
        self._picture = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "base":
            self.base = self.base or attributes.get("href", "").strip() or None
        if tag == "img" and self._href is not None:
            self._picture = self._picture or attributes.get("alt", "")
        if tag not in INLINE:
            self.data(" ")
        if tag in VOID:
            return
        self._depth += 1
        if tag in DROPPED:
            self._hidden += 1
        if tag == "a" and not self._hidden:
            self._finish()
            self._href = attributes.get("href", "").strip() or None
            self._place = "/".join((*self._landmarks(), *self._names[-MAX_DEPTH:]))
            self._text, self._size = [], 0
            self._picture = attributes.get("aria-label") or attributes.get("title", "")
        elif self._href is not None and tag in HEADINGS:
            self._place += f"/{tag}"
        if len(self._names) < _MAX_OPEN:
            name = _name(tag, attributes)
            if is_navigation(name):
                self._navigation.append(len(self._names))
            self._names.append(name)

    def end(self, tag: str) -> None:
        if tag in VOID:
            return
        self._depth = max(0, self._depth - 1)
        if tag in DROPPED:
            self._hidden = max(0, self._hidden - 1)
        if tag == "a":
            self._finish()
        elif tag not in INLINE:
            self.data(" ")
        if self._depth < len(self._names):
            del self._names[self._depth :]
            while self._navigation and self._navigation[-1] >= self._depth:
                self._navigation.pop()

    def data(self, text: str) -> None:
        if self._href is not None and not self._hidden and self._size < _MAX_TEXT:
            self._text.append(text)
            self._size += len(text)

    def close(self) -> None:
        self._finish()

    def _landmarks(self) -> list[str]:
        """Return the outer elements that mean navigation, which MAX_DEPTH would leave out."""
        inner = len(self._names) - MAX_DEPTH
        return [self._names[at] for at in self._navigation[:_LANDMARKS] if at < inner]

    def _finish(self) -> None:
        if self._href is not None and len(self.found) < _MAX_FOUND:
            text = " ".join("".join(self._text)[:_MAX_TEXT].split())
            text = text or " ".join(self._picture[:_MAX_TEXT].split())
            self.found.append((self._href, text, self._place))
        self._href = None


@lru_cache(maxsize=4_096)
def is_navigation(name: str) -> bool:
    """Return whether an element of a place, such as `nav` or `div.menu`, means navigation."""
    tag, _, token = name.partition(".")
    if tag in _NAVIGATION:
        return True
    return bool(token) and _NAMES.of((token,)).is_strong


def _name(tag: str, attributes: Mapping[str, str]) -> str:
    """Return a tag with its first token that means navigation, or else with its first token."""
    if tag in _NAMELESS:
        return tag
    tokens, _ = read_attributes(attributes)
    names = [f"{tag}.{token.removeprefix('#')}" for token in tokens]
    return next(filter(is_navigation, names), names[0] if names else tag)
