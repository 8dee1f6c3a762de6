"""The URL key: what makes two addresses the same document (paper, section 3).

    http://abcnews.go.com/kabc/story?section=news&id=8691010&utm_source=rss
      canonical  http://abcnews.go.com/kabc/story?id=8691010&section=news&utm_source=rss
      key        https://abcnews.go.com/kabc/story?id=8691010        a rule retains `id`
      domain     abcnews.go.com
      branch     kabc ▸ story ▸ ?id=8691010

Where no rule applies, the paper drops the query. Measured on 5,464 feed items that merges 170
different articles (`?p=`, `?v=`), so known noise alone is dropped unless `query` is `drop` (ours).
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
    """A document's identity.

    Attributes:
        domain: registrable domain of the response URL; the message key and the table key.
        canonical: the normalised URL before its query is reduced; one form of `Seen`.
        key: the normalised URL with its query reduced, scheme folded to https.
        id: XXH3-128, 32 hex digits, of (KEY_VERSION, key).
    """

    domain: str
    canonical: str
    key: str
    id: str


class KeyScheme:
    """Rules, query setting and domain list, as one thing that has a label.

    Args:
        rules: the user's, tried before the shipped ones.
        query: what becomes of the query where no rule applies.
        domains: the user's own where hosts are shared that the shipped list does not know.

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
        """A scheme from the texts of a user's files; None where there is none.

        Args:
            rules: YAML in the form of data/query_rules.yaml.
            query: as above.
            shared_hosts: one host a line, as in data/shared_hosts.txt.

        Raises:
            ValueError: one sentence that names the rule or the line at fault.
        """
        return cls(
            parse_rules(rules) if rules is not None else (),
            query,
            Domains(parse_shared_hosts(shared_hosts)) if shared_hosts is not None else None,
        )

    def domain(self, url: str) -> str:
        """Domain of a URL. Raises PageError(bad-url)."""
        return self.domains.of(normalise(url).host)

    def key(self, url: str, title: Callable[[], str | None]) -> UrlKey:
        """Key of a URL; the title is asked for only where a rule retains `_cid_`.

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
    """XXH3-128 of key version and URL key, 32 hex digits; pinned by a test."""
    return xxhash.xxh3_128_hexdigest(f"{KEY_VERSION} {key}".encode())


def branch(domain: str, key: str) -> tuple[str, ...]:
    """Names of the nodes below the root: host?, path segments, query?, `#!` fragment?.

    The host is named where it is neither the domain nor `www.` + domain (issue 3). Beyond
    MAX_BRANCH names, the rest is joined in the last.
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
    """The key whose branch has these names: the one of few that has this id.

    A branch does not tell `www.` from none, nor `/a/` from `/a`. None for a key with empty
    segments, for a query below MAX_BRANCH names, and for another version.
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
    """The title as a parameter; nothing without a title, so that the URL alone is the key (ours).

    The hash of an empty string would say the same less plainly.
    """
    text = unicodedata.normalize("NFC", " ".join((title or "").split()))
    return [(CID, xxhash.xxh3_128_hexdigest(text.encode(errors="replace")))] if text else []


def _secure_netloc(url: NormalUrl) -> str:
    """Host and port under https: a default port of either scheme that became odd is kept."""
    return url.host if url.port == "443" else url.netloc
