"""The address of a page and its domain: what figures are averaged over and resampled by."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from urltree.address.url_key import KeyScheme
from urltree.page import PageError

_scheme = cache(KeyScheme)


class Address(NamedTuple):
    """Where a page is from.

    Attributes:
        url: as given; "" where it is none, for extractors would stumble: trafilatura's evaluation
            has 36 such as "hard::file.html".
        domain: the registrable domain of the URL; without URL the corpus' own label.
    """

    url: str
    domain: str


def page_address(url: str | None, label: str | None = None) -> Address:
    """The address that a corpus gives a page."""
    try:
        return Address(url or "", _scheme().domain(url or ""))
    except PageError:
        return Address("", label or "")
