"""Kinds of pages. A row stores two bits, so the number of a kind must never change its meaning."""

from __future__ import annotations

from enum import IntEnum


class PageKind(IntEnum):
    """The purpose of a page: an article is read, and a listing links to other pages."""

    UNKNOWN = 1
    ARTICLE = 2
    LISTING = 3  # for example the front page of a section, an archive, or search results

    @property
    def label(self) -> str:
        """Name in clean-text records, such as `listing`."""
        return self.name.lower()
