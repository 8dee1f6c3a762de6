"""`urltree explain`: show each block of a page with its verdict and the reasons for it.

    FILE or `-` ──▶ document ──┐
    --state DIR ──▶ rows ──────┴──▶ judge the page as if it arrived now ──▶ table, JSON Lines
    URL and --state DIR ──▶ the stored row of the page

The command only reads the state directory. It does not lock the directory, because another process
may be using it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import click

from urltree.address.url_key import KeyScheme, Query
from urltree.cli.explain.json_lines import write_json_lines
from urltree.cli.explain.stored import write_row
from urltree.cli.explain.table import write_table
from urltree.cli.options import pipeline_options
from urltree.document import Document
from urltree.heuristics.registry import heuristic as find_heuristic
from urltree.output.explanation import explain
from urltree.page import PageError
from urltree.pipeline import Options, Pipeline
from urltree.reading import InputError, Reader
from urltree.reading.source import check_source
from urltree.reading.stream import STDIN
from urltree.site.row import Row, RowError
from urltree.site.state_directory import StateDirectory, StateError

_ADDRESS = re.compile(r"https?://", re.IGNORECASE)
_PIPED = "to see the blocks of a page, pass its HTML: curl -L URL | urltree explain - --url URL"


@click.command("explain")
@click.argument("page", metavar="FILE|-|URL")
@click.option(
    "--state",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="State directory written by `urltree extract --state`. The command only reads it.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["table", "jsonl"]),
    default="table",
    show_default=True,
    help="Output format: a table, or JSON Lines with the whole text of each block.",
)
@click.option("--url", metavar="URL", help="URL of the page in FILE or on standard input.")
@pipeline_options("heuristic", "rules", "query")
def explain_command(  # noqa: PLR0913, PLR0917 - one parameter an option
    page: str,
    state: Path | None,
    format_: str,
    url: str | None,
    heuristic: str,
    rules: str | None,
    query: Query,
) -> None:
    """Show for each text block of a page whether the block is content, and why.

    FILE is one page in any format that `urltree extract` reads; `-` is standard input. With
    --state, the page is judged with what was learned from its site. Without --state, the page is
    judged as the first page of a site. For a URL, the command shows the verdict that is stored
    in the state directory. Use the same --rules and --query as the run that wrote the directory.
    """
    with _report_errors():
        if state is not None and not (state / "state.json").exists():
            raise StateError(f"{state} is not a urltree state directory: it has no state.json")
        decides = find_heuristic(heuristic)
        scheme = KeyScheme.load(None if rules is None else Path(rules).read_text("utf-8"), query)
        if _ADDRESS.match(page):
            if state is None:
                raise click.UsageError(_PIPED)
            write_row(page, _stored(scheme, page, state), as_json=format_ == "jsonl")
            click.echo(f"{_PIPED} --state {state}", err=True)
            return
        document = _document(page, url, scheme)
        rows = (
            {}
            if state is None
            else StateDirectory(state, is_member=True).load(document.domain).rows
        )
        write = write_table if format_ == "table" else write_json_lines
        write(explain(decides, document, rows.items()))


def _document(name: str, url: str | None, scheme: KeyScheme) -> Document:
    """Read a file or standard input with exactly one page, and return its document.

    Raises:
        InputError: the file does not exist, or does not contain exactly one page.
        PageError: the page is refused, because it cannot become clean text.
    """
    if name != STDIN and not Path(name).exists():
        raise InputError(f"{name}: no such file")
    sources = list(islice(Reader(url).read([name]), 2))
    if len(sources) != 1:
        count = "several pages" if sources else "no page"
        raise InputError(f"{name}: contains {count}; pass exactly one page")
    page, origin = check_source(sources[0], "explain/0/0")
    pipeline = Pipeline(Options(), url_required=False)
    pipeline.admit(page)
    return pipeline.document(page, origin, scheme)


def _stored(scheme: KeyScheme, url: str, directory: Path) -> Row:
    """Read the row of a page from a state directory.

    Raises:
        PageError: `url` is not a valid address.
        StateError: the state directory has no row for this page.
    """
    key = scheme.key(url, lambda: None)
    stored = (
        StateDirectory(directory, is_member=True).load(key.domain).rows.get(bytes.fromhex(key.id))
    )
    if stored is None:
        raise StateError(f"{directory}: no page with the URL key {key.key} is stored there")
    return Row.decode(stored)


@contextmanager
def _report_errors() -> Iterator[None]:
    """Turn errors into messages of click, with their exit codes."""
    try:
        yield
    except ValueError as error:  # the heuristic is unknown, or the rules are invalid
        raise click.UsageError(str(error)) from None
    except (InputError, StateError, RowError, PageError) as error:
        raise click.ClickException(str(error)) from None
    except BrokenPipeError:  # the program that reads the output has ended, such as `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}") from None
