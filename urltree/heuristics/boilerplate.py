"""Kinds of boilerplate: the reason why a block is not content (paper, section 7).

A row stores one byte per block, so the number of a kind must never change its meaning.
"""

from __future__ import annotations

from enum import IntEnum


class Kind(IntEnum):
    """The reason why a block was dropped; 0 means that the block is content."""

    CONTENT = 0
    SITE_WIDE = 1  # the block recurs on pages of the whole site
    SECTION = 2  # the block recurs on the pages below one node of the branch (not the root)
    REPEATED_PATH = 3  # on past pages, most text at the element path of the block was repeated
    LINK_LIST = 4  # most text at the element path of the block is inside links
    COMMENTS = 5  # an enclosing element contains comments, by its class names or its id
    NAVIGATION = 6  # an enclosing element is navigation, by its tag, its class names or its id
    OUTSIDE_MAIN = 7  # the block is outside the main element of the page
    NEXT_ARTICLE = 8  # the block belongs to another article below the first one
    BEFORE_TITLE = 9  # the block precedes the title block
    DUPLICATE_TITLE = 10  # the block repeats the title
    LINE_NUMBERS = 11  # the block contains line numbers (1 2 3 …) beside code
    BESIDE_BOILERPLATE = 12  # the block has no letter, and the block before it was dropped

    @property
    def label(self) -> str:
        """Name in clean-text records, such as `link list`."""
        return self.name.lower().replace("_", " ").replace("site wide", "site-wide")
