"""readability-lxml: a port of the reading mode of browsers."""

from __future__ import annotations

import logging

from readability import Document

from urltree_evaluation.extractors.html_text import html_text
from urltree_evaluation.extractors.registry import single_page

# readability logs each error that it also raises, so the log is discarded
logging.getLogger("readability").addHandler(logging.NullHandler())


@single_page(
    "readability-lxml",
    "html_partial; text of its summary by our tokenizer; no option for comments and tables",
    package="readability-lxml",
)
def extract(html: str, url: str) -> str:
    """Return the text of readability's summary; all options except `html_partial` are defaults."""
    # Without html_partial, 30 of 660 pages of streams have an empty summary, and F1 is .910 instead
    # of .948.
    return html_text(Document(html, url=url or None).summary(html_partial=True))
