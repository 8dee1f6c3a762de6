"""The option `metadata`: facts that are found in a page, in addition to those given with it.

    HTML ──▶ find_metadata ──▶ date, author, description ──┐ stored in the document
    clean text ──▶ detect_language ──▶ language ───────────┴▶ `metadata` of the Extraction

The record's own fields keep their meaning: `published` and `description` are given with the page,
`language` and `author` are declared in its head. Facts that are found are stored separately.

The result depends on the page alone: no clock and no network are used, and the work is bounded by
the size of the page. The libraries are installed by an extra; their modules are imported only if
the option is on.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from urltree.document import FoundMetadata
from urltree.page import Page

__all__ = ["detect_language", "find_metadata", "require_metadata_libraries"]


def require_metadata_libraries() -> None:
    """Check at the start, not at the first page, that the libraries are installed.

    Raises:
        ValueError: the extra is not installed.
    """
    try:
        _finding(), _language()
    except ImportError as error:
        raise ValueError(
            f"metadata needs the extra `metadata` ({error}): pip install 'urltree[metadata]'"
        ) from None


def find_metadata(page: Page) -> FoundMetadata:
    """Find the date, author and description in a page's HTML."""
    found: FoundMetadata = _finding().parse_metadata(page)
    return found


def detect_language(text: str) -> str | None:
    """Return the ISO 639 code of a text's language, None if the text is too short or too mixed."""
    language: str | None = _language().classify_language(text)
    return language


def _finding() -> Any:
    return import_module("urltree.enrich.metadata.finding")


def _language() -> Any:
    return import_module("urltree.enrich.metadata.language")
