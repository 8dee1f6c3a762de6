"""Simulation of feeds that change at every poll: `python -m bench.volatile_feeds`.

    poll 1    story-1 "12 comments"    story-2 "3 comments"     …30 items
    poll 2    story-1 "13 comments"    story-2 "3 comments" …   is anything new?

Each feed has 30 items, is polled 69 times a day for three days, and publishes eight items a day. A
worker is killed twice after it has sent its new items, and decides about the same answer again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import click
import xxhash

from bench.followed_site import SITE, FollowedSite
from urltree.crawl.decisions.feed.item import FeedItem

ITEMS, POLLS_A_DAY, DAYS, NEW_A_DAY = 30, 69, 3, 8
RESTARTS = (69, 138)  # numbers of the polls after which the worker is killed

VOLATILE = (
    "nothing",
    "comments",
    "pixel",
    "published",
    "updated",
    "session",
    "number",
    "title",
    "guid",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VolatileFeed:
    """A feed whose items change at every poll.

    Attributes:
        changes: names of `VOLATILE`.
        has_guids: whether the items have guids.
        has_dates: whether the items have dates.
        has_paths: whether the path of a link names the article; otherwise its query does.
    """

    changes: tuple[str, ...]
    has_guids: bool = True
    has_dates: bool = True
    has_paths: bool = True

    def items(self, poll: int) -> tuple[FeedItem, ...]:
        """Return the items at a poll, newest first."""
        newest = ITEMS + poll * NEW_A_DAY // POLLS_A_DAY
        return tuple(self._item(number, poll) for number in range(newest, newest - ITEMS, -1))

    def _item(self, number: int, poll: int) -> FeedItem:
        name = xxhash.xxh32_hexdigest(b"%d" % number).translate(_LETTERS)
        path = f"2027/{name}" if self.has_paths else f"story.php?id={number}"
        item = FeedItem(
            link=f"https://{SITE}/{path}",
            title=f"Report about {name}",
            description=f"<p>What happened in {name}</p>",
            published=f"2027-01-15T07:{number % 60:02}:00+00:00" if self.has_dates else None,
            guid=str(number) if self.has_guids else None,
        )
        for change in self.changes:
            item = _changed(item, change, poll)
        return item


@dataclass(frozen=True, slots=True)
class Asked:
    """The result of a simulation.

    Attributes:
        per_item: page requests per item.
        missed: number of items that were never asked for.
        rows: number of rows of `seen_items` at the end.
    """

    per_item: float
    missed: int
    rows: int


def follow(feed: VolatileFeed, days: int = DAYS) -> Asked:
    """Follow a feed and count what is asked for."""
    site, published = FollowedSite(), set()
    for poll in range(days * POLLS_A_DAY):
        items = feed.items(poll)
        published |= {_plain(item.link) for item in items}
        if poll in RESTARTS:
            site.send(items)
        site.poll(items)
    asked = Counter(map(_plain, site.asked))
    return Asked(asked.total() / len(published), len(published - asked.keys()), len(site.rows))


def feeds() -> Iterator[VolatileFeed]:
    """Yield feeds that change in one way, and one that changes in most ways."""
    for change in VOLATILE:
        for has_guids in (True, False):
            yield VolatileFeed(changes=(change,), has_guids=has_guids, has_dates=has_guids)
    yield VolatileFeed(changes=tuple(name for name in VOLATILE if name not in {"guid", "number"}))


def _changed(item: FeedItem, change: str, poll: int) -> FeedItem:
    now = f"2027-01-{15 + poll // POLLS_A_DAY}T08:{poll % 60:02}:00+00:00"
    query = f"{item.link}{'&' if '?' in item.link else '?'}sid="
    fields: dict[str, dict[str, Any]] = {
        "nothing": {},
        "comments": {"description": f"{item.description} {poll} comments"},
        "pixel": {"description": f'{item.description}<img src="https://t.example/{poll}">'},
        "published": {"published": now},
        "updated": {"updated": now},
        "session": {"link": query + xxhash.xxh64_hexdigest(bytes([poll]))},
        "number": {"link": f"{query}{poll}"},
        "title": {"title": f"{item.title} ({poll})"},
        "guid": {"guid": f"{item.guid}-{poll}"},
    }
    return replace(item, **fields[change])


def _plain(link: str) -> str:
    return link.partition("sid=")[0].rstrip("?&")


_LETTERS = str.maketrans("0123456789", "ghijklmnop")


@click.command()
def main() -> None:
    """Print page requests per item, missed items and stored rows of each feed."""
    for feed in feeds():
        asked = follow(feed)
        guids = "with guids and dates" if feed.has_guids else "without guids and dates"
        click.echo(
            f"{', '.join(feed.changes)} ({guids}): {asked.per_item:.2f} requests an item, "
            f"{asked.missed} items missed, {asked.rows} rows"
        )


if __name__ == "__main__":
    main()
