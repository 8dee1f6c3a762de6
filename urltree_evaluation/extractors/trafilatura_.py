"""trafilatura in four variants: default, fast, precise, and with a memory across pages."""

from __future__ import annotations

from trafilatura import extract
from trafilatura.deduplication import LRUCache
from trafilatura.settings import LRU_SIZE

from urltree_evaluation.corpus import CorpusPage
from urltree_evaluation.extractors.registry import single_page, stream

_SAME = "comments off, tables on, metadata off"


def _text(html: str, url: str, **options: object) -> str | None:
    text: str | None = extract(
        html, url or None, include_comments=False, include_tables=True, **options
    )
    return text


@single_page("trafilatura", _SAME, package="trafilatura")
def default(html: str, url: str) -> str | None:
    """Apply trafilatura's own rules, then readability and jusText if these find more text."""
    return _text(html, url)


@single_page("trafilatura-fast", f"{_SAME}, fast", package="trafilatura")
def fast(html: str, url: str) -> str | None:
    """Apply only trafilatura's own rules."""
    return _text(html, url, fast=True)


@single_page("trafilatura-precision", f"{_SAME}, favor_precision", package="trafilatura")
def precision(html: str, url: str) -> str | None:
    """Apply trafilatura with `favor_precision`, which returns less text with fewer errors."""
    return _text(html, url, favor_precision=True)


@stream("trafilatura-deduplicate", f"{_SAME}, deduplicate", package="trafilatura")
class Deduplicate:
    """A variant that drops text it has seen more than twice in the same part of a corpus.

    With trafilatura's own `deduplicate=True`, all parts in a process would share one memory.
    """

    def __init__(self) -> None:
        self._memory = LRUCache(maxsize=LRU_SIZE)

    def __call__(self, page: CorpusPage) -> str | None:
        """Return the text of a page without the parts that were seen more than twice."""
        return _text(page.html, page.url, deduplicate=self._memory)
