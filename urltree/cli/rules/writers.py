"""How suggestions are written: a table, YAML that is a file of rules, or JSON Lines.

Parameters are named as they stand in a URL, percent-encoded: what a site writes into its
addresses can neither end a comment nor speak to a terminal. `retain` alone has them decoded.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from textwrap import indent
from typing import Literal, Protocol
from urllib.parse import quote_plus

import click
import orjson
import yaml

from urltree.address.query_evidence import MAX_NAMES, ParameterEvidence, PathEvidence
from urltree.address.rule_mining import Suggestion, suggestions

SuggestionFormat = Literal["table", "yaml", "jsonl"]

_WIDTH = 180  # where a table is written to a file
_HEAD = """\
# Suggested by `urltree rules suggest`: read them, take what you want, give the file to --rules.
# A rule drops every parameter that it does not retain, also those that no page had yet.
"""


class SuggestionWriter(Protocol):
    """Where the evidence of all domains goes, one after the other."""

    def add(self, domain: str, evidence: Sequence[PathEvidence]) -> None:
        """The evidence of one domain."""

    def close(self) -> None:
        """Write what waits for the end."""


class _Table:
    """A row for each domain, path and parameter."""

    def __init__(self) -> None:
        try:
            from rich.box import SIMPLE_HEAD  # noqa: PLC0415 - comes with an extra
            from rich.table import Table  # noqa: PLC0415
        except ModuleNotFoundError:
            message = (
                "rich is missing: pip install 'urltree[evaluation]', or --format yaml or jsonl"
            )
            raise click.ClickException(message) from None
        self._table = Table("host", "path", "parameter", "answer", box=SIMPLE_HEAD)
        for number in ("documents", "pairs", "same", "different", "addresses"):
            self._table.add_column(number, justify="right")

    def add(self, domain: str, evidence: Sequence[PathEvidence]) -> None:  # noqa: ARG002
        from rich.text import Text  # noqa: PLC0415

        for path in evidence:
            if path.parameters is None:
                self._table.add_row(path.host, Text(path.path), f"over {MAX_NAMES}", "undecided")
            for each in path.parameters or ():
                counts = (each.documents, each.pairs, each.same, each.different, each.addresses)
                cells = (path.host, path.path, quote_plus(_bytes(each.name)), each.answer)
                self._table.add_row(*map(Text, cells), *[f"{count:,}" for count in counts])

    def close(self) -> None:
        from rich.console import Console  # noqa: PLC0415

        Console(width=None if sys.stdout.isatty() else _WIDTH, highlight=False).print(self._table)


class _Yaml:
    """Rules as `--rules` takes them, with the counts of each parameter as comments."""

    def __init__(self) -> None:
        self._rules: list[str] = []

    def add(self, domain: str, evidence: Sequence[PathEvidence]) -> None:  # noqa: ARG002
        self._rules += map(_rule, suggestions(evidence))

    def close(self) -> None:
        rules = "".join(["rules:\n", *self._rules]) if self._rules else "rules: []\n"
        click.echo(_HEAD + rules, nl=False)


class _JsonLines:
    """An object for each domain, path and parameter."""

    def add(self, domain: str, evidence: Sequence[PathEvidence]) -> None:
        for path in evidence:
            for each in path.parameters or ():
                record = {
                    "domain": domain,
                    "host": path.host,
                    "path": path.path,
                    "parameter": quote_plus(_bytes(each.name)),
                    "answer": each.answer,
                    "documents": each.documents,
                    "pairs": each.pairs,
                    "same": each.same,
                    "different": each.different,
                    "addresses": each.addresses,
                }
                click.echo(orjson.dumps(record))

    def close(self) -> None:
        """Every line is written already."""


FORMATS: Mapping[SuggestionFormat, Callable[[], SuggestionWriter]] = {
    "table": _Table,
    "yaml": _Yaml,
    "jsonl": _JsonLines,
}


def _rule(suggestion: Suggestion) -> str:
    rule = suggestion.rule
    entry = {"host": rule.host, "path": rule.path, "retain": sorted(rule.retain)}
    written = yaml.safe_dump([entry], sort_keys=False, default_flow_style=None, width=100)
    return indent("".join(map(_comment, suggestion.parameters)) + written, "  ")


def _comment(each: ParameterEvidence) -> str:
    return (
        f"# {quote_plus(_bytes(each.name))}: {each.answer} ({each.pairs} pairs: {each.same} same"
        f" at {each.addresses} addresses, {each.different} different)\n"
    )


def _bytes(name: str) -> bytes:
    return name.encode(errors="surrogateescape")
