"""`python -m agents feeds add`: follow feeds by their URL, or by the URL of a page of the site.

address ──▶ followed, and options named? ──yes──▶ change these options, without a request
                    │ no
                    └▶ discover the feed ──▶ add it; a feed that is followed keeps its options
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import click
import orjson

from agents.commands.feeds.discover import DiscoveredFeeds, FeedDiscovery
from agents.commands.feeds.followed import SiteResolver, follow_feeds, read_followed
from agents.commands.feeds.options import make_feed, named_changes, source_options
from agents.commands.feeds.words import in_words
from agents.commands.terminal import escape_control
from agents.fetching.parsers import Parsers
from agents.settings.job import Settings, load_settings, require_contact
from models.crawl.feed import Feed
from urltree.crawl.decisions.feed.address import feed_address
from urltree.crawl.decisions.feed.discovery import FeedCandidate
from urltree.crawl.decisions.poll.source_options import SourceKind
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
                {
                    "site": feed.site,
                    "feed": feed.url,
                    "title": feed.title,
                    "kind": feed.options.kind,
                    "was_there": was_there,
                }
                for feed, was_there in self.added
            ],
            "others": [{"feed": other.url, "title": other.title} for other in self.others],
            "failed": [{"address": text, "message": why} for text, why in self.failed],
        }

    def as_text(self) -> str:
        """Return the report as text; titles come from sites, so control characters are escaped."""
        lines = [
            f"{'known before' if was_there else 'added':13} {_kind(feed)}{feed.url}"
            f" {feed.title or ''}"
            for feed, was_there in self.added
        ]
        lines += [f"{'also named':13} {other.url} {other.title or ''}" for other in self.others]
        return "\n".join(escape_control(line.rstrip()) for line in lines)


async def discover_feeds(
    settings: Settings,
    urls: Sequence[str],
    report: Report,
    *,
    everything: bool,
    kind: SourceKind | None = None,
) -> list[tuple[FeedCandidate, SourceKind]]:
    """Request the addresses, and return their sources with their kinds.

    Failures and other feeds are added to the report.
    """
    feeds: dict[str, tuple[FeedCandidate, SourceKind]] = {}
    others: dict[str, FeedCandidate] = {}
    parsers = Parsers(1, settings.parse_seconds, settings.max_feed_items)
    async with WebClient(settings.client) as web, parsers as parsing:
        discovery = FeedDiscovery(settings, web, parsing)
        for url in urls:
            try:
                found: DiscoveredFeeds = await discovery.at(url, everything=everything, kind=kind)
            except WebError as error:
                report.failed.append((url, in_words(error.trouble, error.message)))
                continue
            feeds |= {feed.url: (feed, found.kind) for feed in found.feeds}
            others |= {other.url: other for other in found.others}
    report.others += [other for url, other in others.items() if url not in feeds]
    return list(feeds.values())


class FeedMaker:
    """Maker of the records of feeds, from the options of the command and the followed feeds.

    Args:
        settings: settings of the job.
        there: followed feeds by key.
        site: site of the feeds; None for the registrable domain of each URL.
        changes: fields of the records that the user named, see `make_feed`.

    Raises:
        click.UsageError: the site is invalid.
    """

    def __init__(
        self,
        settings: Settings,
        there: Mapping[bytes, Feed],
        site: str | None,
        changes: Mapping[str, Any],
    ) -> None:
        self._sites = SiteResolver(settings)
        self._there = there
        self._changes = changes
        try:
            self._site = None if site is None else self._sites.check(site)
        except ValueError as error:
            raise click.UsageError(str(error)) from None

    def followed(self, url: str) -> list[Feed]:
        """Return the feeds that are followed under a URL: one for each site, but mostly one."""
        found = (feed for feed in self._there.values() if feed.url == url)
        return [feed for feed in found if self._site in (None, feed.site)]

    def make(
        self,
        candidate: FeedCandidate,
        former: Feed | None = None,
        kind: SourceKind = SourceKind.FEED,
    ) -> Feed:
        """Return a feed record that workers will accept; options that are not named stay.

        Args:
            candidate: address and title of the source.
            former: record of the source if it is followed already.
            kind: kind of the source, unless it was named or is known from the record.

        Raises:
            click.UsageError: an option or the address is invalid.
        """
        url = candidate.url
        try:
            site = former.site if former else self._site or self._sites.of(url)
            former = former or self._there.get(Feed(site=site, url=url).key)
            found: dict[str, Any] = {} if former else {"kind": kind}
            if former is None or former.title is None:
                found["title"] = " ".join((candidate.title or "").split()) or None
            return make_feed(site, url, {**found, **self._changes}, former)
        except (ValueError, PageError) as error:
            raise click.UsageError(str(error)) from None


async def add(
    settings: Settings, feeds: Sequence[Feed], there: Iterable[bytes], report: Report
) -> None:
    """Follow these feeds; `there` has the keys of the feeds that are followed already."""
    await follow_feeds(settings, feeds)
    known = set(there)
    report.added += [(feed, feed.key in known) for feed in feeds]


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
    "--no-check",
    is_flag=True,
    help="Follow the address itself, as a feed or as the kind given, without requesting it first.",
)
@source_options
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
    **options: Any,
) -> None:
    """Follow the feed or sitemap at each ADDRESS, or that of the page there, or the page itself.

    If a feed is followed already, only the options that are named change. Exit code 1: an address
    has no feed, or could not be requested.
    """
    settings, report = load_settings(), Report()
    urls = list(dict.fromkeys(_address(text) for text in addresses))
    changes = _changes(title, meta) | named_changes(options)
    there = asyncio.run(read_followed(settings))
    maker = FeedMaker(settings, there, site, changes)
    known = {url: maker.followed(url) for url in urls} if changes else {}
    feeds = [maker.make(FeedCandidate(f.url), f) for found in known.values() for f in found]
    urls = [url for url in urls if not known.get(url)]
    as_given = [maker.make(FeedCandidate(url)) for url in urls]  # refuse options before a request
    if no_check:
        feeds += as_given
    elif urls:
        require_contact(settings)
        kind = None if "kind" not in changes else SourceKind(changes["kind"])
        found = asyncio.run(
            discover_feeds(settings, urls, report, everything=everything, kind=kind)
        )
        feeds += [maker.make(candidate, kind=kind) for candidate, kind in found]
    if feeds:
        asyncio.run(add(settings, feeds, there, report))
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


def _changes(title: str | None, meta: Sequence[str]) -> dict[str, Any]:
    """Return the fields of the record for --title and --meta, if they were named."""
    pairs = [pair.partition("=") for pair in meta]
    if not all(key and equals for key, equals, _ in pairs):
        raise click.UsageError(f"--meta should have the form KEY=VALUE, not {' '.join(meta)}")
    changes: dict[str, Any] = {}
    if title is not None:
        changes["title"] = " ".join(title.split()) or None
    if meta:
        changes["meta"] = {key: value for key, _, value in pairs}
    return changes


def _kind(feed: Feed) -> str:
    kind = feed.options.kind
    return "" if kind is SourceKind.FEED else f"{kind} "
