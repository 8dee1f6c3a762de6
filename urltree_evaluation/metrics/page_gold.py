"""A page's gold, put once into the forms that metrics compare: many extractors are held to it."""

from __future__ import annotations

from collections import Counter
from functools import cached_property

from urltree_evaluation.corpus import CorpusPage
from urltree_evaluation.metrics.segments import collapse_spaces
from urltree_evaluation.metrics.shingles import Shingles, count_shingles
from urltree_evaluation.metrics.words import split_words


class PageGold:
    """What should come out of a page, in each form when it is first asked for."""

    def __init__(self, page: CorpusPage) -> None:
        self.id = page.id
        self.domain = page.domain
        self.is_full = page.gold is not None
        self.with_ = page.gold_with
        self.without = page.gold_without
        self._text = page.gold or ""
        self._title = page.title or ""

    @property
    def is_segments(self) -> bool:
        """The gold says of segments whether they must or must not be there."""
        return bool(self.with_ or self.without)

    @cached_property
    def words(self) -> list[str]:
        """The words, in order."""
        return split_words(self._text)

    @cached_property
    def title(self) -> list[str]:
        """Words of the record's title, none where it has no title."""
        return split_words(self._title)

    @cached_property
    def ascii(self) -> list[str]:
        """The words of the thesis' variant."""
        return split_words(self._text, ascii_only=True)

    @cached_property
    def bag(self) -> Counter[str]:
        """How often each word is there."""
        return Counter(self.words)

    @cached_property
    def characters(self) -> str:
        """The text with single spaces."""
        return collapse_spaces(self._text)

    @cached_property
    def shingles(self) -> Shingles:
        """How often each shingle is there."""
        return count_shingles(self._text)
