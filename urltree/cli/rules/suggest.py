"""`urltree rules suggest`: what the pages of a site say of its query parameters.

    PAGES ──▶ Extractor ──▶ a state of their own ──┐
              --state DIR ─────────────────────────┴──▶ rows ──▶ evidence ──▶ table, YAML, JSON

Exit codes as `urltree extract`. A state is read, never changed.
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
from urltree.site.state_directory import State, StateError
from urltree.tree.window import DAY, Eviction

_OF_ANY_AGE = Eviction(max_age=100_000 * DAY)  # a crawl's pages are from all years
_INTERRUPTED = 130  # 128 + SIGINT, as shells count


@click.command()
@click.argument("inputs", nargs=-1, metavar="[INPUT…|-]")
@click.option("--state", type=click.Path(path_type=Path), metavar="DIR", help="Instead of pages.")
@click.option("--format", "format_", type=click.Choice(get_args(SuggestionFormat)), default="table")
@click.option("--rules", type=click.Path(), metavar="FILE", help="Of your own, for the pages.")
@click.option("--base-url", help="URL of the folders that are given.")
def suggest(
    inputs: tuple[str, ...],
    state: Path | None,
    format_: SuggestionFormat,
    rules: str | None,
    base_url: str | None,
) -> None:
    """Say of each query parameter whether its value changes the content, and suggest rules.

    Reads pages as extract does, or a state that it left. Of known noise nothing is said, for it is
    dropped already. Nothing is changed: a rule counts once you give it to --rules.
    """
    if bool(inputs) == (state is not None):
        raise click.UsageError("name pages, `-` for standard input, or --state; not both")
    if state is not None and not (state / "state.json").exists():
        raise click.ClickException(f"{state}: there is no state")
    with _ending_well(), TemporaryDirectory(prefix="urltree-") as temporary:
        if state is None:
            _learn(inputs, rules, base_url, Path(temporary))
        written: SuggestionWriter = FORMATS[format_]()
        for domain, samples in _domains(state or Path(temporary)):
            written.add(domain, query_evidence(samples))
        written.close()


def _learn(inputs: tuple[str, ...], rules: str | None, base_url: str | None, state: Path) -> None:
    for name in inputs:
        if name != STDIN and not Path(name).exists():
            raise InputError(f"{name}: there is no such file or folder")
    try:
        extractor = Extractor(rules=rules, eviction=_OF_ANY_AGE, state=state)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    reader, summary = Reader(base_url=base_url), RunSummary(is_live=sys.stderr.isatty())
    with extractor:
        for extraction in extractor.extract_all(reader.read(inputs)):
            summary.count(extraction)
    summary.show(reader.skipped)


def _domains(directory: Path) -> Iterator[tuple[str, list[SampledDocument]]]:
    state = State(directory)
    try:
        for domain in state.domains():
            rows = state.load(domain).rows
            samples = [_sample(domain, number, Row.decode(row)) for number, row in rows.items()]
            found = [sample for sample in samples if sample is not None]
            if len(found) < len(samples):
                note = f"{domain}: {len(samples) - len(found):,} rows are of another version"
                click.echo(f"{note}, or have empty segments in their path: passed over", err=True)
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
def _ending_well() -> Iterator[None]:
    try:
        yield
    except (InputError, StateError, RowError) as error:
        raise click.ClickException(str(error)) from None
    except BrokenPipeError:  # whoever read has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}") from None
