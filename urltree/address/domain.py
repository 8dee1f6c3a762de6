"""The domain of a host: the site whose pages share one URL tree.

A domain is one label below a public suffix, by the bundled Public Suffix List with its private
section: `news.bbc.co.uk` belongs to `bbc.co.uk`, `alice.github.io` to itself. Shared hosts extend
the list: the paper treats `abcnews.go.com` as a domain.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files

import can_ada
import publicsuffixlist

SUFFIX_LIST: str = publicsuffixlist.__version__  # the last part is the date of the list

_CACHED_HOSTS = 65_536


class Domains:
    """A lookup of domains that uses no network.

    Args:
        shared: hosts whose subdomains are separate sites, in addition to the shipped ones.

    Raises:
        ValueError: an entry of `shared` is not a host name.
    """

    def __init__(self, shared: Iterable[str] = ()) -> None:
        self.shared = shipped_shared_hosts() | frozenset(map(_checked, shared))
        self.of = lru_cache(maxsize=_CACHED_HOSTS)(self._of)

    def _of(self, host: str) -> str:
        """Return the domain of a normalised host.

        An IP address, a single label and a public suffix are their own domains.
        """
        labels = host.split(".")
        if len(labels) == 1 or host.startswith("[") or labels[-1].isdigit():
            return host
        by_list: str = _suffix_list().privatesuffix(host) or host
        by_shared = self._below_shared(labels)
        longest = max(by_list, by_shared, key=len)
        return by_shared if longest == f"www.{by_shared}" else longest

    def _below_shared(self, labels: list[str]) -> str:
        """Return the site on the longest shared host above, or an empty string.

        `www` belongs to the shared host itself.
        """
        for start in range(len(labels)):
            shared = ".".join(labels[start:])
            if shared in self.shared:
                own = start == 0 or labels[start - 1] == "www"
                return shared if own else ".".join(labels[start - 1 :])
        return ""


def parse_shared_hosts(text: str) -> frozenset[str]:
    """Read a file of shared hosts: one host on each line, `#` begins a comment.

    Raises:
        ValueError: a line is not a host name.
    """
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return frozenset(_checked(line) for line in lines if line)


@cache
def shipped_shared_hosts() -> frozenset[str]:
    """Return the hosts of data/shared_hosts.txt."""
    return parse_shared_hosts(
        files("urltree.address").joinpath("data/shared_hosts.txt").read_text("utf-8")
    )


@cache
def _suffix_list() -> publicsuffixlist.PublicSuffixList:
    return publicsuffixlist.PublicSuffixList()


def _checked(host: str) -> str:
    """Return a host in the form that URLs have: lower case, punycode."""
    try:
        name: str = can_ada.parse(f"http://{host}/").hostname.strip(".")
    except ValueError:
        name = ""
    if "." not in name or ".." in name or set(host) & set("/:@*?#%"):
        raise ValueError(f"shared hosts: {host!r} is not a host name such as example.org")
    return name
