"""`python -m demo`: the job at work on the feeds of a sample, on real ones, or on your pages."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from aiokafka.errors import KafkaError as ClientError
from rich.console import Console

from agents.commands.audit.command import format_accounts, format_fetch_accounts
from agents.commands.feeds import subscriptions
from agents.commands.feeds.subscriptions import Entry
from agents.commands.terminal import escape_control
from agents.settings.job import SettingsError, load_settings
from demo.feed_run import run_feeds, run_sample
from demo.kafka_install import KafkaError
from demo.progress import Summary
from demo.run import run_pages
from demo.sites import sample
from demo.view import Plain, Terminal, View
from demo.workers import WorkerError
from urltree.reading import InputError

INTERRUPTED = 130
SHOWN = 5


@click.command()
@click.argument("pages", nargs=-1)
@click.option("--feeds", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--contact", help="Where owners of sites reach you: an address of mail or web.")
@click.option("--seconds", type=click.FloatRange(0, min_open=True), help="Follow feeds that long.")
def main(
    *, pages: tuple[str, ...], feeds: Path | None, contact: str | None, seconds: float | None
) -> None:
    """Run broker and workers on the sample's feeds, and show what comes out.

    Or on PAGES: files or folders as `urltree extract` reads them, .html, JSON Lines, WARC. Or on
    the --feeds of a file, OPML or an address a line, until Ctrl-C. Exit 1: a page is unaccounted
    for, an item was not found, or something did not start.
    """
    if pages and feeds:
        raise click.UsageError("either PAGES or --feeds")
    directory = Path(tempfile.mkdtemp(prefix="urltree-run-"))

    async def run(view: View) -> Summary:
        if pages:
            return await run_pages(pages, directory, view)
        if feeds:
            _check_contact(contact)
            return await run_feeds(_entries(feeds), seconds, directory, view)
        return await run_sample(sample(), directory, view)

    code = _run(run, Console())
    if code in (0, INTERRUPTED) or not any(directory.iterdir()):
        shutil.rmtree(directory, ignore_errors=True)
    else:
        click.echo(f"logs are kept in {directory}", err=True)
    sys.exit(code)


def _entries(feeds: Path) -> list[Entry]:
    entries = list(subscriptions.read_feed_list(feeds.read_bytes()))
    if not entries:
        raise InputError(f"{feeds}: names no feed")
    return entries


def _check_contact(given: str | None) -> None:
    """Workers and commands read it from the environment, where `given` is put.

    Raises:
        SettingsError: there is none, or it is no address.
    """
    if given:
        os.environ["URLTREE_CONTACT"] = given
    if load_settings().contact is None:
        raise SettingsError(
            "The owners of real sites should be able to reach you: "
            "make run FEEDS=my.opml CONTACT=you@example.org"
        )


def _run(run: Callable[[View], Coroutine[Any, Any, Summary]], console: Console) -> int:
    code = 1
    try:
        with Terminal(console) if console.is_terminal else Plain(console) as view:
            summary = asyncio.run(run(view))
        click.echo(described(summary))
        code = 1 if unaccounted(summary) else 0
    except* KeyboardInterrupt:
        click.echo("stopped", err=True)
        code = INTERRUPTED
    except* (ClientError, KafkaError, SettingsError, WorkerError, InputError) as errors:
        for error in _flat(errors):
            click.echo(str(error) or type(error).__name__, err=True)
    return code


def _flat(group: BaseExceptionGroup[Exception]) -> Iterator[Exception]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _flat(error)
        else:
            yield error


def unaccounted(summary: Summary) -> bool:
    """Whether a page, or an item of the sample, has no end."""
    fetches = summary.fetches.missing if summary.fetches else 0
    return bool(summary.accounts.missing or fetches or summary.lost)


def described(summary: Summary) -> str:
    """The summary for a person."""
    rate = summary.accounts.origins / summary.seconds if summary.seconds else 0.0
    return "\n".join(
        [
            "",
            *_harvested(summary),
            "What became of every page (python -m agents audit):",
            format_accounts(summary.accounts),
            f"{summary.domains:9,} domains",
            f"{summary.seconds:9.1f} s, {rate:,.0f} pages/s",
            *_named("not followed" if summary.harvest else "not published", summary.refused),
            *_named("lost", summary.lost),
        ]
    )


def _harvested(summary: Summary) -> list[str]:
    if summary.harvest is None or summary.fetches is None:
        return []
    failing = [f"{feed}: {why}" for feed, why in summary.harvest.failing.items()]
    return [
        f"{summary.harvest.feeds:9,} feeds, polled {summary.harvest.polls:,} times",
        *_named("failing", failing),
        "",
        "What became of every page that they named (python -m agents audit --fetches):",
        format_fetch_accounts(summary.fetches),
        "",
    ]


def _named(what: str, problems: Sequence[str]) -> list[str]:
    if not problems:
        return []
    return [
        f"{len(problems):9,} {what}, among them:",
        *(f"{'':9} {escape_control(problem)}" for problem in problems[:SHOWN]),
    ]


if __name__ == "__main__":
    main(prog_name="python -m demo")
