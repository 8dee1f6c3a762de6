"""The tokenizer: HTML to text blocks, by one lxml SAX target (paper, section 2)."""

from __future__ import annotations

from urltree.text_block import TokenizedPage

TOKENIZER_VERSION = 1
LIBXML = (2, 14, 6)  # what lxml bundles where the stored hashes were made
MAX_BLOCKS = 10_000


def tokenize(html: str | bytes, content_type: str | None = None) -> TokenizedPage:
    """Take a page apart.

    Args:
        html: text, or bytes to be decoded first (`urltree.encoding`).
        content_type: the HTTP header, whose charset counts for bytes.
    """
    raise NotImplementedError
