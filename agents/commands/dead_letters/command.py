"""`python -m agents dead-letters list|show|replay`: see refused records, and process them again.

A replayed page keeps its first origin. So a second replay is harmless, and for a page that was
replayed successfully an audit counts the new outcome. If an origin has several dead letters, only
the last one counts.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

import click
import orjson
from rich.console import Console
from rich.table import Table
from rich.text import Text

from agents.commands.dead_letters.replay import replay
from agents.commands.dead_letters.search import (
    DeadLetterSummary,
    Filter,
    find_dead_letters,
    find_last,
)
from agents.commands.dead_letters.view import as_json as all_of
from agents.commands.dead_letters.view import as_text
from agents.commands.terminal import escape_control
from agents.settings.job import load_settings
from urltree.page import Reason

_MESSAGE_WIDTH = 40  # smallest width of the column of messages in `list`
_WIDEST = 1_000  # characters; a row without its message is always shorter


@click.group("dead-letters")
def dead_letters() -> None:
    """List, show and replay records that were refused."""


_reason = click.option(
    "--reason",
    type=click.Choice([r.value for r in Reason]),
    help="Select only dead letters with this reason.",
)
_stage = click.option(
    "--stage",
    type=click.Choice(["normalize", "extract", "poll", "fetch"]),
    help="Select only dead letters of this stage.",
)
_domain_option = click.option(
    "--domain", help="Select only dead letters of pages of this domain, or of feeds of this site."
)
_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


@dead_letters.command("list")
@_reason
@_stage
@_domain_option
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=50,
    show_default=True,
    help="Largest number of dead letters to list.",
)
@_json
def list_dead_letters_command(
    *, reason: str | None, stage: str | None, domain: str | None, limit: int, as_json: bool
) -> None:
    """List the newest dead letters in order of time, and count all dead letters by reason."""
    found = asyncio.run(find_dead_letters(load_settings(), Filter((), reason, stage, domain)))
    counts = Counter(letter.reason for letter in found)
    if as_json:
        rows = [letter._asdict() for letter in found[-limit:]]
        click.echo(orjson.dumps({"total": len(found), "reasons": counts, "last": rows}))
        return
    _print(found[-limit:])
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in counts.items())
    click.echo(f"{len(found):,} dead letters: {reasons}" if found else "No dead letters.")


def _print(letters: Sequence[DeadLetterSummary]) -> None:
    """Print a table in which only messages are folded; it may be wider than the terminal.

    An origin that is cut or folded could not be copied into another command.
    """
    table = Table(box=None)
    for name in ("origin", "time", "stage", "reason"):
        table.add_column(name, no_wrap=True)
    table.add_column("message", overflow="fold", min_width=_MESSAGE_WIDTH)
    for letter in letters:
        text = letter.message[:200]
        if letter.offsets is not None:
            text = "offsets {} to {}: {}".format(*letter.offsets, text)
        cells = (letter.origin, letter.time, letter.stage, letter.reason, text)
        table.add_row(*(Text(escape_control(cell)) for cell in cells))  # Text interprets no markup
    console = Console()
    needed = console.measure(table, options=console.options.update(max_width=_WIDEST)).minimum
    console.width = max(console.width, needed)
    console.print(table)


@dead_letters.command("show")
@click.argument("origin")
@_json
def show_command(*, origin: str, as_json: bool) -> None:
    """Show the last dead letter of an ORIGIN (topic/partition/offset).

    Exit code 1: no dead letter has this origin.
    """
    letter = asyncio.run(find_last(load_settings(), origin))
    if letter is None:
        click.echo(f"There is no dead letter with the origin {origin}.", err=True)
        raise SystemExit(1)
    click.echo(orjson.dumps(all_of(letter)) if as_json else as_text(letter))


@dead_letters.command("replay")
@click.argument("origins", nargs=-1)
@_reason
@_stage
@_domain_option
@click.option("--all", "everything", is_flag=True, help="Replay every dead letter.")
@click.option(
    "--rate",
    type=click.FloatRange(0, min_open=True),
    default=100.0,
    show_default=True,
    help="Number of records to replay per second.",
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@_json
def replay_command(  # noqa: PLR0913 - a command line
    *,
    origins: tuple[str, ...],
    reason: str | None,
    stage: str | None,
    domain: str | None,
    everything: bool,
    rate: float,
    yes: bool,
    as_json: bool,
) -> None:
    """Replay dead letters, chosen by ORIGINS, by filters, or with --all.

    Exit code 1: no dead letter was replayed.
    """
    if not (origins or reason or stage or domain or everything):
        raise click.UsageError(
            "no dead letters are chosen: name origins, pass --reason, --stage or --domain, or pass "
            "--all"
        )
    settings = load_settings()
    found = asyncio.run(find_dead_letters(settings, Filter(origins, reason, stage, domain)))
    if found and not yes:
        click.confirm(f"Replay {len(found)} dead letters?", abort=True, err=True)
    sent = asyncio.run(replay(settings, found, rate)) if found else 0
    click.echo(orjson.dumps({"replayed": sent}) if as_json else f"{sent} replayed")
    raise SystemExit(0 if sent else 1)
