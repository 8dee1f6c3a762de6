"""`python -m agents feeds add`: follow feeds, or the feed of a site."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import click
import orjson

from agents.commands.dead_letters.view import safe
from agents.commands.feeds.followed import Sites, follow, followed
from agents.commands.feeds.look import Found, Look
from agents.polling.parsers import Parsers
from agents.settings.contact import contact
from agents.settings.job import Settings, load
from models.feed import Feed, decode
from urltree.crawl.decisions.feed.address import feed_address
from urltree.crawl.decisions.feed.discovery import FeedCandidate
from urltree.crawl.decisions.response import WebError
from urltree.crawl.web.client import WebClient
from urltree.page import PageError


@dataclass
class Report:
    """What came of it.

    Attributes:
        added: feeds, and whether each was followed before.
        others: that their pages name besides.
        failed: addresses, and why.
    """

    added: list[tuple[Feed, bool]] = field(default_factory=list)
    others: list[FeedCandidate] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """All of it."""
        return {
            "added": [
                {"site": feed.site, "feed": feed.url, "title": feed.title, "was_there": was_there}
                for feed, was_there in self.added
            ],
            "others": [{"feed": other.url, "title": other.title} for other in self.others],
            "failed": [{"address": text, "message": why} for text, why in self.failed],
        }

    def as_text(self) -> str:
        """For a person; titles are whatever sites say."""
        lines = [
            f"{'there already' if was_there else 'added':13} {feed.url} {feed.title or ''}"
            for feed, was_there in self.added
        ]
        lines += [f"{'also named':13} {other.url} {other.title or ''}" for other in self.others]
        return "\n".join(safe(line.rstrip()) for line in lines)


async def find(
    settings: Settings, urls: Sequence[str], report: Report, *, everything: bool
) -> list[FeedCandidate]:
    """Ask for the feeds of addresses; what fails and what else there is goes to the report."""
    feeds: dict[str, FeedCandidate] = {}
    others: dict[str, FeedCandidate] = {}
    parsers = Parsers(1, settings.parse_seconds, settings.max_feed_items)
    async with WebClient(settings.client) as web, parsers as parsing:
        look = Look(settings, web, parsing)
        for url in urls:
            try:
                found: Found = await look.at(url, everything=everything)
            except WebError as error:
                report.failed.append((url, f"{error.trouble}: {error.message}"))
                continue
            feeds |= {feed.url: feed for feed in found.feeds}
            others |= {other.url: other for other in found.others}
    report.others += [other for url, other in others.items() if url not in feeds]
    return list(feeds.values())


async def add(settings: Settings, feeds: Sequence[Feed], report: Report) -> None:
    """Follow them; one that is followed already gets the title and meta of now."""
    there = await followed(settings)
    await follow(settings, feeds)
    report.added += [(feed, feed.key in there) for feed in feeds]


@click.command("add")
@click.argument("addresses", metavar="ADDRESS…", nargs=-1, required=True)
@click.option("--site", help="Where it belongs; else the registrable domain of the feed.")
@click.option("--title", help="For people, until the feed says its own.")
@click.option("--meta", metavar="KEY=VALUE", multiple=True, help="Goes with each of its pages.")
@click.option("--all", "everything", is_flag=True, help="Every feed that a page names.")
@click.option("--no-check", is_flag=True, help="Add the address as it is, without asking it.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
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
    """Follow the feed at each ADDRESS, or that of the page there. Exit 1: one has none."""
    settings, report = load(), Report()
    urls = list(dict.fromkeys(_address(text) for text in addresses))
    make = partial(_feed, Sites(settings), site=site, title=title, meta=meta)
    as_given = [
        make(FeedCandidate(url)) for url in urls
    ]  # what is wrong is said before anybody is asked
    if no_check:
        feeds = as_given
    else:
        contact(settings)
        found = asyncio.run(find(settings, urls, report, everything=everything))
        feeds = [make(candidate) for candidate in found]
    if feeds:
        asyncio.run(add(settings, feeds, report))
    if as_json:
        click.echo(orjson.dumps(report.as_json()))
    elif feeds:
        click.echo(report.as_text())
    for text, why in () if as_json else report.failed:
        click.echo(safe(f"{text}: {why}"), err=True)
    raise SystemExit(1 if report.failed else 0)


def _address(text: str) -> str:
    try:
        return feed_address(text)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _feed(
    sites: Sites,
    candidate: FeedCandidate,
    *,
    site: str | None,
    title: str | None,
    meta: Sequence[str],
) -> Feed:
    """A record that workers will accept.

    Raises:
        click.UsageError: they would not.
    """
    pairs = [pair.partition("=") for pair in meta]
    if not all(key and equals for key, equals, _ in pairs):
        raise click.UsageError("--meta should be KEY=VALUE")
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
