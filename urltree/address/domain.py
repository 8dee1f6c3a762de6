"""The domain of a host: the site whose pages share one URL tree (issue 3, "Domain").

A domain is a label below a public suffix, by the bundled Public Suffix List with its private
section: `news.bbc.co.uk` belongs to `bbc.co.uk`, `alice.github.io` to itself. Shared hosts extend
the list: the paper treats `abcnews.go.com` as a domain.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files

import can_ada
import publicsuffixlist

SUFFIX_LIST: str = publicsuffixlist.__version__  # its last part is the date of the list

_CACHED_HOSTS = 65_536


class Domains:
    """Looks up domains; knows no network.

    Args:
        shared: hosts whose subdomains are sites of their own, besides the shipped ones.

    Raises:
        ValueError: a shared host is no host name.
    """

    def __init__(self, shared: Iterable[str] = ()) -> None:
        self.shared = shipped_shared_hosts() | frozenset(map(_checked, shared))
        self.of = lru_cache(maxsize=_CACHED_HOSTS)(self._of)

    def _of(self, host: str) -> str:
        """The domain of a normalised host; IPs, single labels and suffixes are their own."""
        labels = host.split(".")
        if len(labels) == 1 or host.startswith("[") or labels[-1].isdigit():
            return host
        by_list: str = _suffix_list().privatesuffix(host) or host
        by_shared = self._below_shared(labels)
        longest = max(by_list, by_shared, key=len)
        return by_shared if longest == f"www.{by_shared}" else longest

    def _below_shared(self, labels: list[str]) -> str:
        """The site on the longest shared host above, `www` being the shared host's own."""
        for start in range(len(labels)):
            shared = ".".join(labels[start:])
            if shared in self.shared:
                own = start == 0 or labels[start - 1] == "www"
                return shared if own else ".".join(labels[start - 1 :])
        return ""


def parse_shared_hosts(text: str) -> frozenset[str]:
    """Hosts of a file: one a line, `#` begins a comment.

    Raises:
        ValueError: a line is no host name.
    """
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return frozenset(_checked(line) for line in lines if line)


@cache
def shipped_shared_hosts() -> frozenset[str]:
    """The hosts of data/shared_hosts.txt."""
    return parse_shared_hosts(
        files("urltree.address").joinpath("data/shared_hosts.txt").read_text("utf-8")
    )


@cache
def _suffix_list() -> publicsuffixlist.PublicSuffixList:
    return publicsuffixlist.PublicSuffixList()


def _checked(host: str) -> str:
    """A host as URLs have it: lower case, punycode."""
    try:
        name: str = can_ada.parse(f"http://{host}/").hostname.strip(".")
    except ValueError:
        name = ""
    if "." not in name or ".." in name or set(host) & set("/:@*?#%"):
        raise ValueError(f"shared hosts: {host!r} should be a host name such as example.org")
    return name
