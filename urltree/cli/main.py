"""The command `urltree` and its subcommand `extract`.

Exit codes of `urltree extract`:

0    all pages were read, or the program that reads the output has ended
1    an input, an output or the state directory cannot be used; with --fail-on-error, also if a page
     had an error
2    the command line is wrong
130  Ctrl-C was pressed; the state is saved
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, get_args

import click

from urltree.cli import interruption
from urltree.cli.commands import PluginGroup
from urltree.cli.explain import explain_command
from urltree.cli.jobs import Jobs
from urltree.cli.options import pipeline_options
from urltree.cli.output import FolderOutput, Output, OutputFormat, StreamOutput
from urltree.cli.rules import rules
from urltree.cli.summary import RunSummary
from urltree.extractor import Extractor
from urltree.reading import InputError, Reader
from urltree.reading.source import Source
from urltree.reading.stream import STDIN
from urltree.site.state_directory import StateError

_INTERRUPTED = 130  # exit code after Ctrl-C: 128 + SIGINT, as in shells


@click.group(cls=PluginGroup)
@click.version_option(package_name="urltree")
def main() -> None:
    """Extract clean text from whole web sites: text that many pages of a site repeat is removed."""


main.add_command(explain_command)
main.add_command(rules)


@main.command()
@click.argument("inputs", nargs=-1, metavar="[INPUT…|-]")
@click.option(
    "-o",
    "--output",
    metavar="FILE|DIR",
    help="File to write instead of standard output. For a folder, or a name that ends in /, one "
    "file is written for each site, or for each page if the format is text or markdown.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(get_args(OutputFormat)),
    default="jsonl",
    show_default=True,
    help="Output format: jsonl writes one JSON object with all fields for each page; text and "
    "markdown write only the text of each page.",
)
@pipeline_options("heuristic", "rules", "query")
@click.option(
    "--two-pass",
    is_flag=True,
    help="Learn from all pages first, then judge each page with what was learned from all pages.",
)
@pipeline_options("revise", "revisits")
@click.option(
    "--state",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="State directory: the run continues from the state in this directory, and saves its own "
    "state there.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="Number of processes; the results do not depend on this number.",
)
@click.option(
    "--boilerplate", is_flag=True, help="List all blocks of each page with their verdicts."
)
@pipeline_options("markdown", "metadata", "single_page")
@click.option("--url", metavar="URL", help="URL of the page, if the input is one page.")
@click.option(
    "--base-url",
    metavar="URL",
    help="URL of the input folders. A page without canonical link gets this URL and the path of "
    "the page's file.",
)
@click.option("--fail-on-error", is_flag=True, help="Exit with code 1 if a page has an error.")
def extract(  # noqa: PLR0913, PLR0917 - one parameter an option
    inputs: tuple[str, ...],
    output: str | None,
    format_: OutputFormat,
    url: str | None,
    base_url: str | None,
    fail_on_error: bool,
    **options: Any,
) -> None:
    """Extract the text of pages.

    INPUT is an .html file, a JSON Lines file, a WARC archive, a folder with such files, or - for
    standard input. The results have the order of the pages. The command writes its progress and a
    summary to standard error.
    """
    inputs = inputs or (STDIN,)
    if inputs == (STDIN,) and sys.stdin.isatty():
        raise click.UsageError(
            "there is no input: pass files or folders, or pipe pages to the command"
        )
    if url is not None and (len(inputs) > 1 or Path(inputs[0]).is_dir()):
        raise click.UsageError("--url needs exactly one page; use --base-url for folders")
    options["markdown"] |= format_ == "markdown"
    reader, summary = Reader(url, base_url), RunSummary(is_live=sys.stderr.isatty())
    try:
        for name in inputs:
            if name != STDIN and not Path(name).exists():
                raise InputError(f"{name}: no such file or folder")  # noqa: TRY301
        pages = reader.read(inputs)
        # `between` delays Ctrl-C until the next page is read. With two_pass, Ctrl-C is not delayed,
        # because the second pass reads no pages.
        held = nullcontext(pages) if options["two_pass"] else interruption.between(pages)
        with held as pages, _output(output, format_) as out:
            code = _run(_extractor(options), pages, out, summary)
    except (InputError, StateError) as error:
        raise click.ClickException(str(error)) from None
    except BrokenPipeError:  # the program that reads the output has ended, such as `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except KeyboardInterrupt:  # Ctrl-C was pressed before the first page
        code = _INTERRUPTED
    except OSError as error:
        raise click.ClickException(f"{error.filename or output}: {error.strerror}") from None
    summary.show(reader.skipped)
    sys.exit(code or int(fail_on_error and bool(summary.errors)))


def _run(
    extractor: Extractor | Jobs, pages: Iterable[Source], out: Output, summary: RunSummary
) -> int:
    """Extract all pages and return the exit code; save the state even after an error."""
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
