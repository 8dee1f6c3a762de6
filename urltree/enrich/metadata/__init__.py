"""Optional: what can be found out about a page beside its text (issue 6, "Structure").

    HTML ──▶ find_metadata ──▶ date, author, description ──┐ travel in the document
    clean text ──▶ detect_language ──▶ language ──────────┴▶ `metadata` of the Extraction

The record's own fields keep their meaning: `published` and `description` are what was given with
the page, `language` and `author` what its head declares. What is found stands apart from them.

All is a function of the page alone: no clock, no network, and bounded in the size of the page.
The libraries are an extra: their modules are imported once the option is on.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from urltree.document import FoundMetadata
from urltree.page import Page

__all__ = ["detect_language", "find_metadata", "require_metadata_libraries"]


def require_metadata_libraries() -> None:
    """See at the start that the libraries are there, not at the first page.

    Raises:
        ValueError: naming the extra that is missing.
    """
    try:
        _finding(), _language()
    except ImportError as error:
        raise ValueError(
            f"metadata should be off without its libraries: {error}; they come with the extra "
            "`metadata`: pip install 'urltree[metadata]'"
        ) from None


def find_metadata(page: Page) -> FoundMetadata:
    """Date, author and description out of a page's HTML."""
    found: FoundMetadata = _finding().parse_metadata(page)
    return found


def detect_language(text: str) -> str | None:
    """The ISO 639 code of a text's language, None of a text that is too short or too mixed."""
    language: str | None = _language().classify_language(text)
    return language


def _finding() -> Any:
    return import_module("urltree.enrich.metadata.finding")


def _language() -> Any:
    return import_module("urltree.enrich.metadata.language")
