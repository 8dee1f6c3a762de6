"""A baseline without a URL tree: drop each block that was on an earlier page of the site."""

from __future__ import annotations

from collections import defaultdict

from urltree_evaluation.corpus import CorpusPage
from urltree_evaluation.extractors.html_text import block_texts
from urltree_evaluation.extractors.registry import stream


@stream("drop-seen", "blocks whose text an earlier page of the domain had, dropped", "urltree")
class DropSeen:
    """An extractor that remembers all blocks of each domain, and drops the blocks seen before."""

    def __init__(self) -> None:
        self._seen: defaultdict[str, set[str]] = defaultdict(set)

    def __call__(self, page: CorpusPage) -> str:
        """Return the blocks of a page that no earlier page of its domain has."""
        seen, blocks = self._seen[page.domain], block_texts(page.html)
        kept = [text for text in blocks if text not in seen]
        seen.update(blocks)
        return "\n".join(kept)
