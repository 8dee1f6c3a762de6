"""trafilatura, four ways: as it is, fast, precise, and with a memory across pages."""

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
    """Its own rules first, then those of readability and jusText where these find more."""
    return _text(html, url)


@single_page("trafilatura-fast", f"{_SAME}, fast", package="trafilatura")
def fast(html: str, url: str) -> str | None:
    """Its own rules alone."""
    return _text(html, url, fast=True)


@single_page("trafilatura-precision", f"{_SAME}, favor_precision", package="trafilatura")
def precision(html: str, url: str) -> str | None:
    """Rather less text."""
    return _text(html, url, favor_precision=True)


@stream("trafilatura-deduplicate", f"{_SAME}, deduplicate", package="trafilatura")
class Deduplicate:
    """Leaves out what it has seen more than twice: the memory is of its own size, for each part.

    Plain `deduplicate=True` has one memory for the whole process.
    """

    def __init__(self) -> None:
        self._memory = LRUCache(maxsize=LRU_SIZE)

    def __call__(self, page: CorpusPage) -> str | None:
        """The text, without what was there too often."""
        return _text(page.html, page.url, deduplicate=self._memory)
