"""The registrable domain of a host. All pages of a domain are one site and share one URL tree.

A domain is a public suffix and the label before it. The public suffixes are those of the bundled
Public Suffix List, including its private section: `news.bbc.co.uk` belongs to the domain
`bbc.co.uk`, and `alice.github.io` is a domain. A list of shared hosts adds more suffixes, such as
`go.com`, because the paper treats `abcnews.go.com` as a domain.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files

import can_ada
import publicsuffixlist

SUFFIX_LIST: str = publicsuffixlist.__version__  # version; its last part is a date

_CACHED_HOSTS = 65_536


@lru_cache(maxsize=_CACHED_HOSTS)
def icann_domain(host: str) -> str:
    """Return the domain of a normalised host below a suffix of the list's ICANN section.

    It belongs to one owner, such as a provider of blogs: the private section is not used, so all
    hosts below `blogspot.com` have the domain `blogspot.com`. An IP address, a host of one label
    and a public suffix are themselves domains.
    """
    labels = host.split(".")
    if len(labels) == 1 or host.startswith("[") or labels[-1].isdigit():
        return host
    domain: str = _icann_suffix_list().privatesuffix(host) or host
    return domain


class Domains:
    """A lookup of domains that uses no network.

    Args:
        shared: hosts whose subdomains are separate sites. They are added to the shipped list.

    Raises:
        ValueError: an entry of `shared` is not a host name.
    """

    def __init__(self, shared: Iterable[str] = ()) -> None:
        self.shared = shipped_shared_hosts() | frozenset(map(_checked, shared))
        self.of = lru_cache(maxsize=_CACHED_HOSTS)(self._of)

    def _of(self, host: str) -> str:
        """Return the domain of a normalised host.

        An IP address, a host of one label and a public suffix are themselves domains.
        """
        labels = host.split(".")
        if len(labels) == 1 or host.startswith("[") or labels[-1].isdigit():
            return host
        by_list: str = _suffix_list().privatesuffix(host) or host
        by_shared = self._below_shared(labels)
        longest = max(by_list, by_shared, key=len)
        return by_shared if longest == f"www.{by_shared}" else longest

    def _below_shared(self, labels: list[str]) -> str:
        """Return the domain of a host below a shared host, or an empty string if there is none.

        If several shared hosts match, the longest one decides. A shared host with and without
        `www` is one domain.
        """
        for start in range(len(labels)):
            shared = ".".join(labels[start:])
            if shared in self.shared:
                own = start == 0 or labels[start - 1] == "www"
                return shared if own else ".".join(labels[start - 1 :])
        return ""


def parse_shared_hosts(text: str) -> frozenset[str]:
    """Read the text of a file of shared hosts. Each line has one host; `#` begins a comment.

    Raises:
        ValueError: a line is not a host name.
    """
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return frozenset(_checked(line) for line in lines if line)


@cache
def shipped_shared_hosts() -> frozenset[str]:
    """Return the hosts in data/shared_hosts.txt."""
    return parse_shared_hosts(
        files("urltree.address").joinpath("data/shared_hosts.txt").read_text("utf-8")
    )


@cache
def _suffix_list() -> publicsuffixlist.PublicSuffixList:
    return publicsuffixlist.PublicSuffixList()


@cache
def _icann_suffix_list() -> publicsuffixlist.PublicSuffixList:
    return publicsuffixlist.PublicSuffixList(only_icann=True)


def _checked(host: str) -> str:
    """Return a host as normalised URLs contain it: in lower case and punycode."""
    try:
        name: str = can_ada.parse(f"http://{host}/").hostname.strip(".")
    except ValueError:
        name = ""
    if "." not in name or ".." in name or set(host) & set("/:@*?#%"):
        raise ValueError(f"shared hosts: {host!r} is not a host name such as example.org")
    return name
