"""All text of a page, as a baseline with which every extractor is compared."""

from __future__ import annotations

from urltree_evaluation.extractors.html_text import html_text
from urltree_evaluation.extractors.registry import single_page


@single_page("all-text", "every block of our tokenizer", package="urltree")
def extract(html: str, url: str) -> str:  # noqa: ARG001 - the signature of all extractors
    """Return the text of every block."""
    return html_text(html)
