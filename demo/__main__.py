"""Run the job on sample feeds, on real feeds or on pages of the user: `python -m demo`."""

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
from demo.kafka_files import KafkaError
from demo.progress import DemoSummary
from demo.run import run_pages
from demo.sites import make_sample
from demo.view import Plain, RunView, Terminal
from demo.workers import WorkerError
from urltree.reading import InputError

INTERRUPTED = 130
SHOWN = 5


@click.command()
@click.argument("pages", nargs=-1)
@click.option(
    "--feeds",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File with the feeds to follow: OPML, or one address per line.",
)
@click.option(
    "--contact",
    help="E-mail or web address at which owners of sites can reach you; required with --feeds.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0, min_open=True),
    help="Number of seconds for which the feeds of --feeds are followed; by default until Ctrl-C.",
)
def main(
    *, pages: tuple[str, ...], feeds: Path | None, contact: str | None, seconds: float | None
) -> None:
    """Run Kafka and the job, and show the results while they arrive.

    Without arguments the job follows the feeds of five invented web sites. PAGES are files or
    folders as `urltree extract` reads them (.html, JSON Lines, WARC); with PAGES the job processes
    these pages. With --feeds it follows real feeds until Ctrl-C.

    The exit code is 1 if a page has no outcome, an item of a feed was not found, or Kafka or a
    worker did not start.
    """
    if pages and feeds:
        raise click.UsageError("PAGES and --feeds exclude each other: pass only one of them")
    directory = Path(tempfile.mkdtemp(prefix="urltree-run-"))

    async def run(view: RunView) -> DemoSummary:
        if pages:
            return await run_pages(pages, directory, view)
        if feeds:
            _check_contact(contact)
            return await run_feeds(_entries(feeds), seconds, directory, view)
        return await run_sample(make_sample(), directory, view)

    code = _run(run, Console())
    if code in (0, INTERRUPTED) or not any(directory.iterdir()):
        shutil.rmtree(directory, ignore_errors=True)
    else:
        click.echo(f"The logs are in {directory}", err=True)
    sys.exit(code)


def _entries(feeds: Path) -> list[Entry]:
    entries = list(subscriptions.read_feed_list(feeds.read_bytes()))
    if not entries:
        raise InputError(f"{feeds}: the file has no feed: write OPML, or one address per line")
    return entries


def _check_contact(given: str | None) -> None:
    """Check that there is a contact; put `given` into the environment for the workers.

    Raises:
        SettingsError: there is no contact, or the contact is not an address.
    """
    if given:
        os.environ["URLTREE_CONTACT"] = given
    if load_settings().contact is None:
        raise SettingsError(
            "--feeds needs a contact, so that owners of sites can reach you: "
            "make run FEEDS=my.opml CONTACT=you@example.org"
        )


def _run(run: Callable[[RunView], Coroutine[Any, Any, DemoSummary]], console: Console) -> int:
    code = 1
    try:
        with Terminal(console) if console.is_terminal else Plain(console) as view:
            summary = asyncio.run(run(view))
        click.echo(describe(summary))
        code = 1 if unaccounted(summary) else 0
    except* KeyboardInterrupt:
        click.echo("Stopped.", err=True)
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


def unaccounted(summary: DemoSummary) -> bool:
    """Return whether a page, a fetch request or an item of the sample has no outcome."""
    fetches = summary.fetches.missing if summary.fetches else 0
    return bool(summary.accounts.missing or fetches or summary.lost)


def describe(summary: DemoSummary) -> str:
    """Return the result of a run as text for the user."""
    rate = summary.accounts.origins / summary.seconds if summary.seconds else 0.0
    return "\n".join(
        [
            "",
            *_harvested(summary),
            "Outcome of every page (python -m agents audit):",
            format_accounts(summary.accounts),
            f"{summary.domains:9,} domains",
            f"{summary.seconds:9.1f} s, {rate:,.0f} pages/s",
            *_named("not followed" if summary.harvest else "not published", summary.refused),
            *_named("lost", summary.lost),
        ]
    )


def _harvested(summary: DemoSummary) -> list[str]:
    if summary.harvest is None or summary.fetches is None:
        return []
    failing = [f"{feed}: {why}" for feed, why in summary.harvest.failing.items()]
    return [
        f"{summary.harvest.feeds:9,} feeds, polled {summary.harvest.polls:,} times",
        *_named("failing", failing),
        "",
        "Outcome of every page that the feeds named (python -m agents audit --fetches):",
        format_fetch_accounts(summary.fetches),
        "",
    ]


def _named(what: str, problems: Sequence[str]) -> list[str]:
    if not problems:
        return []
    return [
        f"{len(problems):9,} {what}, for example:",
        *(f"{'':9} {escape_control(problem)}" for problem in problems[:SHOWN]),
    ]


if __name__ == "__main__":
    main(prog_name="python -m demo")
