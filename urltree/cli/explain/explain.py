"""`urltree explain`: each block of a page with its verdict, and what the verdict stands on.

    FILE or `-` ──▶ document ──┐
    --state DIR ──▶ rows ──────┴──▶ as if it came now ──▶ table, JSON Lines
    URL and --state DIR ──▶ the row that is stored of the page

A state is read and never changed, not even locked: another process may be using it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import get_args

import click

from urltree.address.url_key import KeyScheme, Query
from urltree.cli.explain.json_lines import write_json_lines
from urltree.cli.explain.stored import write_row
from urltree.cli.explain.table import write_table
from urltree.document import Document
from urltree.extractor import MAX_BYTES
from urltree.heuristics.registry import DEFAULT, NAMES, heuristic
from urltree.html.tokenizer import tokenize
from urltree.output.explanation import explain
from urltree.page import PageError
from urltree.reading import InputError, Reader
from urltree.reading.admission import admit
from urltree.reading.source import check_source
from urltree.reading.stream import STDIN
from urltree.site.lone_page import lone_document
from urltree.site.row import Row, RowError
from urltree.site.state_directory import State, StateError

_ADDRESS = re.compile(r"https?://", re.IGNORECASE)
_PIPED = "the HTML of a page is needed to see its blocks: curl -L URL | urltree explain - --url URL"


@click.command("explain")
@click.argument("page", metavar="FILE|-|URL")
@click.option("--state", type=click.Path(path_type=Path), metavar="DIR", help="Of `extract`.")
@click.option("--heuristic", "name", default=DEFAULT, help=f"One of {', '.join(NAMES)}.")
@click.option("--format", "format_", type=click.Choice(["table", "jsonl"]), default="table")
@click.option("--url", help="URL of the page that is given.")
@click.option("--rules", type=click.Path(path_type=Path), metavar="FILE", help="As of the state.")
@click.option("--query", type=click.Choice(get_args(Query)), default="known-noise")
def explain_command(  # noqa: PLR0913, PLR0917 - one parameter an option
    page: str,
    state: Path | None,
    name: str,
    format_: str,
    url: str | None,
    rules: Path | None,
    query: Query,
) -> None:
    """Say of each block of a page whether it is content, and why.

    FILE is one page as extract takes it. With --state it is judged by what was learned of its
    site; without, as the first page of a site. Of a URL, what the state holds of it is shown.
    """
    with _ending_well():
        if state is not None and not (state / "state.json").exists():
            raise StateError(f"{state}: there is no state")
        decides = heuristic(name)
        scheme = KeyScheme.load(None if rules is None else rules.read_text("utf-8"), query)
        if _ADDRESS.match(page):
            if state is None:
                raise click.UsageError(_PIPED)
            write_row(page, _stored(scheme, page, state), as_json=format_ == "jsonl")
            click.echo(f"{_PIPED} --state {state}", err=True)
            return
        document = _document(page, url, scheme)
        rows = {} if state is None else State(state, is_member=True).load(document.domain).rows
        write = write_table if format_ == "table" else write_json_lines
        write(explain(decides, document, rows.items()))


def _document(name: str, url: str | None, scheme: KeyScheme) -> Document:
    """The one page of a file.

    Raises:
        InputError: it has none, or several.
        PageError: the page's fault.
    """
    if name != STDIN and not Path(name).exists():
        raise InputError(f"{name}: there is no such file")
    sources = list(islice(Reader(url).read([name]), 2))
    if len(sources) != 1:
        raise InputError(f"{name}: should be one page, has {'several' if sources else 'none'}")
    page, origin = check_source(sources[0], "explain/0/0")
    admit(page, MAX_BYTES, url_required=False)
    if not page.final_url:
        return lone_document(page, origin)
    tokens = tokenize(page.html, page.content_type)
    key = scheme.key(page.final_url, lambda: page.title or tokens.title)
    return Document.of(page, key, tokens, origin)


def _stored(scheme: KeyScheme, url: str, directory: Path) -> Row:
    """The row of a page.

    Raises:
        PageError: the address is none.
        StateError: there is no row.
    """
    key = scheme.key(url, lambda: None)
    stored = State(directory, is_member=True).load(key.domain).rows.get(bytes.fromhex(key.id))
    if stored is None:
        raise StateError(f"{directory}: holds no page of the key {key.key}")
    return Row.decode(stored)


@contextmanager
def _ending_well() -> Iterator[None]:
    try:
        yield
    except ValueError as error:  # a heuristic's name, or rules
        raise click.UsageError(str(error)) from None
    except (InputError, StateError, RowError, PageError) as error:
        raise click.ClickException(str(error)) from None
    except BrokenPipeError:  # whoever read has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}") from None
