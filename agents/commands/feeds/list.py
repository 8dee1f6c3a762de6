"""`python -m agents feeds list`: list the followed feeds with the state of their polling.

The followed feeds are read from the topic `feeds`, and their states from the changelog of the table
`feed_state`. This table also has a row for each sitemap that the index of a site names; these rows
are only counted.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Any, NamedTuple

import click
import orjson
from rich.console import Console
from rich.text import Text

from agents.commands.feeds.followed import read_followed_with, site_partitions
from agents.commands.feeds.options import option_fields
from agents.commands.feeds.words import in_words
from agents.commands.terminal import escape_control
from agents.kafka.client import consumer, full_ranges, read_records
from agents.polling.feed_tables import feed_key
from agents.settings.job import Settings, SettingsError, load_settings
from models.crawl.feed import Feed
from urltree.crawl.decisions.poll.feed_state import FeedState, FeedStateError, FeedStatus
from urltree.crawl.decisions.poll.source_options import Content, SourceKind
from urltree.crawl.decisions.timing import DAY, HOUR, MINUTE

NEW = "new"  # status of a feed whose first poll was not answered yet
PAUSED = "paused"  # status of a feed that the user has paused
_CHANGELOG = "urltree-poll-feed_state-changelog"
_SHOWN = 1_000  # default maximum of listed feeds
_COLUMNS = "{:11}  {:>7}  {:>7}  {:>7}  {:>6}  "  # everything before the address of a feed
_INDENT = "    "
_LEAST_WIDTH = 20  # characters for an address on a terminal that is very narrow

_KINDS = {SourceKind.SITEMAP: "sitemap", SourceKind.SECTION: "section page"}
_AUTO = {
    Content.FEED: "the feed has the full text",
    Content.PAGE: "the feed lacks a part of the text, so pages are fetched",
}


class FollowedFeed(NamedTuple):
    """Followed feed and what is known about it.

    Attributes:
        feed: the feed as it was added.
        state: state of its polling; None until a worker has taken the feed.
        children: number of sitemaps that the feed names, if it is the index of a site.
    """

    feed: Feed
    state: FeedState | None
    children: int = 0

    @property
    def status(self) -> str:
        """Status of the feed: `new`, `paused`, or a value of `FeedStatus`."""
        if self.feed.options.is_paused:
            return PAUSED
        was_answered = self.state is not None and self.state.last_poll is not None
        return str(self.state.status) if self.state is not None and was_answered else NEW

    @property
    def errors(self) -> int:
        """Number of consecutive failed polls."""
        return 0 if self.state is None else self.state.errors

    def items_a_day(self, now: float) -> float | None:
        """Return the rate of new items, or None if it is unknown.

        It is computed from the gaps between recent items and the time since the newest one.
        """
        if self.state is None or not self.state.gaps:
            return None
        silence = 0.0 if self.state.newest is None else max(0.0, now - self.state.newest)
        return len(self.state.gaps) * DAY / max(sum(self.state.gaps) + silence, 1.0)


async def load_followed_feeds(
    settings: Settings, site: str | None = None
) -> Iterator[FollowedFeed]:
    """Return every followed feed with its state, ordered by site and URL.

    States of feeds are decoded one by one, while the caller iterates.

    Raises:
        SettingsError: A state was written by a release that this one cannot read.
    """
    rows: dict[bytes, bytes | None] = {}
    async with consumer(settings) as client:
        feeds = await read_followed_with(settings, client, site)
        assigned = await site_partitions(settings, client, _CHANGELOG, site)
        async for record in read_records(client, await full_ranges(client, assigned)):
            rows[record.key or b""] = record.value
    ordered = sorted(feeds.values(), key=lambda feed: (feed.site, feed.url))
    states = [rows.pop(feed_key(0, feed.site, feed.url)[1], None) for feed in ordered]
    indexes = {feed.site for feed in ordered if feed.options.kind is SourceKind.SITEMAP}
    children = _count_children(row for key, row in rows.items() if _row_site(key) in indexes)
    return (
        FollowedFeed(feed, _state(row), children[feed.site, feed.url])
        for feed, row in zip(ordered, states, strict=True)
    )


@click.command("list")
@click.option("--site", help="List only feeds of this site.")
@click.option(
    "--status",
    type=click.Choice([NEW, PAUSED, *(s.value for s in FeedStatus)]),
    help="List only feeds with this status.",
)
@click.option("--errors", is_flag=True, help="List only feeds whose last poll failed.")
@click.option(
    "--limit",
    type=click.IntRange(1),
    help="Largest number of feeds to list; by default 1000, or all with --json.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per feed and line.")
def list_feeds_command(
    *, site: str | None, status: str | None, errors: bool, limit: int | None, as_json: bool
) -> None:
    """List feeds with their status, last success, next poll, items per day, and errors.

    A terminal shows long addresses on several lines; other outputs have one line for an address.
    """
    now = time.time()
    found = (
        row
        for row in asyncio.run(load_followed_feeds(load_settings(), site))
        if status in (None, row.status) and (not errors or row.errors)
    )
    if as_json:
        for row in islice(found, limit):
            click.echo(orjson.dumps(_as_json(row, now)))
        return
    shown = list(islice(found, limit or _SHOWN))
    _print(shown, now)
    counts = Counter(row.status for row in chain(shown, found))
    click.echo(f"{counts.total():,} feeds: {_counted(counts)}" if counts else "No feeds.")


def _state(row: bytes | None) -> FeedState | None:
    try:
        return None if row is None else FeedState.decode(row)
    except FeedStateError as error:
        raise SettingsError(str(error)) from None


def _row_site(key: bytes) -> str:
    """Return the site in the key of a row of table `feed_state`."""
    return key.partition(b"\0")[0].decode(errors="replace")


def _count_children(rows: Iterable[bytes | None]) -> Counter[tuple[str, str]]:
    """Return the number of sitemaps that each index names, by site and address of the index."""
    states = (state for row in rows if (state := _state(row)) is not None)
    parents = ((state.site, state.parent) for state in states)
    return Counter((site, parent) for site, parent in parents if parent is not None)


def _as_json(row: FollowedFeed, now: float) -> dict[str, Any]:
    """Return the fields of a feed; times are in RFC 3339 format, unknown values are None."""
    feed, state, children = row
    fields: dict[str, Any] = {"site": feed.site, "feed": feed.url, "status": row.status}
    fields |= {"kind": SourceKind.FEED, **option_fields(feed), "children": children}
    if state is not None:
        fields |= {
            "url": state.url,
            "last_poll": _time(state.last_poll),
            "last_success": _time(state.last_success),
            "next_due": None if state.status is FeedStatus.GONE else _time(state.next_due),
            "interval": state.interval,
            "items_a_day": row.items_a_day(now),
            "items": state.items,
            "errors": state.errors,
            "trouble": state.trouble,
            "message": state.message,
            "is_cut": state.is_cut,
            "unread": state.unread,
            "unlinked": state.unlinked,
            "walls": state.walls,
            "content_decided": state.content_decided,
            "content_decided_at": _time(state.content_decided_at),
        }
    title = feed.title if state is None else state.title or feed.title
    return fields | {"title": title, "meta": dict(feed.meta)}


def _print(rows: list[FollowedFeed], now: float) -> None:
    """Print a line for each feed, and below it what is remarkable about the feed.

    On a terminal, an address that does not fit is continued on the next line. In other outputs no
    line is cut or continued, so that `grep` finds an address.
    """
    console = Console()
    width = console.width if console.is_terminal else None

    def fold(text: str, indent: int) -> list[str]:
        shown = escape_control(text)
        if width is None:
            return [shown]
        room = max(width - indent, _LEAST_WIDTH)
        return [line.plain.rstrip() for line in Text(shown).wrap(console, room, overflow="fold")]

    if rows:
        click.echo(_COLUMNS.format("state", "success", "due", "every", "a day") + "feed")
    for row in rows:
        numbers = _COLUMNS.format(*_numbers(row, now))
        click.echo(numbers + ("\n" + " " * len(numbers)).join(fold(row.feed.url, len(numbers))))
        for detail in _details(row):
            for line in fold(detail, len(_INDENT)):
                click.echo(_INDENT + line)


def _numbers(row: FollowedFeed, now: float) -> tuple[str, ...]:
    """Return the cells before the address of a feed."""
    state = row.state
    if state is None or row.status == NEW:
        return (row.status, "", "", "", "")
    a_day = row.items_a_day(now)
    is_waiting = row.status != PAUSED and state.status is not FeedStatus.GONE
    return (
        row.status,
        "" if state.last_success is None else span(now - state.last_success),
        span(state.next_due - now) if is_waiting else "",
        span(state.interval),
        "" if a_day is None else f"{a_day:.1f}",
    )


def _details(row: FollowedFeed) -> Iterator[str]:
    """Yield what is remarkable about a feed, one line each."""
    feed, state, children = row
    if feed.options.kind is not SourceKind.FEED:
        names = f" index of {_number(children, 'sitemap')}" if children else ""
        yield f"{_KINDS[feed.options.kind]}{names}"
    if state is None:
        return
    if state.url != feed.url:
        yield f"now {state.url}"
    if state.errors:
        polls = f"{_number(state.errors, 'poll')} failed"
        yield f"{polls}: {in_words(state.trouble, state.message)}"
    yield from _losses(state)
    if feed.options.content is Content.AUTO and state.content_decided is not None:
        yield f"content auto: {_AUTO[state.content_decided]}"


def _losses(state: FeedState) -> Iterator[str]:
    """Yield which items and pages the feed has lost, one line each."""
    if state.is_cut:
        yield "too large: only the beginning of the last answer was read"
    if state.unread:
        yield f"{_number(state.unread, 'item')} of the last answer not read: more than the limit"
    if state.unlinked:
        yield f"{_number(state.unlinked, 'item')} of the last answer without link"
    if state.walls:
        yield f"{_number(state.walls, 'page')} refused as walls"


def span(seconds: float) -> str:
    """Return a duration as one number with a unit: 45 s, 12 min, 3 h, 9 d."""
    for unit, size in (("d", DAY), ("h", HOUR), ("min", MINUTE)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(0.0, seconds):.0f} s"


def _number(count: int, of: str) -> str:
    return f"{count:,} {of}{'' if count == 1 else 's'}"


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items()))
