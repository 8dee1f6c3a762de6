"""`urltree rules suggest`: find out which query parameters change the content of a page.

    PAGES ──▶ Extractor ──▶ a temporary state ──┐
              --state DIR ──────────────────────┴──▶ rows ──▶ evidence ──▶ table, YAML, JSON

The exit codes are those of `urltree extract`. The command never changes a state directory.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import click

from urltree.address.query_evidence import SampledDocument, query_evidence
from urltree.address.url import normalise
from urltree.address.url_key import key_with_id
from urltree.cli.rules.writers import FORMATS, SuggestionFormat, SuggestionWriter
from urltree.cli.summary import RunSummary
from urltree.extractor import Extractor
from urltree.html.tokenizer import TOKENIZER_VERSION
from urltree.page import PageError
from urltree.reading import InputError, Reader
from urltree.reading.stream import STDIN
from urltree.site.row import Row, RowError
from urltree.site.state_directory import StateDirectory, StateError
from urltree.tree.window import DAY, Eviction

_ANY_AGE = Eviction(max_age=100_000 * DAY)  # pages of a crawl may have any age
_INTERRUPTED = 130  # exit code after Ctrl-C: 128 + SIGINT, as in shells


@click.command()
@click.argument("inputs", nargs=-1, metavar="[INPUT…|-]")
@click.option(
    "--state",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="State directory written by `urltree extract --state`; it is read instead of pages.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(get_args(SuggestionFormat)),
    default="table",
    show_default=True,
    help="Output format: a table, a YAML file for --rules, or JSON Lines.",
)
@click.option(
    "--rules",
    type=click.Path(),
    metavar="FILE",
    help="YAML file with your query rules, which are applied before pages are compared.",
)
@click.option(
    "--base-url",
    help="URL of the input folders. A page without canonical link gets this URL and the path of "
    "the page's file.",
)
def suggest(
    inputs: tuple[str, ...],
    state: Path | None,
    format_: SuggestionFormat,
    rules: str | None,
    base_url: str | None,
) -> None:
    """Report for each query parameter whether it changes the content, and suggest query rules.

    The command reads pages as `urltree extract` does, or a state directory that `urltree extract`
    wrote. It does not report known tracking and session parameters, because they are dropped in
    any case. The command changes nothing: to apply the rules, write them to a file and pass the
    file to `--rules`.
    """
    if bool(inputs) == (state is not None):
        raise click.UsageError("pass either pages (`-` for standard input) or --state, not both")
    if state is not None and not (state / "state.json").exists():
        raise click.ClickException(
            f"{state} is not a urltree state directory: it has no state.json"
        )
    with _report_errors(), TemporaryDirectory(prefix="urltree-") as temporary:
        if state is None:
            _learn(inputs, rules, base_url, Path(temporary))
        writer: SuggestionWriter = FORMATS[format_]()
        for domain, samples in _domains(state or Path(temporary)):
            writer.add(domain, query_evidence(samples))
        writer.close()


def _learn(inputs: tuple[str, ...], rules: str | None, base_url: str | None, state: Path) -> None:
    for name in inputs:
        if name != STDIN and not Path(name).exists():
            raise InputError(f"{name}: no such file or folder")
    try:
        extractor = Extractor(rules=rules, eviction=_ANY_AGE, state=state)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    reader, summary = Reader(base_url=base_url), RunSummary(is_live=sys.stderr.isatty())
    with extractor:
        for extraction in extractor.extract_all(reader.read(inputs)):
            summary.count(extraction)
    summary.show(reader.skipped)


def _domains(directory: Path) -> Iterator[tuple[str, list[SampledDocument]]]:
    state = StateDirectory(directory)
    try:
        for domain in state.domains():
            rows = state.load(domain).rows
            samples = [_sample(domain, number, Row.decode(row)) for number, row in rows.items()]
            found = [sample for sample in samples if sample is not None]
            if len(found) < len(samples):
                note = f"{domain}: skipped {len(samples) - len(found):,} rows"
                click.echo(f"{note} of another version or with empty path segments", err=True)
            yield domain, found
    finally:
        state.close()


def _sample(domain: str, document_id: bytes, row: Row) -> SampledDocument | None:
    key = key_with_id(domain, row.branch, document_id.hex())
    if key is None or row.tokenizer != TOKENIZER_VERSION:
        return None
    try:
        return SampledDocument.of(normalise(key), row.hashes)
    except PageError:
        return None


@contextmanager
def _report_errors() -> Iterator[None]:
    """Turn errors into messages of click, with their exit codes."""
    try:
        yield
    except (InputError, StateError, RowError) as error:
        raise click.ClickException(str(error)) from None
    except BrokenPipeError:  # the program that reads the output has ended, such as `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}") from None
