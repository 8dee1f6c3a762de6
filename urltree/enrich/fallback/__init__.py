"""The option `single_page`: use the result of an extractor that judges each page alone.

    HTML ──▶ extractor's text ──▶ blocks in this text ── stored in the document ──▶ evidence

The extractor is run on the first pages of a domain, when little is known about the site. Later it
is run on one page in fifty, to compare its text with ours. It takes ten times as much CPU time as
all other steps together, so the option is off by default.

An extra installs the extractor's library, which is imported only if the option is on.
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

FIRST = 20  # number of first pages of a domain on which the extractor is run
CHECKED = 50  # after the first pages, the extractor is run on one page in fifty


def require_extractor(name: str) -> None:
    """Check that an extractor is installed; called before the first page arrives.

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
    """Run the extractor on a page if it is one of the selected pages; return the document.

    Args:
        document: document of the page; `vouched` is set in the returned document.
        page: page with its HTML.
        known: number of earlier documents of the domain. If it is below FIRST, the page is
            selected. Otherwise the document id decides, so that the selection can be repeated.
    """
    if known >= FIRST and int(document.id, 16) % CHECKED:
        return document
    text: str | None = _trafilatura().extract_text(page)
    return (
        document if text is None else replace(document, vouched=align_blocks(text, document.blocks))
    )


def agreement(document: Document, boilerplate: Sequence[bool]) -> float | None:
    """Return the F1 of the kept words and the extractor's words; None if `vouched` is None."""
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
