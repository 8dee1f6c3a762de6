"""`python -m agents feeds remove`: follow feeds no more."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import click
import orjson

from agents.commands.dead_letters.view import safe
from agents.commands.feeds.followed import Sites, followed, unfollow
from agents.settings.job import load
from models.feed import Feed
from urltree.crawl.decisions.feed.address import feed_address


@click.command("remove")
@click.argument("feeds", metavar="FEED…", nargs=-1)
@click.option("--site", help="Every feed of this site.")
@click.option("--yes", is_flag=True, help="Do not ask before a whole site.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def remove_command(*, feeds: tuple[str, ...], site: str | None, yes: bool, as_json: bool) -> None:
    """Follow each FEED no more, or those of a --site. Exit 1: one is not followed."""
    if bool(feeds) == (site is not None):
        raise click.UsageError("name either feeds or a --site")
    settings = load()
    if site is not None:
        try:
            site = Sites(settings).check(site)
        except ValueError as error:
            raise click.UsageError(str(error)) from None
    there = asyncio.run(followed(settings, site)).values()
    names = {name for text in feeds for name in _names(text)}
    found = [feed for feed in there if site is not None or feed.url in names]
    unknown = [text for text in feeds if not _is_among(text, found)]
    if site is not None and found and not yes:
        click.confirm(f"Follow {len(found)} feed(s) of {site} no more?", abort=True, err=True)
    asyncio.run(unfollow(settings, found))
    if as_json:
        removed = [{"site": feed.site, "feed": feed.url} for feed in found]
        click.echo(orjson.dumps({"removed": removed, "unknown": unknown}))
    else:
        for feed in found:
            click.echo(safe(f"removed {feed.url}"))
        for text in unknown:
            click.echo(safe(f"{text} is not followed"), err=True)
        if site is not None and not found:
            click.echo(f"no feed of {site} is followed", err=True)
    raise SystemExit(1 if unknown or not found else 0)


def _names(text: str) -> set[str]:
    """Under which a feed may be followed: as it was typed, for others write records too."""
    try:
        return {text, feed_address(text)}
    except ValueError:
        return {text}


def _is_among(text: str, feeds: Iterable[Feed]) -> bool:
    return any(feed.url in _names(text) for feed in feeds)
