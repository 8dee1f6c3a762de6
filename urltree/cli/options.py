"""Make options of the command line from the options of the pipeline, `urltree.pipeline.Options`.

The declaration of an option there gives its name, choices, default and help text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import click

from urltree.pipeline import Options, help_of

F = TypeVar("F", bound=Callable[..., Any])


def pipeline_options(*names: str) -> Callable[[F], F]:
    """Return a decorator that adds these options of the pipeline to a command, in this order."""

    def add(command: F) -> F:
        for name in reversed(names):
            command = _option(name)(command)
        return command

    return add


def _option(name: str) -> Callable[[F], F]:
    kind, default = get_type_hints(Options)[name], getattr(Options(), name)
    settings: dict[str, Any] = {"help": help_of(name)}
    if kind is bool:
        settings["is_flag"] = True
    elif get_origin(kind) is Literal:
        settings |= {"type": click.Choice(get_args(kind)), "default": default, "show_default": True}
    elif kind is str:
        settings |= {"default": default, "show_default": True, "metavar": "NAME"}
    else:
        settings |= {"type": click.Path(), "metavar": "FILE"}
    return click.option(f"--{name.replace('_', '-')}", **settings)
