"""`python -m agents feeds add`: follow feeds by their URL, or by the URL of a page of the site."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import click
import orjson

from agents.commands.feeds.discover import DiscoveredFeeds, FeedDiscovery
from agents.commands.feeds.followed import SiteResolver, follow_feeds, read_followed
from agents.commands.terminal import escape_control
from agents.fetching.parsers import Parsers
from agents.settings.job import Settings, load_settings, require_contact
from models.feed import Feed, decode
from urltree.crawl.decisions.feed.address import feed_address
from urltree.crawl.decisions.feed.discovery import FeedCandidate
from urltree.crawl.decisions.response import WebError
from urltree.crawl.web.client import WebClient
from urltree.page import PageError


@dataclass
class Report:
    """Result of `feeds add`.

    Attributes:
        added: Pairs of a feed that is followed now, and whether it was followed before.
        others: Further feeds that the pages name; they are not followed.
        failed: Pairs of an address without a feed, and the reason.
    """

    added: list[tuple[Feed, bool]] = field(default_factory=list)
    others: list[FeedCandidate] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return the report as a mapping for JSON."""
        return {
            "added": [
                {"site": feed.site, "feed": feed.url, "title": feed.title, "was_there": was_there}
                for feed, was_there in self.added
            ],
            "others": [{"feed": other.url, "title": other.title} for other in self.others],
            "failed": [{"address": text, "message": why} for text, why in self.failed],
        }

    def as_text(self) -> str:
        """Return the report as text; titles come from sites, so control characters are escaped."""
        lines = [
            f"{'known before' if was_there else 'added':13} {feed.url} {feed.title or ''}"
            for feed, was_there in self.added
        ]
        lines += [f"{'also named':13} {other.url} {other.title or ''}" for other in self.others]
        return "\n".join(escape_control(line.rstrip()) for line in lines)


async def discover_feeds(
    settings: Settings, urls: Sequence[str], report: Report, *, everything: bool
) -> list[FeedCandidate]:
    """Request the addresses, and return their feeds; add failures and other feeds to the report."""
    feeds: dict[str, FeedCandidate] = {}
    others: dict[str, FeedCandidate] = {}
    parsers = Parsers(1, settings.parse_seconds, settings.max_feed_items)
    async with WebClient(settings.client) as web, parsers as parsing:
        discovery = FeedDiscovery(settings, web, parsing)
        for url in urls:
            try:
                found: DiscoveredFeeds = await discovery.at(url, everything=everything)
            except WebError as error:
                report.failed.append((url, f"{error.trouble}: {error.message}"))
                continue
            feeds |= {feed.url: feed for feed in found.feeds}
            others |= {other.url: other for other in found.others}
    report.others += [other for url, other in others.items() if url not in feeds]
    return list(feeds.values())


async def add(settings: Settings, feeds: Sequence[Feed], report: Report) -> None:
    """Follow these feeds; a feed that is followed already gets the new title and meta."""
    there = await read_followed(settings)
    await follow_feeds(settings, feeds)
    report.added += [(feed, feed.key in there) for feed in feeds]


@click.command("add")
@click.argument("addresses", metavar="ADDRESS…", nargs=-1, required=True)
@click.option(
    "--site",
    help="Site to which the feed belongs; by default the registrable domain of its URL.",
)
@click.option("--title", help="Title that is shown until the feed has been polled.")
@click.option(
    "--meta",
    metavar="KEY=VALUE",
    multiple=True,
    help="Text that is copied to every page of the feed. Pass the option once for each text.",
)
@click.option(
    "--all", "everything", is_flag=True, help="Follow every feed that a page names, not only one."
)
@click.option(
    "--no-check", is_flag=True, help="Follow the address as a feed, without requesting it first."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def add_command(  # noqa: PLR0913 - a command line
    *,
    addresses: tuple[str, ...],
    site: str | None,
    title: str | None,
    meta: tuple[str, ...],
    everything: bool,
    no_check: bool,
    as_json: bool,
) -> None:
    """Follow the feed at each ADDRESS, or the feed of the page there.

    Exit code 1: an address has no feed, or could not be requested.
    """
    settings, report = load_settings(), Report()
    urls = list(dict.fromkeys(_address(text) for text in addresses))
    make = partial(_feed, SiteResolver(settings), site=site, title=title, meta=meta)
    as_given = [
        make(FeedCandidate(url)) for url in urls
    ]  # refuse invalid options before any request
    if no_check:
        feeds = as_given
    else:
        require_contact(settings)
        found = asyncio.run(discover_feeds(settings, urls, report, everything=everything))
        feeds = [make(candidate) for candidate in found]
    if feeds:
        asyncio.run(add(settings, feeds, report))
    if as_json:
        click.echo(orjson.dumps(report.as_json()))
    elif feeds:
        click.echo(report.as_text())
    for text, why in () if as_json else report.failed:
        click.echo(escape_control(f"{text}: {why}"), err=True)
    raise SystemExit(1 if report.failed else 0)


def _address(text: str) -> str:
    try:
        return feed_address(text)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _feed(
    sites: SiteResolver,
    candidate: FeedCandidate,
    *,
    site: str | None,
    title: str | None,
    meta: Sequence[str],
) -> Feed:
    """Return a feed record that workers will accept.

    Raises:
        click.UsageError: An option or the address is invalid.
    """
    pairs = [pair.partition("=") for pair in meta]
    if not all(key and equals for key, equals, _ in pairs):
        raise click.UsageError(f"--meta should have the form KEY=VALUE, not {' '.join(meta)}")
    try:
        feed = Feed(
            site=sites.of(candidate.url) if site is None else sites.check(site),
            url=candidate.url,
            title=" ".join((title or candidate.title or "").split()) or None,
            meta={key: value for key, _, value in pairs},
        )
        return decode(feed.key, feed.encode())
    except (ValueError, PageError) as error:
        raise click.UsageError(str(error)) from None
