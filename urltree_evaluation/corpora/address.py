"""The URL of a page and its domain. Averages and resamples are made by domain."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from urltree.address.url_key import KeyScheme
from urltree.page import PageError

_scheme = cache(KeyScheme)


class Address(NamedTuple):
    """The URL and the domain of a page.

    Attributes:
        url: URL as the corpus gives it; "" if it is not a valid URL, because some extractors fail
            on invalid ones. trafilatura's evaluation has 36, such as "hard::file.html".
        domain: registrable domain of the URL; without a URL, the label that the corpus gives.
    """

    url: str
    domain: str


def page_address(url: str | None, label: str | None = None) -> Address:
    """Return the URL and domain of a page from what its corpus gives."""
    try:
        return Address(url or "", _scheme().domain(url or ""))
    except PageError:
        return Address("", label or "")
