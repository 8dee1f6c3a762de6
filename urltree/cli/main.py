"""The options of `urltree extract`, and how it ends.

0    done
1    an input, an output or the state cannot be used; or an error under --fail-on-error
2    usage
130  Ctrl-C; the state is saved
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, get_args

import click

from urltree.address.url_key import Query
from urltree.cli import interruption
from urltree.cli.commands import PluginGroup
from urltree.cli.explain import explain_command
from urltree.cli.jobs import Jobs
from urltree.cli.output import FolderOutput, Output, OutputFormat, StreamOutput
from urltree.cli.rules import rules
from urltree.cli.summary import RunSummary
from urltree.enrich.fallback import SinglePage
from urltree.extractor import Extractor
from urltree.heuristics.registry import DEFAULT, NAMES
from urltree.reading import InputError, Reader
from urltree.reading.source import Source
from urltree.reading.stream import STDIN
from urltree.site.revisits import Revisits
from urltree.site.state_directory import StateError

_INTERRUPTED = 130  # 128 + SIGINT, as shells count


@click.group(cls=PluginGroup)
@click.version_option(package_name="urltree")
def main() -> None:
    """Clean text from whole web sites: what recurs on a branch of a site is boilerplate."""


main.add_command(explain_command)
main.add_command(rules)


@main.command()
@click.argument("inputs", nargs=-1, metavar="[INPUT…|-]")
@click.option("-o", "--output", metavar="FILE|DIR", help="Instead of stdout; DIR/ makes a folder.")
@click.option("--format", "format_", type=click.Choice(get_args(OutputFormat)), default="jsonl")
@click.option("--heuristic", default=DEFAULT, show_default=True, help=f"One of {', '.join(NAMES)}.")
@click.option("--rules", type=click.Path(), metavar="FILE", help="Query rules of your own, YAML.")
@click.option("--query", type=click.Choice(get_args(Query)), default="known-noise")
@click.option("--two-pass", is_flag=True, help="Learn from all pages, then judge.")
@click.option("--revise", is_flag=True, help="First pages once more, as revision 1, at 20.")
@click.option("--revisits", type=click.Choice(get_args(Revisits)), default="drop")
@click.option("--state", type=click.Path(path_type=Path), metavar="DIR", help="Continue from it.")
@click.option("--jobs", type=click.IntRange(1, 256), default=1, help="Processes.")
@click.option("--boilerplate", is_flag=True, help="All blocks with their verdicts.")
@click.option("--markdown", is_flag=True, help="Markdown beside the text.")
@click.option("--metadata", is_flag=True, help="Date, author, description, language.")
@click.option("--single-page", type=click.Choice(get_args(SinglePage)), default="none")
@click.option("--url", help="URL of the one page that is given.")
@click.option("--base-url", help="URL of the folders that are given.")
@click.option("--fail-on-error", is_flag=True, help="Exit 1 where a page has an error.")
def extract(  # noqa: PLR0913, PLR0917 - one parameter an option
    inputs: tuple[str, ...],
    output: str | None,
    format_: OutputFormat,
    url: str | None,
    base_url: str | None,
    fail_on_error: bool,
    **options: Any,
) -> None:
    """Extract the text of pages: .html, JSON Lines, WARC, folders of them, or stdin.

    JSON Lines come out: one for each page, in order. Progress and summary go to stderr.
    """
    inputs = inputs or (STDIN,)
    if inputs == (STDIN,) and sys.stdin.isatty():
        raise click.UsageError("no input: name files or folders, or pipe pages in")
    if url is not None and (len(inputs) > 1 or Path(inputs[0]).is_dir()):
        raise click.UsageError("--url is for one page; folders have --base-url")
    options["markdown"] |= format_ == "markdown"
    reader, summary = Reader(url, base_url), RunSummary(is_live=sys.stderr.isatty())
    try:
        for name in inputs:
            if name != STDIN and not Path(name).exists():
                raise InputError(f"{name}: there is no such file or folder")  # noqa: TRY301
        pages = reader.read(inputs)
        # the second pass reads none, and may be interrupted at once
        held = nullcontext(pages) if options["two_pass"] else interruption.between(pages)
        with held as pages, _output(output, format_) as out:
            code = _run(_extractor(options), pages, out, summary)
    except (InputError, StateError) as error:
        raise click.ClickException(str(error)) from None
    except BrokenPipeError:  # whoever read has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except KeyboardInterrupt:  # before the first page
        code = _INTERRUPTED
    except OSError as error:
        raise click.ClickException(f"{error.filename or output}: {error.strerror}") from None
    summary.show(reader.skipped)
    sys.exit(code or int(fail_on_error and bool(summary.errors)))


def _run(
    extractor: Extractor | Jobs, pages: Iterable[Source], out: Output, summary: RunSummary
) -> int:
    """Extract all pages; returns the exit code. The state is saved however it ends."""
    try:
        for extraction in extractor.extract_all(pages):
            out.write(extraction)
            summary.count(extraction)
    except KeyboardInterrupt:
        for extraction in extractor.finish() if isinstance(extractor, Jobs) else ():
            out.write(extraction)
            summary.count(extraction)
        return _INTERRUPTED
    finally:
        extractor.close()
    return 0


def _extractor(options: dict[str, Any]) -> Extractor | Jobs:
    jobs, state = options.pop("jobs"), options.pop("state")
    try:
        if jobs == 1:
            return Extractor(**options, state=state)
        with Extractor(**options) as checked:
            scheme = checked.scheme
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    return Jobs(jobs, scheme, state, options)


@contextmanager
def _output(name: str | None, format_: OutputFormat) -> Iterator[Output]:
    if name is None:
        out: Output = StreamOutput(sys.stdout.buffer, format_)
        yield out
        out.close()
    elif name.endswith("/") or Path(name).is_dir():
        yield FolderOutput(Path(name), format_)
    else:
        with Path(name).open("wb") as file:
            yield StreamOutput(file, format_)
