"""Kinds of boilerplate: why a block is not content (paper, section 7, "types of boilerplate").

Stored in rows as one byte a block, so a number keeps its meaning for ever.
"""

from __future__ import annotations

from enum import IntEnum


class Kind(IntEnum):
    """Why a block was dropped; 0 is content."""

    CONTENT = 0
    SITE_WIDE = 1  # recurs on the pages of the domain
    SECTION = 2  # recurs below a deeper node of the branch
    REPEATED_PATH = 3  # stands where past pages of the site repeated themselves
    LINK_LIST = 4  # stands where text is mostly links
    COMMENTS = 5  # by the names of an element around it
    NAVIGATION = 6  # by the tag or the names of an element around it
    OUTSIDE_MAIN = 7  # stands outside of the page's main element
    NEXT_ARTICLE = 8  # of another article that the page goes on with
    BEFORE_TITLE = 9
    DUPLICATE_TITLE = 10
    LINE_NUMBERS = 11  # 1 2 3 …, beside code
    BESIDE_BOILERPLATE = 12  # without a letter, and what stands before it was dropped

    @property
    def label(self) -> str:
        """As written in clean-text: `link list`."""
        return self.name.lower().replace("_", " ").replace("site wide", "site-wide")
