"""The gold of a page in the forms that metrics need, computed once for all extractors."""

from __future__ import annotations

from collections import Counter
from functools import cached_property

from urltree_evaluation.corpus import CorpusPage
from urltree_evaluation.metrics.segments import collapse_spaces
from urltree_evaluation.metrics.shingles import Shingles, count_shingles
from urltree_evaluation.metrics.words import split_words


class PageGold:
    """The gold of a page; each form is computed when it is first used."""

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
        """Whether the gold has segments that must or must not be in the text."""
        return bool(self.with_ or self.without)

    @cached_property
    def words(self) -> list[str]:
        """The words of the gold, in order."""
        return split_words(self._text)

    @cached_property
    def title(self) -> list[str]:
        """The words of the title that the corpus gives; empty if it gives none."""
        return split_words(self._title)

    @cached_property
    def ascii(self) -> list[str]:
        """The words of the gold without non-ASCII characters, as in the thesis."""
        return split_words(self._text, ascii_only=True)

    @cached_property
    def bag(self) -> Counter[str]:
        """The number of occurrences of each word of the gold."""
        return Counter(self.words)

    @cached_property
    def characters(self) -> str:
        """The text of the gold with single spaces."""
        return collapse_spaces(self._text)

    @cached_property
    def shingles(self) -> Shingles:
        """The number of occurrences of each shingle of the gold."""
        return count_shingles(self._text)
