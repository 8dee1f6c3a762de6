"""The URL and the domain of a page. The statistics average and resample pages by domain."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from urltree.address.url_key import KeyScheme
from urltree.page import PageError

_scheme = cache(KeyScheme)


class Address(NamedTuple):
    """The URL and the domain of a page.

    Attributes:
        url: URL as the corpus gives it; "" if the URL is invalid, because some extractors fail on
            invalid URLs. trafilatura's evaluation has 36 of them, such as "hard::file.html".
        domain: registrable domain of the URL; without a valid URL, the label that the corpus gives
            for the page, or "".
    """

    url: str
    domain: str


def page_address(url: str | None, label: str | None = None) -> Address:
    """Return the address of a page from the URL and the label that its corpus gives."""
    try:
        return Address(url or "", _scheme().domain(url or ""))
    except PageError:
        return Address("", label or "")
