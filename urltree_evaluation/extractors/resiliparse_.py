"""resiliparse: the extractor of a search engine's crawler, written in C++."""

from __future__ import annotations

from resiliparse.extract.html2text import extract_plain_text

from urltree_evaluation.extractors.registry import single_page


@single_page(
    "resiliparse",
    "main content, comments off, one block a line, no bullets or alternative texts",
    package="resiliparse",
)
def extract(html: str, url: str) -> str:  # noqa: ARG001 - the signature of all extractors
    """Return the main content; resiliparse has no option that leaves out tables."""
    text: str = extract_plain_text(
        html, main_content=True, comments=False, list_bullets=False, alt_texts=False
    )
    return text
