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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.poll.answer import SitemapChild
from urltree.crawl.decisions.source.known_addresses import KnownAddresses
from urltree.crawl.decisions.source.sitemap_dates import latest_time
from urltree.crawl.decisions.timing import DAY, HOUR

FIRST_POLL_DAYS = 2.0
FIRST_POLL_PAGES = 1_000  # the caller takes at most as many new pages at a later look

CHILDREN_AT_ONCE = 20  # children of an index that one poll requests
UNDATED_AT_ONCE = 5  # of these, children that are requested because it is their turn

_NOTHING_KNOWN = KnownAddresses()
_FEW = 20  # dates; fewer may lie close together by chance


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


def first_look(
    items: Sequence[FeedItem],
    now: float,
    *,
    days: float = FIRST_POLL_DAYS,
    most: int = FIRST_POLL_PAGES,
    is_new_file: bool = False,
) -> tuple[tuple[FeedItem, ...], FirstLook]:
    """Decide which pages of a file to take at the first look, and what to remember.

    Args:
        items: all pages of the file (`parse_sitemap` without `taken_after`).
        now: time of the look, seconds since 1970.
        days: age of the oldest page that is taken.
        most: largest number of pages that are taken.
        is_new_file: whether the file appeared in its index after the first look at the index. Then
            all of its pages are new; the newest `most` are taken now, the rest at later looks.

    Returns:
        The pages to take in the order of the file, and the memory of this look.
    """
    if is_new_file:
        return _newest(items, most), FirstLook()
    if are_dates_meaningless(items):
        return (), FirstLook(known=KnownAddresses.of(item.link for item in items))
    after = now - days * DAY
    taken = _newest([item for item in items if (page_time(item) or 0.0) > after], most)
    links = {item.link for item in taken}
    rest = (item.link for item in items if item.link not in links)
    return taken, FirstLook(seen_before=after, known=KnownAddresses.of(rest))


def are_dates_meaningless(items: Sequence[FeedItem]) -> bool:
    """Return whether the dates of a file do not show which of its pages are new.

    Most pages have no date, or at least 20 pages, which are more than half, have dates within an
    hour. Dates of publication are always believed.
    """
    if any(item.published for item in items):
        return False
    times = sorted(time for item in items if (time := latest_time(item.updated)) is not None)
    return 2 * len(times) <= len(items) or _are_stamped(times, len(items))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildState:
    """What is known of a child that was requested.

    Attributes:
        modified: `lastmod` in the index at the last request; None if it had none.
        asked_at: time of the last request, seconds since 1970.
        found_at: time at which it last had a new page; None if it never had one.
    """

    modified: float | None
    asked_at: float
    found_at: float | None = None


def choose_children(
    children: Sequence[SitemapChild],
    states: Mapping[str, ChildState],
    seen_before: float,
    *,
    at_once: int = CHILDREN_AT_ONCE,
    in_turn: int = UNDATED_AT_ONCE,
) -> tuple[SitemapChild, ...]:
    """Return the children of an index to request now.

    A child with `lastmod` is requested if this has changed since its last request; if it was never
    requested, only if it changed after `seen_before`. A `lastmod` without time of day may stay the
    same while the child changes, so the child is requested for the whole day. If there are more
    than `at_once`, the most recently changed come first; the rest waits for the next poll, because
    its state stays as it is.

    Children without `lastmod`, or of an index whose dates are all alike, are requested `in_turn` at
    each poll: half of them are those that had new pages most recently, the others are those whose
    last request is longest ago, from the end of the index, where most programs add new ones.

    Args:
        children: children in the order of the index.
        states: states of the children that were requested, by address.
        seen_before: time of the first look at the index minus the age of the oldest page that it
            takes, in seconds since 1970. It makes a state for each unchanged child unnecessary.
        at_once: largest number of children that are returned.
        in_turn: largest number of children without meaningful date that are returned.
    """
    times = sorted(child.modified for child in children if child.modified is not None)
    are_alike = _are_stamped(times, len(children))
    dated = [] if are_alike else [child for child in children if child.modified is not None]
    others = [child for child in children if are_alike or child.modified is None]
    changed = [child for child in dated if _has_changed(child, states.get(child.url), seen_before)]
    changed.sort(key=lambda child: -(child.modified or 0.0))
    turn = _in_turn(others, states, in_turn)
    return (*changed[: at_once - len(turn)], *turn)


def _has_changed(child: SitemapChild, state: ChildState | None, seen_before: float) -> bool:
    modified = child.modified or 0.0
    end = modified + DAY if modified % DAY == 0 else modified
    if state is None:
        return end > seen_before
    return modified != state.modified or end > max(modified, state.asked_at)


def _in_turn(
    children: Sequence[SitemapChild], states: Mapping[str, ChildState], most: int
) -> list[SitemapChild]:
    found = [
        child
        for child in children
        if (state := states.get(child.url)) is not None and state.found_at is not None
    ]
    found.sort(key=lambda child: -(states[child.url].found_at or 0.0))
    chosen = found[: most // 2]
    names = {child.url for child in chosen}
    rest = [child for child in reversed(children) if child.url not in names]
    rest.sort(key=lambda child: _asked_at(states.get(child.url)))
    return chosen + rest[: most - len(chosen)]


def _asked_at(state: ChildState | None) -> float:
    return 0.0 if state is None else state.asked_at


def _newest(items: Sequence[FeedItem], most: int) -> tuple[FeedItem, ...]:
    """Return the newest items in their order; those without date come after all others."""
    if len(items) <= most:
        return tuple(items)
    order = sorted(range(len(items)), key=lambda at: -(page_time(items[at]) or 0.0))
    return tuple(items[at] for at in sorted(order[:most]))


def _are_stamped(times: Iterable[float], count: int) -> bool:
    """Return whether at least 20 of the times, and over half of `count`, lie within an hour."""
    ordered = sorted(times)
    least = max(_FEW, count // 2 + 1)
    gaps = zip(ordered, ordered[least - 1 :], strict=False)
    return any(last - first <= HOUR for first, last in gaps)
