"""`python -m agents feeds list`: list the followed feeds with the state of their polling.

The followed feeds are read from the topic `feeds`, and their states from the changelog of the table
`feed_state`.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Any, NamedTuple

import click
import orjson
from rich.console import Console
from rich.table import Table
from rich.text import Text

from agents.commands.feeds.followed import read_followed_with, site_partitions
from agents.commands.terminal import escape_control
from agents.kafka.client import consumer, full_ranges, read_records
from agents.polling.feed_tables import feed_key
from agents.settings.job import Settings, SettingsError, load_settings
from models.feed import Feed
from urltree.crawl.decisions.poll.feed_state import FeedState, FeedStateError, FeedStatus
from urltree.crawl.decisions.timing import DAY, HOUR, MINUTE

NEW = "new"  # status of a feed that was not polled yet
_CHANGELOG = "urltree-poll-feed_state-changelog"
_SHOWN = 1_000  # default maximum of listed feeds: a table measures all cells before it prints
_PIPE_WIDTH = 250  # characters per line if the output is not a terminal


class FollowedFeed(NamedTuple):
    """Followed feed and its state, which is None until the first poll."""

    feed: Feed
    state: FeedState | None

    @property
    def status(self) -> str:
        """Status of the feed: `new`, or a value of `FeedStatus`."""
        return NEW if self.state is None else str(self.state.status)

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

    States are decoded one by one, while the caller iterates.

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
    return (
        FollowedFeed(feed, _state(rows.get(feed_key(0, feed.site, feed.url)[1])))
        for feed in ordered
    )


@click.command("list")
@click.option("--site", help="List only feeds of this site.")
@click.option(
    "--status",
    type=click.Choice([NEW, *(s.value for s in FeedStatus)]),
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
    """List feeds with their status, last success, next poll, items per day, and errors."""
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


def _as_json(row: FollowedFeed, now: float) -> dict[str, Any]:
    """Return the fields of a feed; times are in RFC 3339 format, unknown values are None."""
    feed, state = row
    fields: dict[str, Any] = {"site": feed.site, "feed": feed.url, "status": row.status}
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
        }
    title = feed.title if state is None else state.title or feed.title
    return fields | {"title": title, "meta": dict(feed.meta)}


def _print(rows: list[FollowedFeed], now: float) -> None:
    """Print a table; the URL is the last column and may be cut, errors are on the lines below."""
    table = Table(box=None)
    table.add_column("state", no_wrap=True)
    for name in ("success", "due", "every", "a day"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("feed", overflow="ellipsis")
    for row in rows:
        table.add_row(*(Text(escape_control(cell)) for cell in _cells(row, now)))
    console = Console()
    if not console.is_terminal:
        console = Console(width=_PIPE_WIDTH)
    if rows:
        console.print(table)


def _cells(row: FollowedFeed, now: float) -> tuple[str, ...]:
    feed, state = row
    if state is None:
        return (row.status, "", "", "", "", feed.url)
    a_day = row.items_a_day(now)
    lines = [feed.url]
    if state.url != feed.url:
        lines.append(f"  now {state.url}")
    if state.errors:
        message = " ".join((state.message or "").split())
        lines.append(f"  {state.errors} x {state.trouble}: {message}")
    return (
        row.status,
        "" if state.last_success is None else span(now - state.last_success),
        "" if state.status is FeedStatus.GONE else span(state.next_due - now),
        span(state.interval),
        "" if a_day is None else f"{a_day:.1f}",
        "\n".join(lines),
    )


def span(seconds: float) -> str:
    """Return a duration as one number with a unit: 45 s, 12 min, 3 h, 9 d."""
    for unit, size in (("d", DAY), ("h", HOUR), ("min", MINUTE)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(0.0, seconds):.0f} s"


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items()))
