"""`python -m agents fetches purge`: remove what waits in the topic fetches now.

    ends of fetches ──▶ rule `purge …` in the topic rules ──▶ workers of fetch

Workers turn a page into a dead letter with the reason `removed` when its turn comes, without a
request. A rule applies to the pages that were named before the command; feeds may name new pages
of the same host at once. The rule remains, so that a replay of such a dead letter is refused, too.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

import click
import orjson
from aiokafka import ConsumerRecord

from agents.commands.terminal import escape_control, show
from agents.kafka.client import (
    consumer,
    full_ranges,
    offsets,
    partitions,
    read_records,
    trusted_headers,
)
from agents.kafka.groups import committed_offsets
from agents.rules.topic import ends_of, index, read_rules, write_rules
from agents.settings.job import Settings, load_settings
from models.crawl import fetch
from models.headers.names import ORIGIN, header
from models.origin import Origin
from urltree.crawl.decisions.feed.address import feed_address
from urltree.crawl.decisions.rules.rule import (
    EVERYTHING,
    Action,
    CrawlRule,
    RuleKey,
    Scope,
    make_key,
)
from urltree.crawl.decisions.rules.rules import Rules, TopicIds, WaitingPage
from urltree.page import PageError


@dataclass
class Purged:
    """What a purge covers.

    Attributes:
        rules: the rules that it writes.
        pages: origins of the waiting pages. A page whose request is finished, but whose offset is
            not committed yet, is counted, too.
    """

    rules: list[CrawlRule]
    pages: set[str] = field(default_factory=set)


@click.group("fetches")
def fetches() -> None:
    """Remove waiting pages."""


@fetches.command("purge")
@click.option("--host", "hosts", multiple=True, help="Pages of this host.")
@click.option("--domain", "domains", multiple=True, help="Pages of this domain and its subdomains.")
@click.option("--feed", "feeds", multiple=True, help="Pages that this feed has named.")
@click.option("--all", "everything", is_flag=True, help="Every waiting page.")
@click.option("--dry-run", is_flag=True, help="Count the pages, and remove nothing.")
@click.option(
    "--undo",
    is_flag=True,
    help="Delete the rule of an earlier purge, so that its dead letters can be replayed.",
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def purge_command(  # noqa: PLR0913 - a command line
    *,
    hosts: tuple[str, ...],
    domains: tuple[str, ...],
    feeds: tuple[str, ...],
    everything: bool,
    dry_run: bool,
    undo: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Remove the pages that wait in fetches now, and requests that run for them.

    A page is chosen by any address of its chain of redirects. Workers obey within five seconds.
    Exit code 1: with --undo, there was no such purge.
    """
    keys = _keys(hosts, domains, feeds, everything)
    settings = load_settings()
    if undo:
        _undo(settings, keys, as_json=as_json)
    found = asyncio.run(_find(settings, keys))
    count, named = len(found.pages), ", ".join(_words(key) for key in keys)
    if not dry_run:
        if not yes:
            question = f"Remove {count:,} waiting pages ({named})?"
            click.confirm(escape_control(question), abort=True, err=True)
        asyncio.run(_write(settings, found.rules))
    if as_json:
        rules = [] if dry_run else [str(rule.key) for rule in found.rules]
        click.echo(orjson.dumps({"pages": count, "rules": rules}))
    elif dry_run:
        click.echo(escape_control(f"{count:,} waiting pages would be removed ({named})"))
    else:
        click.echo(escape_control(f"{count:,} waiting pages are removed ({named})"))
        click.echo("workers begin no request for them from 5 s after now on")


def _keys(
    hosts: tuple[str, ...], domains: tuple[str, ...], feeds: tuple[str, ...], everything: bool
) -> list[RuleKey]:
    chosen = [
        *((Scope.HOST, text) for text in hosts),
        *((Scope.DOMAIN, text) for text in domains),
        *((Scope.FEED, text) for text in feeds),
    ]
    if everything == bool(chosen):
        raise click.UsageError("pass --host, --domain or --feed, or pass --all alone")
    try:
        named = [(scope, _target(scope, text)) for scope, text in chosen]
        keys = [make_key(Action.PURGE, *one) for one in named or [(Scope.ALL, EVERYTHING)]]
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    return list(dict.fromkeys(keys))


def _target(scope: Scope, text: str) -> str:
    return feed_address(text) if scope is Scope.FEED else text


def _words(key: RuleKey) -> str:
    return "all" if key.scope is Scope.ALL else f"{key.scope} {key.target}"


async def _find(settings: Settings, keys: list[RuleKey]) -> Purged:
    """Return the rules of a purge, with the waiting pages that they cover."""
    ends = await ends_of(settings, "fetches")
    done = await committed_offsets(settings, "fetch", "fetches")
    now = time.time()
    purged = Purged([CrawlRule(key, now, fetches=ends) for key in keys])
    rules = index(purged.rules, TopicIds(fetches=ends.topic))
    async with consumer(settings) as client:
        places = await partitions(client, settings.topic("fetches"))
        ranges = {
            place: (max(first, done.get(place.partition, 0)), end)
            for place, (first, end) in (await full_ranges(client, places)).items()
        }
        records = read_records(client, ranges, also_unread=True)
        async for record in show(records, "reading fetches", offsets(ranges)):
            origin = _origin(settings, record)
            if _is_covered(settings, rules, record, origin):
                purged.pages.add(origin)
    return purged


def _origin(settings: Settings, record: ConsumerRecord) -> str:
    named = header(trusted_headers(settings.header_keys, record), ORIGIN)
    return named or str(Origin(record.topic, record.partition, record.offset))


def _is_covered(settings: Settings, rules: Rules, record: ConsumerRecord, origin: str) -> bool:
    place = record.partition, record.offset
    try:
        topic, *first = Origin.parse(origin)
        if topic == settings.topic("fetches"):
            place = first[0], first[1]
        wanted = fetch.decode(record.value)
    except (ValueError, PageError):
        return False
    page = WaitingPage(place, wanted.feed, wanted.site, wanted.feed_offset)
    chain = (wanted.url, *wanted.redirects)
    return any(rules.verdict(url, page) is not None for url in chain)


async def _write(settings: Settings, rules: list[CrawlRule]) -> None:
    await write_rules(settings, await read_rules(settings), rules)


def _undo(settings: Settings, keys: list[RuleKey], *, as_json: bool) -> None:
    known = asyncio.run(read_rules(settings))
    found = [key for key in keys if key in known]
    unknown = [key for key in keys if key not in known]
    asyncio.run(write_rules(settings, known, ended=found))
    if as_json:
        report = {"removed": list(map(str, found)), "unknown": list(map(str, unknown))}
        click.echo(orjson.dumps(report))
    else:
        for key in found:
            click.echo(escape_control(f"no longer purged: {_words(key)}"))
        for key in unknown:
            click.echo(escape_control(f"there was no purge of {_words(key)}"), err=True)
    raise SystemExit(1 if unknown else 0)
