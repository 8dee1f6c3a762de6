"""The URL key: two addresses that have the same key are one document (paper, section 3).

    http://abcnews.go.com/kabc/story?section=news&id=8691010&utm_source=rss
      canonical  http://abcnews.go.com/kabc/story?id=8691010&section=news&utm_source=rss
      key        https://abcnews.go.com/kabc/story?id=8691010        (a rule retains `id`)
      domain     abcnews.go.com
      branch     kabc ▸ story ▸ ?id=8691010

If no rule applies, the paper drops the whole query. On 5,464 feed items this merges 170 different
articles, whose URLs differ in `?p=` or `?v=` (measured). So we drop only parameters on the noise
list, unless the option `query` is `drop`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

import xxhash

from urltree.address.domain import SUFFIX_LIST, Domains, parse_shared_hosts
from urltree.address.query_rules import CID, Noise, Rule, parse_rules, shipped_noise, shipped_rules
from urltree.address.url import NormalUrl, Parameter, encode_query, normalise

KEY_VERSION = 1
MAX_BRANCH = 64

Query = Literal["known-noise", "drop"]

_CACHED_HOSTS = 65_536


@dataclass(frozen=True, slots=True)
class UrlKey:
    """The identity of a document.

    Attributes:
        domain: registrable domain of the response URL; it is the key of messages and tables.
        canonical: normalised URL with its whole query; deduplication compares it.
        key: normalised URL with a reduced query, and with https as its scheme.
        id: XXH3-128 hash of KEY_VERSION and `key`, 32 hexadecimal digits.
    """

    domain: str
    canonical: str
    key: str
    id: str


class KeyScheme:
    """The rules, query setting and domain list that together decide URL keys.

    Args:
        rules: rules of the user, which are tried before the shipped rules.
        query: how the query of a URL is reduced if no rule applies.
        domains: lookup with the user's shared hosts; None uses only the shipped hosts.

    Attributes:
        label: hash of everything that decides a key. Schemes with equal labels produce equal keys.

    Raises:
        ValueError: `query` is neither known-noise nor drop.
    """

    def __init__(
        self,
        rules: Iterable[Rule] = (),
        query: Query = "known-noise",
        domains: Domains | None = None,
    ) -> None:
        if query not in get_args(Query):
            raise ValueError(f"query should be known-noise or drop, is {query!r}")
        self.rules = (*rules, *shipped_rules())
        self.query = query
        self.domains = domains or Domains()
        self.noise: Noise = shipped_noise()
        self.label = self._label()
        self._rules_of_host = lru_cache(maxsize=_CACHED_HOSTS)(self._rules_of)

    @classmethod
    def load(
        cls,
        rules: str | None = None,
        query: Query = "known-noise",
        shared_hosts: str | None = None,
    ) -> KeyScheme:
        """Create a scheme from the texts of the user's files.

        Args:
            rules: rules in the form of data/query_rules.yaml; None if the user has no such file.
            query: how the query of a URL is reduced if no rule applies.
            shared_hosts: one host on each line, as in data/shared_hosts.txt; None if the user has
                no such file.

        Raises:
            ValueError: a text is invalid; the message names the rule or the host.
        """
        return cls(
            parse_rules(rules) if rules is not None else (),
            query,
            Domains(parse_shared_hosts(shared_hosts)) if shared_hosts is not None else None,
        )

    def domain(self, url: str) -> str:
        """Return the registrable domain of a URL.

        Raises:
            PageError: `bad-url`.
        """
        return self.domains.of(normalise(url).host)

    def key(self, url: str, title: Callable[[], str | None]) -> UrlKey:
        """Return the key of a URL.

        Args:
            url: response URL of the page.
            title: function that returns the page's title; called only if a rule retains `_cid_`.

        Raises:
            PageError: `bad-url`.
        """
        normal = normalise(url)
        path = self.noise.strip(normal.path)
        query = encode_query(self._reduce(normal, path, title))
        key = f"https://{_secure_netloc(normal)}{path}{query}{normal.fragment}"
        return UrlKey(self.domains.of(normal.host), str(normal), key, document_id(key))

    def _reduce(
        self, url: NormalUrl, path: str, title: Callable[[], str | None]
    ) -> tuple[Parameter, ...]:
        query = tuple([pair for pair in url.query if pair[0] != CID])
        for rule in self._rules_of_host(url.host):
            if rule.applies_to_path(path):
                retained = [pair for pair in query if pair[0] in rule.retain]
                if CID in rule.retain:
                    retained = sorted([*retained, *_cid(title())], key=lambda pair: pair[0])
                return tuple(retained)
        return self.noise.drop(query) if self.query == "known-noise" else ()

    def _rules_of(self, host: str) -> tuple[Rule, ...]:
        return tuple(rule for rule in self.rules if rule.applies_to_host(host))

    def _label(self) -> str:
        rules = [(rule.host, rule.path, sorted(rule.retain)) for rule in self.rules]
        noise = (sorted(self.noise.prefixes), sorted(self.noise.names), sorted(self.noise.path))
        shared = sorted(self.domains.shared)
        decides = (KEY_VERSION, rules, noise, self.query, SUFFIX_LIST, shared)
        return xxhash.xxh3_64_hexdigest(repr(decides).encode())


def document_id(key: str) -> str:
    """Return the XXH3-128 hash of key version and URL key as 32 hexadecimal digits.

    Stored rows contain these ids, so a test pins literal values.
    """
    return xxhash.xxh3_128_hexdigest(f"{KEY_VERSION} {key}".encode())


def branch(domain: str, key: str) -> tuple[str, ...]:
    """Return the names of the nodes below the root of the URL tree, for one URL key.

    The names are the host, the path segments, the query and the `#!` fragment, each only if it
    exists. The host is left out if it is the domain, or `www.` and the domain. If there are more
    than MAX_BRANCH names, the last name joins all names from there on.
    """
    head, mark, fragment = key.removeprefix("https://").partition("#")
    address, question, query = head.partition("?")
    host, *segments = address.split("/")
    names = [] if host in (domain, f"www.{domain}") else [host]
    names += [segment for segment in segments if segment]
    names += [part for part in (question + query, mark + fragment) if part]
    if len(names) > MAX_BRANCH:
        names[MAX_BRANCH - 1 :] = ["/".join(names[MAX_BRANCH - 1 :])]
    return tuple(names)


def key_with_id(domain: str, names: Sequence[str], document_id_: str) -> str | None:
    """Return the URL key that has this branch and this id, or None if it cannot be found.

    Several keys have the same branch: with and without `www.`, with and without a slash at the
    end. The id shows which of them is meant. The key cannot be found if it has an empty segment,
    if its query is joined into the last name of MAX_BRANCH names, or if the id was made by another
    key version.
    """
    fragment = names[-1] if names and names[-1].startswith("#!") else ""
    rest = list(names[:-1] if fragment else names)
    query = rest.pop() if rest and rest[-1].startswith("?") else ""
    hosts = [(domain, rest), (f"www.{domain}", rest)] + [(host, rest[1:]) for host in rest[:1]]
    keys = [
        f"https://{'/'.join((host, *segments))}{slash}{query}{fragment}"
        for host, segments in hosts
        for slash in ("", "/")
    ]
    return next((key for key in keys if document_id(key) == document_id_), None)


def _cid(title: str | None) -> list[Parameter]:
    """Return the hash of a title as a parameter, or no parameter if there is no title.

    Therefore the key of a page without title is made of its URL alone.
    """
    text = unicodedata.normalize("NFC", " ".join((title or "").split()))
    return [(CID, xxhash.xxh3_128_hexdigest(text.encode(errors="replace")))] if text else []


def _secure_netloc(url: NormalUrl) -> str:
    """Return the host and the port of a URL whose scheme becomes https; port 443 is left out."""
    return url.host if url.port == "443" else url.netloc
