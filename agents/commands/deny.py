"""`python -m agents deny add|remove|list|check`: forbid requests to hosts, domains and paths.

    add, remove ──▶ topic rules ──▶ every worker of poll and fetch, within five seconds
    list, check ◀──────┘

The commands only use this topic, so no worker needs to run.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import click
import orjson
from rich.console import Console
from rich.table import Table
from rich.text import Text

from agents.commands.terminal import escape_control
from agents.rules.topic import KnownRules, index, read_rules, write_rules
from agents.settings.job import load_settings
from urltree.address.url import normalise
from urltree.crawl.decisions.rules.rule import Action, CrawlRule, RuleKey, Scope, make_key
from urltree.crawl.decisions.rules.rules import Denied, TopicIds
from urltree.page import PageError

PROMISE = "workers begin no such request from 5 s after now on"
_PIPE_WIDTH = 200  # characters of a line that does not go to a terminal
_MAX_NOTE = 500


@click.group("deny")
def deny() -> None:
    """Forbid requests to hosts, domains and paths, or allow them again."""


def targets(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that name hosts, domains and paths to a command."""
    for option in (
        click.option(
            "--path",
            "paths",
            multiple=True,
            metavar="HOST/PATTERN",
            help="Paths of a host, with the wildcards of robots.txt: `*` for any characters, and "
            "`$` for the end. `*.DOMAIN/PATTERN` covers a domain and its subdomains. Can be passed "
            "several times.",
        ),
        click.option(
            "--domain",
            "domains",
            multiple=True,
            help="A domain with all its subdomains. Can be passed several times.",
        ),
        click.option(
            "--host",
            "hosts",
            multiple=True,
            help="A single host, without its subdomains. Can be passed several times.",
        ),
    ):
        command = option(command)
    return command


_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


@deny.command("add")
@targets
@click.option("--note", help="Note for people, such as who asked for the rule.")
@_json
def add_command(
    *,
    hosts: tuple[str, ...],
    domains: tuple[str, ...],
    paths: tuple[str, ...],
    note: str | None,
    as_json: bool,
) -> None:
    """Forbid all requests to hosts, domains and paths, also to their feeds and robots.txt.

    Workers obey within five seconds, and cancel running requests. Pages that wait become dead
    letters with the reason `denied` when their turn comes.
    """
    if note is not None and len(note) > _MAX_NOTE:
        raise click.UsageError(f"the note has {len(note)} characters, more than {_MAX_NOTE}")
    keys = _keys(hosts, domains, paths)
    settings, now = load_settings(), time.time()
    known = asyncio.run(read_rules(settings))
    there = [key for key in keys if key in known]
    rules = [_rule(known, key, now, note) for key in keys]
    asyncio.run(write_rules(settings, known, rules))
    if as_json:
        added = [str(key) for key in keys if key not in known]
        click.echo(orjson.dumps({"added": added, "there": list(map(str, there))}))
        return
    for key in keys:
        was = "was denied before" if key in known else "denied"
        click.echo(escape_control(f"{was}: {key.scope} {key.target}"))
    click.echo(PROMISE)


@deny.command("remove")
@targets
@_json
def remove_command(
    *, hosts: tuple[str, ...], domains: tuple[str, ...], paths: tuple[str, ...], as_json: bool
) -> None:
    """Allow requests again that `deny add` has forbidden.

    Items that were dropped are fetched if their feed still names them. Exit code 1: there is no
    such rule.
    """
    keys = _keys(hosts, domains, paths)
    settings = load_settings()
    known = asyncio.run(read_rules(settings))
    found = [key for key in keys if key in known]
    unknown = [key for key in keys if key not in known]
    asyncio.run(write_rules(settings, known, ended=found))
    if as_json:
        report = {"removed": list(map(str, found)), "unknown": list(map(str, unknown))}
        click.echo(orjson.dumps(report))
    else:
        for key in found:
            click.echo(escape_control(f"no longer denied: {key.scope} {key.target}"))
        for key in unknown:
            click.echo(
                escape_control(f"there is no rule for the {key.scope} {key.target}"), err=True
            )
    raise SystemExit(1 if unknown else 0)


@deny.command("list")
@_json
def list_command(*, as_json: bool) -> None:
    """List the deny rules, and count the removals and purges.

    With --json, removals and purges are listed, too.
    """
    known = asyncio.run(read_rules(load_settings()))
    found = sorted(known, key=lambda rule: rule.key)
    if as_json:
        click.echo(orjson.dumps({"rules": [_fields(rule) for rule in found]}))
        return
    denied = [rule for rule in found if rule.key.action is Action.DENY]
    if denied:
        _print(denied)
    removed = sum(rule.key.action is Action.REMOVE for rule in found)
    purged = sum(rule.key.action is Action.PURGE for rule in found)
    click.echo(f"{len(denied):,} deny rules, {removed:,} removed feeds, {purged:,} purges")


@deny.command("check")
@click.argument("url")
@_json
def check_command(*, url: str, as_json: bool) -> None:
    """Tell which rule forbids requests for a URL.

    Exit code 1: no rule forbids them.
    """
    try:
        normalise(url)
    except PageError as error:
        raise click.UsageError(error.message) from None
    known = asyncio.run(read_rules(load_settings()))
    found = index(known, TopicIds()).verdict(url)
    rule = str(found.rule) if isinstance(found, Denied) else None
    if as_json:
        click.echo(orjson.dumps({"url": url, "rule": rule}))
    elif rule is None:
        click.echo(escape_control(f"no rule forbids requests for {url}"))
    else:
        click.echo(escape_control(f"`{rule}` forbids requests for {url}"))
    raise SystemExit(1 if rule is None else 0)


def _make_keys(action: Action, scopes: Iterable[tuple[Scope, Iterable[str]]]) -> list[RuleKey]:
    """Return the keys of rules for targets that a person wrote, each key once.

    Raises:
        click.UsageError: a target is invalid.
    """
    try:
        found = [make_key(action, scope, text) for scope, texts in scopes for text in texts]
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    return list(dict.fromkeys(found))


def _keys(
    hosts: tuple[str, ...], domains: tuple[str, ...], paths: tuple[str, ...]
) -> list[RuleKey]:
    pairs = ((Scope.HOST, hosts), (Scope.DOMAIN, domains), (Scope.PATH, paths))
    found = _make_keys(Action.DENY, pairs)
    if not found:
        raise click.UsageError("pass --host, --domain or --path")
    return found


def _rule(known: KnownRules, key: RuleKey, now: float, note: str | None) -> CrawlRule:
    """Return the rule to write: a known rule keeps its time, and its note unless there is one."""
    former = known.rules.get(key)
    if former is None:
        return CrawlRule(key, now, note)
    return CrawlRule(key, former.set_at or now, note or former.note)


def _fields(rule: CrawlRule) -> dict[str, Any]:
    key = rule.key
    return {
        "action": key.action,
        "scope": key.scope,
        "target": key.target,
        "set_at": _time(rule),
        "note": rule.note,
    }


def _time(rule: CrawlRule) -> str | None:
    if rule.set_at is None:
        return None
    return datetime.fromtimestamp(rule.set_at, UTC).isoformat(timespec="seconds")


def _print(rules: list[CrawlRule]) -> None:
    table = Table(box=None)
    for name in ("denied", "target", "since"):
        table.add_column(name, no_wrap=name != "target", overflow="fold")
    table.add_column("note", overflow="fold")
    for rule in rules:
        cells = (rule.key.scope, rule.key.target, _time(rule) or "", rule.note or "")
        table.add_row(*(Text(escape_control(cell)) for cell in cells))
    console = Console()
    if not console.is_terminal:
        console = Console(width=_PIPE_WIDTH)
    console.print(table)
