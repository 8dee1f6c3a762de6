"""Query rules: the parameters that identify a page. Noise list: those that never do (paper, 3)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from urltree.address.url import Parameter

CID = "_cid_"  # name of the parameter whose value is the hash of the page's title


@dataclass(frozen=True, slots=True)
class Rule:
    """A query rule: the parameters to retain in URLs whose host and path match its patterns.

    Attributes:
        host: pattern of the host, in which `*` matches any characters.
        path: pattern of the path, in which `*` matches any characters.
        retain: names of the parameters to retain. If CID is one of them, the hash of the page's
            title becomes part of the key.
    """

    host: str
    path: str
    retain: frozenset[str]

    def applies_to_host(self, host: str) -> bool:
        """Return whether the rule's host pattern matches a host."""
        return _pattern(self.host).match(host) is not None

    def applies_to_path(self, path: str) -> bool:
        """Return whether the rule's path pattern matches a path."""
        return _pattern(self.path).match(path) is not None


@dataclass(frozen=True, slots=True)
class Noise:
    """The noise list: parameters that never identify a page.

    Attributes:
        prefixes: prefixes of names of query parameters, in lower case.
        names: names of query parameters, in lower case.
        path: names of path parameters, in lower case, such as the name in `;jsessionid=…`.
    """

    prefixes: tuple[str, ...]
    names: frozenset[str]
    path: tuple[str, ...]

    def is_noise(self, name: str) -> bool:
        """Return whether a query parameter is on the noise list."""
        lower = name.lower()
        return lower in self.names or lower.startswith(self.prefixes)

    def drop(self, query: Sequence[Parameter]) -> tuple[Parameter, ...]:
        """Return the query parameters that are not on the noise list."""
        return tuple([pair for pair in query if not self.is_noise(pair[0])])

    def strip(self, path: str) -> str:
        """Return the path without the path parameters of the noise list."""
        return _path_parameters(self.path).sub("", path) if ";" in path else path


def parse_rules(text: str) -> tuple[Rule, ...]:
    """Read query rules from the text of a YAML file, in the order of the file.

    Raises:
        ValueError: the text is invalid; the message names the rule.
    """
    return tuple(
        _rule(number, entry)
        for number, entry in enumerate(_list(_parse(text, "query rules"), "rules"), 1)
    )


def parse_noise(text: str) -> Noise:
    """Read a noise list from the text of a YAML file."""
    data = _parse(text, "query noise")
    prefixes, names, path = (
        [str(name).lower() for name in _list(data, key)] for key in ("prefixes", "names", "path")
    )
    return Noise(tuple(prefixes), frozenset(names), tuple(path))


@cache
def shipped_rules() -> tuple[Rule, ...]:
    """Return the nine rules of the paper, from data/query_rules.yaml."""
    return parse_rules(_shipped("query_rules.yaml"))


@cache
def shipped_noise() -> Noise:
    """Return the noise list of this project, from data/query_noise.yaml."""
    return parse_noise(_shipped("query_noise.yaml"))


def _shipped(name: str) -> str:
    return files("urltree.address").joinpath("data", name).read_text("utf-8")


def _parse(text: str, what: str) -> Mapping[str, Any]:
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"{what}: not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(data, dict):
        raise ValueError(f"{what}: should be a mapping with the key `rules`")
    return data


def _list(data: Mapping[str, Any], key: str) -> list[Any]:
    entries = data.get(key)
    if not isinstance(entries, list):
        raise ValueError(f"query rules: `{key}` should be a list")
    return entries


def _rule(number: int, entry: object) -> Rule:
    where = f"query rules: rule {number}"
    if not isinstance(entry, dict) or not entry.keys() <= {"host", "path", "retain"}:
        raise ValueError(f"{where} should have only the keys host, path (optional) and retain")
    host, path, retain = entry.get("host"), entry.get("path", "*"), entry.get("retain")
    if not isinstance(host, str) or not host or set(host) & set("/:"):
        raise ValueError(
            f"{where}: host should be a host name without scheme, port and path, is {host!r}"
        )
    if not isinstance(path, str) or not path.startswith(("/", "*")):
        raise ValueError(f"{where} ({host}): path should begin with `/` or `*`, is {path!r}")
    if not isinstance(retain, list) or not all(isinstance(name, str) for name in retain):
        raise ValueError(
            f"{where} ({host}): retain should be a list of parameter names, is {retain!r}"
        )
    return Rule(host.lower(), path, frozenset(retain))


@cache
def _pattern(glob: str) -> re.Pattern[str]:
    return re.compile(translate(glob.replace("[", "[[]").replace("?", "[?]")))


@cache
def _path_parameters(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(f";(?:{'|'.join(map(re.escape, names))})=[^/;]*", re.IGNORECASE)
