"""Ours: every heuristic of the paper, through the library, as its users call it."""

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
    """A new tree for each part, one pass: a page is judged by itself and those before it."""

    def __init__(self, heuristic: str) -> None:
        self._extractor = Extractor(heuristic=heuristic, eviction=_EVICTION)

    def __call__(self, page: CorpusPage) -> str | None:
        """The clean text of a page.

        Raises:
            DuplicatePage: it was seen before.
            PageError: the page is at fault.
        """
        found = self._extractor.extract(as_page(page))
        if found.status == "duplicate":
            raise DuplicatePage(found.duplicate_step)
        return _text(found)


def as_page(page: CorpusPage) -> Page:
    """What the library is given of a page: its URL, its HTML and when it was published."""
    return Page(url=page.url or None, html=page.html, published=_rfc3339(page.published))


def _text(found: Extraction) -> str | None:
    if found.error is not None:
        raise PageError(found.error, found.message or "")
    return found.text


def _rfc3339(published: str | None) -> str | None:
    """A time of ISO 8601 as the library takes it: UTC where it has no offset, None if no time."""
    try:
        moment = datetime.fromisoformat(published or "")
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()


for _name in NAMES:
    stream(f"urltree-{_name}", _OPTIONS, package="urltree")(partial(Learning, _name))
