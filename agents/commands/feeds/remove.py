"""`python -m agents feeds remove`: stop following feeds."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import click
import orjson

from agents.commands.feeds.followed import SiteResolver, read_followed, unfollow_feeds
from agents.commands.terminal import escape_control
from agents.settings.job import load_settings
from models.crawl.feed import Feed
from urltree.crawl.decisions.feed.address import feed_address, mask_credentials


@click.command("remove")
@click.argument("feeds", metavar="FEED…", nargs=-1)
@click.option("--site", help="Remove every feed of this site.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation before a site is removed.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def remove_command(*, feeds: tuple[str, ...], site: str | None, yes: bool, as_json: bool) -> None:
    """Stop following each FEED, or every feed of a --site.

    Exit code 1: a feed is not followed.
    """
    if bool(feeds) == (site is not None):
        raise click.UsageError("name either the URLs of feeds, or a --site")
    settings = load_settings()
    if site is not None:
        try:
            site = SiteResolver(settings).check(site)
        except ValueError as error:
            raise click.UsageError(str(error)) from None
    there = asyncio.run(read_followed(settings, site, also_refused=True)).values()
    names = {name for text in feeds for name in _names(text)}
    found = [feed for feed in there if site is not None or not names.isdisjoint(_shown(feed))]
    unknown = [text for text in feeds if not _is_among(text, found)]
    if site is not None and found and not yes:
        click.confirm(f"Stop following {len(found)} feed(s) of {site}?", abort=True, err=True)
    asyncio.run(unfollow_feeds(settings, found))
    if as_json:
        removed = [{"site": feed.site, "feed": mask_credentials(feed.url)} for feed in found]
        masked = [mask_credentials(text) for text in unknown]
        click.echo(orjson.dumps({"removed": removed, "unknown": masked}))
    else:
        for feed in found:
            click.echo(escape_control(f"removed {mask_credentials(feed.url)}"))
        for text in unknown:
            click.echo(escape_control(f"{mask_credentials(text)} is not followed"), err=True)
        if site is not None and not found:
            click.echo(f"No feed of {site} is followed.", err=True)
    raise SystemExit(1 if unknown or not found else 0)


def _names(text: str) -> set[str]:
    """Return the URLs under which a feed may be followed: as typed, and in normal form."""
    try:
        return {text, feed_address(text)}
    except ValueError:
        return {text}


def _is_among(text: str, feeds: Iterable[Feed]) -> bool:
    names = _names(text)
    return any(not names.isdisjoint(_shown(feed)) for feed in feeds)


def _shown(feed: Feed) -> set[str]:
    """Return the URL of a feed, and the form without password in which commands show it."""
    return {feed.url, mask_credentials(feed.url)}
