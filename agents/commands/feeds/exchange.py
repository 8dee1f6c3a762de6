"""`python -m agents feeds import|export`: read and write lists of feeds."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO, NamedTuple

import click
import orjson

from agents.commands.feeds import subscriptions
from agents.commands.feeds.followed import SiteResolver, follow_feeds, read_followed
from agents.commands.feeds.options import make_feed, named_changes, source_options
from agents.commands.feeds.subscriptions import MAX_FILE_BYTES, Entry
from agents.commands.terminal import escape_control
from agents.settings.job import Settings, load_settings
from models.crawl.feed import Feed
from urltree.crawl.decisions.feed.address import feed_address, mask_credentials
from urltree.crawl.decisions.poll.source_options import SourceKind
from urltree.page import PageError

_SHOWN = 20  # largest number of refused entries that the command prints


class Imported(NamedTuple):
    """Result of an import.

    Attributes:
        added: Feeds that were not followed before.
        there: Number of entries whose feed is followed already; such a feed stays unchanged.
        refused: Pairs of an entry that was refused, and the reason; neither shows a password.
    """

    added: list[Feed]
    there: int
    refused: list[tuple[str, str]]


async def import_feeds(
    settings: Settings, entries: Iterable[Entry], options: Mapping[str, Any] = {}
) -> Imported:
    """Follow the feeds of a list, without requesting them.

    Args:
        settings: settings of the job.
        entries: entries of the list.
        options: options for each feed that the list gives no own options, as fields of its record.
    """
    there, sites = await read_followed(settings), SiteResolver(settings)
    added: dict[bytes, Feed] = {}
    count, refused = 0, []
    for entry in entries:
        try:
            feed = _feed(entry, sites, options)
        except (ValueError, PageError) as error:
            refused.append((mask_credentials(entry.address)[:500], str(error)))
            continue
        if feed.key in there or feed.key in added:
            count += 1
        else:
            added[feed.key] = feed
    await follow_feeds(settings, added.values())
    return Imported(list(added.values()), count, refused)


@click.command("import")
@click.argument("file", type=click.File("rb"))
@source_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def import_command(*, file: BinaryIO, as_json: bool, **options: Any) -> None:
    """Follow every feed in FILE ("-" for standard input).

    FILE is OPML, JSON Lines, or a list of URLs. The options apply to each feed that is added; JSON
    Lines may give a feed options of its own. Exit code 1: an entry was refused, or the file
    contains no feed.
    """
    content = file.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise click.UsageError(
            f"the file has more than {MAX_FILE_BYTES:,} bytes; split it into smaller lists"
        )
    entries = subscriptions.read_feed_list(content)
    done = asyncio.run(import_feeds(load_settings(), entries, named_changes(options)))
    if as_json:
        click.echo(orjson.dumps(_as_json(done)))
    else:
        click.echo(
            f"{len(done.added):,} added, {done.there:,} known before, {len(done.refused):,} refused"
        )
        for text, why in done.refused[:_SHOWN]:
            click.echo(escape_control(f"{text[:100]}: {why}"), err=True)
        if len(done.refused) > _SHOWN:
            more = len(done.refused) - _SHOWN
            click.echo(f"and {more:,} more refused; --json prints all", err=True)
    raise SystemExit(0 if (done.added or done.there) and not done.refused else 1)


@click.command("export")
@click.argument("file", type=click.File("wb"), default="-")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Write one JSON object per line, which also contains site, meta and options.",
)
def export_command(*, file: BinaryIO, as_json: bool) -> None:
    """Write every followed feed as OPML 2.0 to FILE, by default standard output.

    OPML lists feeds only; sitemaps and section pages are written with --json.
    """
    feeds = sorted(
        asyncio.run(read_followed(load_settings())).values(), key=lambda feed: (feed.site, feed.url)
    )
    if as_json:
        file.write(subscriptions.write_json(feeds))
        return
    listed = [feed for feed in feeds if feed.options.kind is SourceKind.FEED]
    if len(listed) < len(feeds):
        others = len(feeds) - len(listed)
        were = "source that is not a feed was" if others == 1 else "sources that are not feeds were"
        click.echo(f"{others:,} {were} left out; --json writes all", err=True)
    file.write(subscriptions.write_opml(listed))


def _feed(entry: Entry, sites: SiteResolver, options: Mapping[str, Any]) -> Feed:
    """Return a feed record that workers will accept.

    Raises:
        ValueError, PageError: The entry is invalid.
    """
    if entry.refused is not None:
        raise ValueError(entry.refused)
    url = feed_address(entry.address)
    site = sites.of(url) if entry.site is None else sites.check(entry.site)
    return make_feed(
        site, url, {**options, "title": entry.title, "meta": entry.meta, **entry.options}
    )


def _as_json(done: Imported) -> dict[str, Any]:
    return {
        "added": len(done.added),
        "there": done.there,
        "refused": [{"address": text, "message": why} for text, why in done.refused],
    }
