"""Our own extractors: one for each heuristic, which use the library as a user does."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

from urltree.extractor import Extractor
from urltree.heuristics.registry import NAMES
from urltree.output.extraction import Extraction
from urltree.page import Page, PageError
from urltree.tree.window import DAY, Eviction
from urltree_evaluation.corpus import CorpusPage
from urltree_evaluation.extractors.registry import DuplicatePage, stream

_EVICTION = Eviction()
_OPTIONS = (
    "one pass, the record's title given;"
    f" of a domain the last {_EVICTION.max_documents:,} documents,"
    f" of the last {_EVICTION.max_age // DAY} days, but {_EVICTION.keep} at least"
)


class Learning:
    """An extractor that learns a URL tree for each domain of a part, page by page.

    Its verdict on a page depends only on that page and on the pages before it.
    """

    def __init__(self, heuristic: str) -> None:
        self._extractor = Extractor(heuristic=heuristic, eviction=_EVICTION)

    def __call__(self, page: CorpusPage) -> str | None:
        """Return the clean text of a page.

        Raises:
            DuplicatePage: the page was seen before.
            PageError: the page cannot be processed.
        """
        found = self._extractor.extract(as_page(page))
        if found.status == "duplicate":
            raise DuplicatePage(found.duplicate_step)
        return _text(found)


def as_page(page: CorpusPage) -> Page:
    """Convert a page for the library: URL, HTML and publication time, without the title."""
    return Page(url=page.url or None, html=page.html, published=_rfc3339(page.published))


def _text(found: Extraction) -> str | None:
    if found.error is not None:
        raise PageError(found.error, found.message or "")
    return found.text


def _rfc3339(published: str | None) -> str | None:
    """Convert an ISO 8601 time to RFC 3339; a time without an offset is taken as UTC."""
    try:
        moment = datetime.fromisoformat(published or "")
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()


for _name in NAMES:
    stream(f"urltree-{_name}", _OPTIONS, package="urltree")(partial(Learning, _name))
