"""Decide whether a page is published, held or a wall, by where it ended and what it shows.

    ended at the path of its item, with a text of its own       published
    ended at another path, or with the text of another address  held, until three items settle it:
        three items ended at this path, or three addresses          wall
        have this text
        three others ended each at a path of its own, or show       published
        each another text
        an hour has passed                                          published, except at a path for
                                                                    login, consent or subscription

A page that ends at another path is published at once if an item of the host names this address, or
if it shows the title of its item and has the length of an article. A page that does not show its
title is held, too: it may be the first of many equal ones. Of 1,261 articles with titles, 2 did not
show most words of them (measured).

What was remembered about the host decides, and not the order of its pages: the pages that were held
become walls when the third one arrives, without another request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from importlib.resources import files
from urllib.parse import SplitResult, unquote, urlsplit

import xxhash
import yaml

from urltree.address.query_rules import shipped_noise
from urltree.crawl.decisions.host.page.host_pages import HostPages, ShownText
from urltree.crawl.decisions.host.page.visible_text import PageText, has_words
from urltree.crawl.decisions.timing import HOUR, MINUTE

MAX_HELD = HOUR  # seconds for which a page is held at most
SETTLED_BY = 3  # number of items that settle whether a path or a text is a wall

_SOONEST = 5 * MINUTE  # a held page is published no sooner: its host's other pages may follow
_FIRST_LOOK = MINUTE  # a held page is looked at after 1, 2, 4 … min
_BARE = 100  # words outside links; soft 404 pages have fewer, articles rarely
_ARTICLE = 200  # words outside links of a page that is long enough to be an article

_INDEX = re.compile(r"(?:^|/)(?:index|default)\.\w{2,5}$")
_EXTENSION = re.compile(r"\.(?:html?|php|aspx?|jsp|amp)$")
_LOCALE = re.compile(r"^/[a-z]{2}(?:[-_][a-z]{2,4})?(?=/|$)")
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"(?<!\d)(?!(?:19|20)\d\d(?!\d))\d{4,}(?!\d)")  # an id, and no year


class Ruling(StrEnum):
    """What happens to a page."""

    PUBLISH = "publish"
    HOLD = "hold"
    WALL = "wall"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRuling:
    """The decision about a page.

    Attributes:
        ruling: what happens to the page.
        until: time at which a held page is looked at again, seconds since 1970; else None.
        wall: name of the wall: `login`, `consent`, `subscribe`, `robot`, `front-page`, `one-path`
            or `same-text`; None unless the page is a wall.
        message: explanation of a wall for people, with where the page was led; empty otherwise.
        is_stored: whether the pages of the host must be stored, because a later decision of another
            worker depends on them.
    """

    ruling: Ruling
    until: float | None = None
    wall: str | None = None
    message: str = ""
    is_stored: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PageEnd:
    """Where a page ended, and what it shows.

    Attributes:
        final_url: address of the page after all redirects.
        item: hash of the address of the item, 48 bits.
        path: hash of the path at which the page ended.
        address: hash of the address at which the page ended.
        is_elsewhere: whether this path is another one than that of the item.
        suspect: kind of the path if pages rarely end there by right: `login`, `consent`,
            `subscribe`, `robot` or `front-page`; else None.
        digest: digest of the text; None before the page was requested again.
        is_bare: whether the text does not show the title of the item. If the item has no title, the
            text must also be short, and is compared with the words of the address.
        text: text of a page that shows the title of its item; None for any other page.
    """

    final_url: str
    item: int
    path: int
    address: int
    is_elsewhere: bool
    suspect: str | None
    digest: int | None = None
    is_bare: bool = False
    text: PageText | None = None

    @property
    def is_article(self) -> bool:
        """Whether the text shows the title of the item and is as long as an article."""
        return self.text is not None and self.text.own_words >= _ARTICLE


def describe_end(url: str, final_url: str, text: PageText, title: str | None) -> PageEnd:
    """Return where a page ended and what it shows.

    Args:
        url: address of the page in its feed.
        final_url: address of the page after all redirects.
        text: words of the page.
        title: title of the page in its feed.
    """
    elsewhere = is_elsewhere(url, final_url)
    shows, is_titled = text.shows(title), has_words(title)
    # The query names a page of its own only if the page is short: a long page with the same path
    # and the same text is one page with several views.
    by_query = "?" in final_url and text.own_words < _ARTICLE
    return PageEnd(
        final_url=final_url,
        item=_hash_of(_address(url, with_query=True)),
        path=_hash_of(_address(final_url, with_query=False)),
        address=_hash_of(_address(final_url, with_query=by_query)),
        is_elsewhere=elsewhere,
        suspect=_suspect(url, final_url) if elsewhere else None,
        digest=text.digest,
        is_bare=not shows and (is_titled or text.own_words < _BARE),
        text=text if shows and is_titled else None,
    )


def add_page(pages: HostPages, end: PageEnd, now: float) -> None:
    """Remember a page of a host. Call this before `judge`.

    Args:
        pages: pages of the host at which the page ended; they are changed.
        end: where the page ended.
        now: time of the page, seconds since 1970.
    """
    if end.is_elsewhere:
        pages.add_end(end.path, end.item, now)
    if end.digest is not None:
        pages.add_text(end.address, ShownText(end.digest, not end.is_elsewhere, end.is_bare, now))


def judge(end: PageEnd, pages: HostPages, now: float, held_since: float | None) -> PageRuling:
    """Decide about a page that has just been fetched.

    Args:
        end: where the page ended.
        pages: pages of the host, with this one.
        now: current time, seconds since 1970.
        held_since: time since which the page is held; None if it is not held. A time later than now
            is no time.
    """
    since = now if held_since is None else min(held_since, now)
    wall = _wall(end, pages)
    if wall is not None:
        return wall
    if not _is_doubtful(end, pages):
        return PageRuling(ruling=Ruling.PUBLISH, is_stored=end.is_elsewhere)
    if now - since >= MAX_HELD:
        return _at_last(end)
    if held_since is not None and _is_settled(end, pages, since, now):
        return PageRuling(ruling=Ruling.PUBLISH, is_stored=True)
    return PageRuling(ruling=Ruling.HOLD, until=_next_look(since, now), is_stored=True)


def judge_held(
    url: str, final_url: str, pages: HostPages, now: float, held_since: float
) -> PageRuling:
    """Decide about a held page before it is requested again; most walls need no other request.

    Args:
        url: address of the page in its feed.
        final_url: address at which the page ended when it was held (`FetchRequest.target`).
        pages: pages of the host of `final_url`.
        now: current time, seconds since 1970.
        held_since: time since which the page is held. A time later than now is no time.

    Returns:
        The decision. PUBLISH means: request the page again, and call `judge` for the new page.
    """
    since = min(held_since, now)
    end = _remembered(url, final_url, pages)
    if end.digest is None and not end.is_elsewhere:
        return PageRuling(ruling=Ruling.PUBLISH)  # the page is not remembered any more
    wall = _wall(end, pages)
    if wall is not None:
        return wall
    if now - since >= MAX_HELD:
        is_named = pages.is_named(end.address)
        return PageRuling(ruling=Ruling.PUBLISH) if is_named else _at_last(end)
    if _is_settled(end, pages, since, now):
        return PageRuling(ruling=Ruling.PUBLISH)
    return PageRuling(ruling=Ruling.HOLD, until=_next_look(since, now))


def is_elsewhere(url: str, final_url: str) -> bool:
    """Return whether a page ended at another path than that of its item.

    The host, the scheme, a trailing slash, a file extension, a locale at the start of the path and
    the query do not count. A path with the same last segment, if this has a digit, with the id or
    with most words of the item's last segment is the same page at another place, unless it has a
    segment for login, consent or subscription.
    """
    asked, found = _plain_path(url), _plain_path(final_url)
    if asked == found:
        return False
    if found == "" or _suspect(url, final_url) is not None:
        return True
    last = asked.rpartition("/")[2]
    if not last:
        return True
    if last == found.rpartition("/")[2] and _DIGIT.search(last):
        return False
    if set(_NUMBER.findall(last)) & set(_NUMBER.findall(found)):
        return False
    words = {word for word in _WORD.findall(last) if not word.isdigit()}
    kept = words & set(_WORD.findall(found))
    return not words or 2 * len(kept) < len(words)


def _wall(end: PageEnd, pages: HostPages) -> PageRuling | None:
    """Return the ruling about a page that is a wall, None if no three items show this."""
    if end.is_elsewhere and not _may_end_there(end, pages):
        count = pages.items_at(end.path)
        if count >= SETTLED_BY:
            return _refused(
                end.suspect or "one-path",
                f"it ended at {_shown(end.final_url)}, as did other items of the host",
            )
    if end.digest is None or end.is_article:
        return None
    if pages.addresses_with(end.digest) < SETTLED_BY:
        return None
    return _refused(
        "same-text",
        f"it ended at {_shown(end.final_url)}, and other addresses of the host have the same text",
    )


def _is_doubtful(end: PageEnd, pages: HostPages) -> bool:
    if end.is_elsewhere and not _may_end_there(end, pages):
        return True
    if end.is_article or end.digest is None:
        return False
    return end.is_bare or pages.addresses_with(end.digest) > 1


def _may_end_there(end: PageEnd, pages: HostPages) -> bool:
    """Return whether a page ended by right at another path than that of its item."""
    return (end.is_article and end.suspect is None) or pages.is_named(end.address)


def _is_settled(end: PageEnd, pages: HostPages, since: float, now: float) -> bool:
    """Return whether three other pages of the host show that this one is no wall."""
    if end.suspect is not None or now - since < _SOONEST:
        return False
    if end.is_elsewhere:
        alone = pages.items_at(end.path) <= 1
        return alone and pages.single_ends_since(since, end.path) >= SETTLED_BY
    if end.digest is None or pages.addresses_with(end.digest) > 1:
        return False
    return pages.other_bare_texts_since(since, end.digest) >= SETTLED_BY


def _at_last(end: PageEnd) -> PageRuling:
    """Decide about a page that was held for an hour."""
    if end.suspect is None:
        return PageRuling(ruling=Ruling.PUBLISH, is_stored=True)
    return _refused(end.suspect, f"it ended at {_shown(end.final_url)}")


def _refused(wall: str, message: str) -> PageRuling:
    return PageRuling(
        ruling=Ruling.WALL,
        wall=wall,
        message=f"the response is the wall {wall!r} instead of the page: {message}",
        is_stored=True,
    )


def _remembered(url: str, final_url: str, pages: HostPages) -> PageEnd:
    """Return where a held page ended, from what is remembered about it."""
    elsewhere = is_elsewhere(url, final_url)
    names = [_hash_of(_address(final_url, with_query=by_query)) for by_query in (True, False)]
    address = next((name for name in names if name in pages.texts), names[0])
    text = pages.texts.get(address)
    return PageEnd(
        final_url=final_url,
        item=_hash_of(_address(url, with_query=True)),
        path=_hash_of(_address(final_url, with_query=False)),
        address=address,
        is_elsewhere=elsewhere,
        suspect=_suspect(url, final_url) if elsewhere else None,
        digest=text.digest if text else None,
        is_bare=text.is_bare if text else False,
    )


def _next_look(since: float, now: float) -> float:
    wait = _FIRST_LOOK
    while since + wait <= now:
        wait *= 2.0
    return since + min(wait, MAX_HELD)


def _shown(url: str) -> str:
    """Return an address for people: without its query, which may have tokens in it."""
    parts = _split(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"[:300]


def _suspect(url: str, final_url: str) -> str | None:
    """Return the kind of a path at which pages rarely end by right, None for any other path."""
    found = _plain_path(final_url)
    if not found:
        is_same_host = _plain_host(url) == _plain_host(final_url)
        return "front-page" if _plain_path(url) and is_same_host else None
    asked = set(_segments(url))
    return next(
        (_wall_paths()[s] for s in _segments(final_url) if s in _wall_paths().keys() - asked), None
    )


@cache
def _wall_paths() -> Mapping[str, str]:
    """Return the kinds of walls by the segments of wall_paths.yaml."""
    place = files("urltree.crawl.decisions.host.page").joinpath("wall_paths.yaml")
    kinds: Mapping[str, list[str]] = yaml.safe_load(place.read_text("utf-8"))
    return {segment: kind for kind, segments in kinds.items() for segment in segments}


def _segments(url: str) -> list[str]:
    """Return the segments of a path as wall_paths.yaml has them."""
    parts = (_EXTENSION.sub("", part) for part in _plain_path(url).split("/"))
    return [re.sub(r"[\W_]", "", part) for part in parts if part]


@lru_cache(maxsize=1_024)
def _plain_path(url: str) -> str:
    """Return the path of an address without what sites change in redirects to the same page."""
    path = unquote(_split(url).path).lower().rstrip("/")
    path = _EXTENSION.sub("", _INDEX.sub("", path))
    return _LOCALE.sub("", path).removesuffix("/amp").rstrip("/")


def _plain_host(url: str) -> str:
    return (_split(url).hostname or "").removeprefix("www.")


def _address(url: str, *, with_query: bool) -> str:
    """Return an address without scheme, `www.` and fragment, for comparison."""
    parts = _split(url)
    found = _plain_host(url) + (parts.path.rstrip("/") or "/")
    if not with_query or not parts.query:
        return found
    noise = shipped_noise()
    pairs = sorted(p for p in parts.query.split("&") if not noise.is_noise(p.partition("=")[0]))
    return f"{found}?{'&'.join(pairs)}" if pairs else found


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:  # such as http://[
        return urlsplit("")


def _hash_of(text: str) -> int:
    return xxhash.xxh3_64_intdigest(text.encode(errors="replace")) >> 16
