"""The option `metadata`: find the date, author, description and language of a page.

    HTML ──▶ find_metadata ──▶ date, author, description ──┐ stored in the document
    clean text ──▶ detect_language ──▶ language ───────────┴▶ `metadata` of the Extraction

The result is stored in the field `metadata`. It does not change the other fields of a record:
`published` and `description` are given with the page, and `language` and `author` are declared in
the head of the page.

The result depends on the page alone: no clock and no network are used. The size of the page bounds
the work. An extra installs the libraries, which are imported only if the option is on.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from urltree.document import FoundMetadata
from urltree.page import Page

__all__ = ["detect_language", "find_metadata", "require_metadata_libraries"]


def require_metadata_libraries() -> None:
    """Check that the libraries are installed; called before the first page arrives.

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
    """Return the ISO 639 code of a text's language; None for a short or mixed text."""
    language: str | None = _language().classify_language(text)
    return language


def _finding() -> Any:
    return import_module("urltree.enrich.metadata.finding")


def _language() -> Any:
    return import_module("urltree.enrich.metadata.language")
