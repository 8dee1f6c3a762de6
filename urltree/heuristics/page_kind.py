"""Kinds of pages (issue 6). Stored in rows as two bits, so a number keeps its meaning for ever."""

from __future__ import annotations

from enum import IntEnum


class PageKind(IntEnum):
    """What a page is for: to be read, or to lead to others."""

    UNKNOWN = 1
    ARTICLE = 2
    LISTING = 3  # a section front, an archive, a list of search results

    @property
    def label(self) -> str:
        """As written in clean-text: `listing`."""
        return self.name.lower()
