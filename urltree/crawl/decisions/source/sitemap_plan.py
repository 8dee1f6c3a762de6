"""Decide which pages of a sitemap are new, and which children of an index to request.

    first look at a file    dated, at most `days` old, and among the newest `most`    new
                            every other page                                          counts as seen
    every later look        dated before the first look minus `days`                  counts as seen
                            among the addresses of the first look                     counts as seen
                            every other page             new, unless table `seen_items` has it

A follower wants the pages that appear from now on, and a few recent ones to begin with. A page that
existed before is not new, even if its `lastmod` moves later: after an edit, or because a program
writes all dates anew. So the first look is remembered twice: by one date, which is enough for the
parser to leave out old pages and for children that were never requested, and by the digests of the
addresses that counted as seen. The digests are written once; they are not rows that have to be
renewed. Their number is bounded by the addresses that a file may have, 50,000, which take 250 KB.

Dates say nothing if most pages have none, or if most were stamped within an hour of each other, as
programs do that write the whole file with the time of their run. Then the first look takes nothing,
and only addresses decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.poll.answer import SitemapChild
from urltree.crawl.decisions.source.known_addresses import KnownAddresses
from urltree.crawl.decisions.source.sitemap_dates import latest_time
from urltree.crawl.decisions.timing import DAY

FIRST_POLL_DAYS = 2.0
FIRST_POLL_PAGES = 1_000  # the caller takes at most as many new pages at a later look

MAX_CHILDREN = 1_000  # children of an index that are followed

_NOTHING_KNOWN = KnownAddresses()


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstLook:
    """What is remembered of the first look at a file.

    Attributes:
        seen_before: pages whose date is not later than this count as seen; seconds since 1970. None
            if dates do not decide. Pass it to `parse_sitemap` as `taken_after` at later looks.
        known: addresses that count as seen.
    """

    seen_before: float | None = None
    known: KnownAddresses = _NOTHING_KNOWN

    def is_seen(self, item: FeedItem) -> bool:
        """Return whether a page counts as seen since the first look."""
        time = page_time(item)
        is_old = self.seen_before is not None and time is not None and time <= self.seen_before
        return is_old or item.link in self.known

    def find_new(self, items: Iterable[FeedItem]) -> tuple[FeedItem, ...]:
        """Return the pages that do not count as seen; table `seen_items` may still have them."""
        return tuple(item for item in items if not self.is_seen(item))


def page_time(item: FeedItem) -> float | None:
    """Return the last moment at which a page may have appeared, in seconds since 1970.

    This is the date of its publication if a news sitemap gives it, or else that of its last change.
    """
    return latest_time(item.published or item.updated)


def first_look(  # noqa: PLR0913 - what a file contains, and the limits of the first look
    items: Sequence[FeedItem],
    now: float,
    *,
    days: float = FIRST_POLL_DAYS,
    most: int = FIRST_POLL_PAGES,
    is_new_file: bool = False,
    left_out: KnownAddresses = _NOTHING_KNOWN,
    are_dates_meaningless: bool = False,
) -> tuple[tuple[FeedItem, ...], FirstLook]:
    """Decide which pages of a file to take at the first look, and what to remember.

    Args:
        items: pages of the file. The parser may have left out old ones: `parse_sitemap` with
            `taken_after` of `now` minus `days`, and at least `most` items.
        now: time of the look, seconds since 1970.
        days: age of the oldest page that is taken.
        most: largest number of pages that are taken.
        is_new_file: whether the file appeared in its index after the first look at the index. Then
            all of its pages are new; the newest `most` are taken now, the rest at later looks.
        left_out: pages that the parser left out (`ParsedSitemap.left_out`).
        are_dates_meaningless: whether only addresses decide (`ParsedSitemap`).

    Returns:
        The pages to take in the order of the file, and the memory of this look.
    """
    if is_new_file:
        return _newest(items, most), FirstLook()
    if are_dates_meaningless:
        return (), FirstLook(known=left_out | KnownAddresses.of(item.link for item in items))
    after = now - days * DAY
    taken = _newest([item for item in items if (page_time(item) or 0.0) > after], most)
    links = {item.link for item in taken}
    rest = (item.link for item in items if item.link not in links)
    return taken, FirstLook(seen_before=after, known=left_out | KnownAddresses.of(rest))


def newest_children(children: Sequence[SitemapChild]) -> list[SitemapChild]:
    """Return the children of an index that are followed: at most `MAX_CHILDREN`, the newest.

    Children without date come last, those at the end of the index first, where most programs add
    new ones.
    """
    dated = [child for child in children if child.modified is not None]
    dated.sort(key=lambda child: -(child.modified or 0.0))
    others = [child for child in reversed(children) if child.modified is None]
    return [*dated, *others][:MAX_CHILDREN]


def first_room(number: int) -> int:
    """Return how many pages the first poll of each child takes, so that all take a bounded number.

    Args:
        number: number of children that the index names.
    """
    return max(1, FIRST_POLL_PAGES // max(1, number))


def _newest(items: Sequence[FeedItem], most: int) -> tuple[FeedItem, ...]:
    """Return the newest items in their order; those without date come after all others."""
    if len(items) <= most:
        return tuple(items)
    order = sorted(range(len(items)), key=lambda at: -(page_time(items[at]) or 0.0))
    return tuple(items[at] for at in sorted(order[:most]))
