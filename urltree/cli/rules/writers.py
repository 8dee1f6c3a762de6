"""Write the suggestions as a table, as a YAML file of rules, or as JSON Lines.

Names of parameters are printed percent-encoded, as in a URL. Therefore the addresses of a site
cannot end a YAML comment or send control sequences to a terminal. Only the lists `retain` have the
decoded names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from textwrap import indent
from typing import Literal, Protocol
from urllib.parse import quote_plus

import click
import orjson
import yaml

from urltree.address.query_evidence import MAX_NAMES, ParameterEvidence, PathEvidence
from urltree.address.rule_mining import Suggestion, suggestions
from urltree.cli.tables import Column, TableRow, print_table

SuggestionFormat = Literal["table", "yaml", "jsonl"]

_WIDTH = 180  # characters of a line if standard output is no terminal
_COLUMNS = (
    *(Column(name, is_folded=True) for name in ("host", "path", "parameter", "answer")),
    *(
        Column(name, is_number=True, is_folded=True)
        for name in ("documents", "pairs", "same", "different", "addresses")
    ),
)
_HEAD = """\
# Rules suggested by `urltree rules suggest`. Check them, delete those that you do not want, and
# pass the file to --rules. A rule drops every parameter that it does not retain, also a parameter
# that no page has had until now.
"""


class SuggestionWriter(Protocol):
    """A writer of suggestions, which gets the evidence of one domain after the other."""

    def add(self, domain: str, evidence: Sequence[PathEvidence]) -> None:
        """Add the evidence of one domain."""

    def close(self) -> None:
        """Write the suggestions that were not written by `add`."""


class _Table:
    """A writer of a table that has a row for each host, path and parameter."""

    def __init__(self) -> None:
        self._rows: list[TableRow] = []

    def add(self, domain: str, evidence: Sequence[PathEvidence]) -> None:  # noqa: ARG002
        for path in evidence:
            if path.parameters is None:
                name = f"over {MAX_NAMES}"
                self._rows.append(TableRow((path.host, path.path, name, "undecided", *[""] * 5)))
            for each in path.parameters or ():
                counts = (each.documents, each.pairs, each.same, each.different, each.addresses)
                texts = (path.host, path.path, quote_plus(_bytes(each.name)), each.answer)
                self._rows.append(TableRow((*texts, *[f"{count:,}" for count in counts])))

    def close(self) -> None:
        print_table(_COLUMNS, self._rows, _WIDTH)


class _Yaml:
    """A writer of a file for `--rules`, in which comments show the counts of each parameter."""

    def __init__(self) -> None:
        self._rules: list[str] = []

    def add(self, domain: str, evidence: Sequence[PathEvidence]) -> None:  # noqa: ARG002
        self._rules += map(_rule, suggestions(evidence))

    def close(self) -> None:
        rules = "".join(["rules:\n", *self._rules]) if self._rules else "rules: []\n"
        click.echo(_HEAD + rules, nl=False)


class _JsonLines:
    """A writer of JSON Lines with an object for each domain, path and parameter."""

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
        """Do nothing: every line is written already."""


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
