"""Kinds of pages. A row stores two bits, so the number of a kind must never change its meaning."""

from __future__ import annotations

from enum import IntEnum


class PageKind(IntEnum):
    """The purpose of a page: to be read (article), or to link to other pages (listing)."""

    UNKNOWN = 1
    ARTICLE = 2
    LISTING = 3  # for example a section front, an archive, or search results

    @property
    def label(self) -> str:
        """Name in clean-text records, such as `listing`."""
        return self.name.lower()
