"""All text of a page: what an extractor has to beat."""

from __future__ import annotations

from urltree_evaluation.extractors.html_text import html_text
from urltree_evaluation.extractors.registry import single_page


@single_page("all-text", "every block of our tokenizer", package="urltree")
def extract(html: str, url: str) -> str:  # noqa: ARG001 - what every extractor is given
    """Nothing is left out."""
    return html_text(html)
