"""The domain of a page: what figures are averaged over and resampled by."""

from __future__ import annotations

from functools import cache

from urltree.page import PageError
from urltree.url_key import KeyScheme

_scheme = cache(KeyScheme)


def page_domain(url: str, label: str = "") -> str:
    """Registrable domain of a URL; the corpus' own label where there is none, or a bad one."""
    try:
        return _scheme().domain(url) if url else label
    except PageError:
        return label
