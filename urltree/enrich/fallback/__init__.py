"""The option `single_page`: the opinion of an extractor that judges each page alone.

    HTML ──▶ its text ──▶ blocks that the text contains ── stored in the document ──▶ evidence

The extractor is asked about the first pages of a domain, when little is known about the site, and
later about a few pages as a check. It takes ten times the CPU of everything else, so it is off by
default.

The library is installed by an extra; its module is imported only if the option is on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, Literal, get_args

from urltree.document import Document
from urltree.enrich.fallback.alignment import align_blocks
from urltree.page import Page

__all__ = ["CHECKED", "FIRST", "SinglePage", "add_vouched_blocks", "agreement", "require_extractor"]

SinglePage = Literal["none", "trafilatura"]

FIRST = 20  # first pages of a domain about which the extractor is asked
CHECKED = 50  # later it is asked about one page in this many


def require_extractor(name: str) -> None:
    """Check at the start, not at the first page, that an extractor is installed.

    Raises:
        ValueError: the name is unknown, or the extra is not installed.
    """
    if name not in get_args(SinglePage):
        raise ValueError(
            f"single_page should be one of {', '.join(get_args(SinglePage))}, is {name!r}"
        )
    if name == "none":
        return
    try:
        _trafilatura()
    except ImportError as error:
        raise ValueError(
            f"single_page={name} needs the extra `single-page` ({error}):"
            " pip install 'urltree[single-page]'"
        ) from None


def add_vouched_blocks(document: Document, page: Page, known: int) -> Document:
    """Return the document with the extractor's opinion, if the extractor is asked about this page.

    Args:
        document: made of the page.
        page: with its HTML.
        known: number of documents of the domain so far. From FIRST on, the document's id decides
            which pages are checked, so that the result is always the same.
    """
    if known >= FIRST and int(document.id, 16) % CHECKED:
        return document
    text: str | None = _trafilatura().extract_text(page)
    return (
        document if text is None else replace(document, vouched=align_blocks(text, document.blocks))
    )


def agreement(document: Document, boilerplate: Sequence[bool]) -> float | None:
    """Return the F1 of the kept words and the extractor's words, None if it was not asked."""
    if document.vouched is None:
        return None
    both = kept = vouched = 0
    for block, dropped, digit in zip(document.blocks, boilerplate, document.vouched, strict=True):
        words = block.text.count(" ") + 1
        kept += words * (not dropped)
        vouched += words * (digit == "1")
        both += words * (digit == "1" and not dropped)
    return 2 * both / (kept + vouched) if kept + vouched else 1.0


def _trafilatura() -> Any:
    return import_module("urltree.enrich.fallback.trafilatura_text")
