"""The URL key: what makes two addresses the same document (paper, section 3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

KEY_VERSION = 1
MAX_BRANCH = 64


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
    """Rules, query setting and domain list, as one thing that has a label."""

    def domain(self, url: str) -> str:
        """Domain of a URL. Raises PageError(bad-url)."""
        raise NotImplementedError

    def key(self, url: str, title: Callable[[], str | None]) -> UrlKey:
        """Key of a URL; the title is asked for only where a rule retains `_cid_`."""
        raise NotImplementedError


def branch(domain: str, key: str) -> tuple[str, ...]:
    """Names of the nodes below the root: host?, path segments, query?."""
    raise NotImplementedError
