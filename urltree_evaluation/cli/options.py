"""Options and error handling that the subcommands share.

Exit codes:

    0    done
    1    the folder, a corpus, an extractor or a plugin cannot be used, or another run is active
    2    wrong usage
    130  interrupted by Ctrl-C; the same command continues the work
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from urltree_evaluation.corpora.corpus_files import CorpusError
from urltree_evaluation.extractors import catalogue
from urltree_evaluation.extractors.registry import RegisteredExtractor
from urltree_evaluation.pool import PoolError
from urltree_evaluation.running.extracting import SAMPLE
from urltree_evaluation.workspace import Workspace, WorkspaceError

_F = TypeVar("_F", bound=Callable[..., Any])
_INTERRUPTED = 130  # 128 + SIGINT, like shells

work_argument = click.argument("work", type=click.Path(path_type=Path, file_okay=False))
processes_option = click.option(
    "--processes",
    type=click.IntRange(min=1),
    default=os.cpu_count() or 1,
    show_default="number of cores",
    help="Number of processes that run at the same time.",
)


def positive_number(flag: str, default: int, text: str) -> Callable[[_F], _F]:
    """Return an option of a command whose value is an integer of at least 1."""
    return click.option(
        flag, type=click.IntRange(min=1), default=default, show_default=True, help=text
    )


sample_option = positive_number(
    "--sample",
    SAMPLE,
    "Number of pages of each part of a stream on which all extractors are compared. These pages are"
    " evenly spaced.",
)

plugins_option = click.option(
    "--plugin",
    "plugins",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Python file that registers your own extractors. Repeat this option for several files.",
)
corpora_option = click.option(
    "--corpus",
    "corpora",
    multiple=True,
    metavar="NAME",
    help="Name of a corpus in WORK. Repeat this option for several corpora. By default, all corpora"
    " are used.",
)
_names = click.option(
    "--extractor",
    "names",
    multiple=True,
    metavar="NAME",
    help="Name of an extractor in the list of `urltree evaluate extractors`. Repeat this option for"
    " several extractors. By default, all available extractors are used.",
)


def selection_options(command: _F) -> _F:
    """Add the options that select extractors and corpora."""
    return _names(plugins_option(corpora_option(command)))


def chosen_extractors(
    names: Sequence[str], plugins: Sequence[Path]
) -> Mapping[str, RegisteredExtractor]:
    """Return the extractors with these names, or all available ones if no name is given.

    Raises:
        click.ClickException: there is no extractor of one of these names.
    """
    found, absent = catalogue.load_extractors(plugins)
    unknown = [name for name in names if name not in found]
    if unknown:
        why = "; ".join(f"{module} ({reason})" for module, reason in absent.items())
        raise click.ClickException(
            f"There is no extractor {unknown[0]!r}. Available: {', '.join(found)}."
            + f" Not available: {why}." * bool(why)
        )
    if not names:
        for module, reason in absent.items():
            click.echo(f"skipping {module}: {reason}", err=True)
    return {name: found[name] for name in names or found}


@contextmanager
def locked_workspace(work: Path) -> Iterator[Workspace]:
    """Lock the work folder against other runs, and report errors as `errors_as_messages` does."""
    workspace = Workspace(work)
    with errors_as_messages():
        workspace.named(())  # without a corpus, fails before a folder or lock file is created
        with workspace.locked():
            yield workspace


@contextmanager
def errors_as_messages() -> Iterator[None]:
    """Print known errors as messages without a traceback, and handle Ctrl-C."""
    try:
        yield
    except (CorpusError, WorkspaceError, PoolError, catalogue.PluginError, OSError) as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        click.echo("interrupted: run the same command again to continue", err=True)
        sys.exit(_INTERRUPTED)
