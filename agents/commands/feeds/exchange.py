"""`python -m agents feeds import|export`: whole lists of feeds, in and out."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, BinaryIO, NamedTuple

import click
import orjson

from agents.commands.dead_letters.view import safe
from agents.commands.feeds import subscriptions
from agents.commands.feeds.followed import Sites, follow, followed
from agents.commands.feeds.subscriptions import MAX_FILE_BYTES, Entry
from agents.settings.job import Settings, load
from models.feed import Feed, decode
from urltree.crawl.decisions.feed.address import feed_address
from urltree.page import PageError

_SHOWN = 20  # refusals, on a terminal


class Imported(NamedTuple):
    """What came of a list.

    Attributes:
        added: feeds that were not followed before.
        there: entries whose feed is followed already; it stays as it is.
        refused: entries as they stand in the file, and why.
    """

    added: list[Feed]
    there: int
    refused: list[tuple[str, str]]


async def import_feeds(settings: Settings, entries: Iterable[Entry]) -> Imported:
    """Follow the feeds of a list; none is asked."""
    there, sites = await followed(settings), Sites(settings)
    added: dict[bytes, Feed] = {}
    count, refused = 0, []
    for entry in entries:
        try:
            feed = _feed(entry, sites)
        except (ValueError, PageError) as error:
            refused.append((entry.address[:500], str(error)))
            continue
        if feed.key in there or feed.key in added:
            count += 1
        else:
            added[feed.key] = feed
    await follow(settings, added.values())
    return Imported(list(added.values()), count, refused)


@click.command("import")
@click.argument("file", type=click.File("rb"))
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def import_command(*, file: BinaryIO, as_json: bool) -> None:
    """Follow every feed of a FILE, "-" for standard input. Exit 1: some were refused, or none."""
    content = file.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise click.UsageError(f"a list should have at most {MAX_FILE_BYTES:,} bytes")
    done = asyncio.run(import_feeds(load(), subscriptions.read(content)))
    if as_json:
        click.echo(orjson.dumps(_as_json(done)))
    else:
        click.echo(
            f"{len(done.added):,} added, {done.there:,} there already, "
            f"{len(done.refused):,} refused"
        )
        for text, why in done.refused[:_SHOWN]:
            click.echo(safe(f"{text[:100]}: {why}"), err=True)
        if len(done.refused) > _SHOWN:
            click.echo(f"and {len(done.refused) - _SHOWN:,} more: --json has all", err=True)
    raise SystemExit(0 if (done.added or done.there) and not done.refused else 1)


@click.command("export")
@click.argument("file", type=click.File("wb"), default="-")
@click.option("--json", "as_json", is_flag=True, help="A JSON object a line, with site and meta.")
def export_command(*, file: BinaryIO, as_json: bool) -> None:
    """Write every feed that is followed to a FILE, or standard output, as OPML 2.0."""
    feeds = sorted(asyncio.run(followed(load())).values(), key=lambda feed: (feed.site, feed.url))
    file.write((subscriptions.write_json if as_json else subscriptions.write_opml)(feeds))


def _feed(entry: Entry, sites: Sites) -> Feed:
    """A record that workers will accept.

    Raises:
        ValueError, PageError: they would not.
    """
    if entry.refused is not None:
        raise ValueError(entry.refused)
    url = feed_address(entry.address)
    site = sites.of(url) if entry.site is None else sites.check(entry.site)
    feed = Feed(site=site, url=url, title=entry.title, meta=entry.meta)
    return decode(feed.key, feed.encode())


def _as_json(done: Imported) -> dict[str, Any]:
    return {
        "added": len(done.added),
        "there": done.there,
        "refused": [{"address": text, "message": why} for text, why in done.refused],
    }
