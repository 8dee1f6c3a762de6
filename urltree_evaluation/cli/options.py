"""What the verbs share: their options, and how they end.

0    done
1    the folder, a corpus, an extractor or a plugin cannot be used, or another run writes there
2    usage
130  Ctrl-C; the same command goes on where it was
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
_INTERRUPTED = 130  # 128 + SIGINT, as shells count

work_argument = click.argument("work", type=click.Path(path_type=Path, file_okay=False))
processes_option = click.option(
    "--processes",
    type=click.IntRange(min=1),
    default=os.cpu_count() or 1,
    show_default="one a core",
    help="How many run at the same time.",
)


def positive_number(flag: str, default: int, text: str) -> Callable[[_F], _F]:
    """An option that is a number from 1 on."""
    return click.option(
        flag, type=click.IntRange(min=1), default=default, show_default=True, help=text
    )


sample_option = positive_number(
    "--sample",
    SAMPLE,
    "Evenly spaced pages of each part of a stream that all extractors are given.",
)

plugins_option = click.option(
    "--plugin",
    "plugins",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A Python file with extractors of your own; may be repeated.",
)
corpora_option = click.option(
    "--corpus",
    "corpora",
    multiple=True,
    metavar="NAME",
    help="Of WORK; may be repeated. All, where none is named.",
)
_names = click.option(
    "--extractor",
    "names",
    multiple=True,
    metavar="NAME",
    help="As `extractors` lists them; may be repeated. All, where none is named.",
)


def selection_options(command: _F) -> _F:
    """Which extractors, on which corpora."""
    return _names(plugins_option(corpora_option(command)))


def chosen_extractors(
    names: Sequence[str], plugins: Sequence[Path]
) -> Mapping[str, RegisteredExtractor]:
    """The extractors of these names; all that can be had, where none is named.

    Raises:
        click.ClickException: there is none of that name; why, where it is known.
    """
    found, absent = catalogue.load_extractors(plugins)
    unknown = [name for name in names if name not in found]
    if unknown:
        why = "; ".join(f"{module} is {reason}" for module, reason in absent.items())
        there_are = f"there are {', '.join(found)}"
        raise click.ClickException(
            f"no extractor {unknown[0]}; {there_are}" + f"; {why}" * bool(why)
        )
    if not names:
        for module, reason in absent.items():
            click.echo(f"without {module}: {reason}", err=True)
    return {name: found[name] for name in names or found}


@contextmanager
def locked_workspace(work: Path) -> Iterator[Workspace]:
    """The folder, which nobody else writes to meanwhile; ends as `ending_well`."""
    workspace = Workspace(work)
    with errors_as_messages():
        workspace.named(())  # without a corpus nothing is made, no folder either
        with workspace.locked():
            yield workspace


@contextmanager
def errors_as_messages() -> Iterator[None]:
    """Say what is wrong, or how to go on, instead of a traceback."""
    try:
        yield
    except (CorpusError, WorkspaceError, PoolError, catalogue.PluginError, OSError) as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        click.echo("interrupted: the same command goes on where this one was", err=True)
        sys.exit(_INTERRUPTED)
