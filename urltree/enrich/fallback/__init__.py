"""Optional: what an extractor that knows no site says of a page (issue 6).

    HTML ──▶ its text ──▶ blocks that it vouches for ── travel in the document ──▶ evidence

It is asked for a domain's first pages, where the site says nothing yet, and now and then as a
check. It costs ten times what all else does, so it is off unless a person asks for it.

The library is an extra: its module is imported once the option is on.
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

FIRST = 20  # pages of a domain that are asked about
CHECKED = 50  # later one page in so many is


def require_extractor(name: str) -> None:
    """See at the start that an extractor is there, not at the first page.

    Raises:
        ValueError: there is none of that name, or its extra is missing.
    """
    if name not in get_args(SinglePage):
        raise ValueError(f"single_page should be one of {get_args(SinglePage)}, is {name!r}")
    if name == "none":
        return
    try:
        _asking()
    except ImportError as error:
        raise ValueError(
            f"single_page should be none without its library: {error}; it comes with the extra "
            "`single-page`: pip install 'urltree[single-page]'"
        ) from None


def add_vouched_blocks(document: Document, page: Page, known: int) -> Document:
    """The document with what the extractor vouches for, if it is the page's turn.

    Args:
        document: made of the page.
        page: with its HTML.
        known: documents of its domain so far. Later the id decides, never chance.
    """
    if known >= FIRST and int(document.id, 16) % CHECKED:
        return document
    text: str | None = _asking().extract_text(page)
    return (
        document if text is None else replace(document, vouched=align_blocks(text, document.blocks))
    )


def agreement(document: Document, boilerplate: Sequence[bool]) -> float | None:
    """F1 of the words that are kept against those vouched for; None where nobody was asked."""
    if document.vouched is None:
        return None
    both = kept = vouched = 0
    for block, dropped, digit in zip(document.blocks, boilerplate, document.vouched, strict=True):
        words = block.text.count(" ") + 1
        kept += words * (not dropped)
        vouched += words * (digit == "1")
        both += words * (digit == "1" and not dropped)
    return 2 * both / (kept + vouched) if kept + vouched else 1.0


def _asking() -> Any:
    return import_module("urltree.enrich.fallback.trafilatura_text")
