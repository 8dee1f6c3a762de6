"""`python -m demo [PAGES…]`: the job at work, on the sample or on pages of your own."""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
from aiokafka.errors import KafkaError as ClientError
from rich.console import Console

from agents.commands.audit import report
from agents.settings import SettingsError
from demo.kafka_install import KafkaError
from demo.run import Summary, run
from demo.view import Plain, Terminal
from demo.workers import WorkerError
from urltree.inputs import InputError

INTERRUPTED = 130
SHOWN = 5


@click.command()
@click.argument("pages", nargs=-1)
def main(pages: tuple[str, ...]) -> None:
    """Run broker and workers, publish PAGES (else a sample of web sites), show what comes out.

    PAGES are files or folders as `urltree extract` reads them: .html, JSON Lines, WARC. Exit 1:
    a page is unaccounted for, or something did not start.
    """
    directory = Path(tempfile.mkdtemp(prefix="urltree-run-"))
    code = _run(pages, directory, Console())
    if code in (0, INTERRUPTED):
        shutil.rmtree(directory, ignore_errors=True)
    else:
        click.echo(f"logs are kept in {directory}", err=True)
    sys.exit(code)


def _run(pages: tuple[str, ...], directory: Path, console: Console) -> int:
    code = 1
    try:
        with Terminal(console) if console.is_terminal else Plain(console) as view:
            summary = asyncio.run(run(pages, directory, view))
        click.echo(described(summary))
        code = 1 if summary.accounts.missing else 0
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


def described(summary: Summary) -> str:
    """The summary for a person."""
    rate = summary.accounts.origins / summary.seconds if summary.seconds else 0.0
    lines = [
        "",
        "What became of every page (python -m agents audit):",
        report(summary.accounts),
        f"{summary.domains:9,} domains",
        f"{summary.seconds:9.1f} s, {rate:,.0f} pages/s",
    ]
    if summary.refused:
        lines.append(f"{len(summary.refused):9,} not published, among them:")
        lines += [f"{'':9} {problem}" for problem in summary.refused[:SHOWN]]
    return "\n".join(lines)


if __name__ == "__main__":
    main(prog_name="python -m demo")
