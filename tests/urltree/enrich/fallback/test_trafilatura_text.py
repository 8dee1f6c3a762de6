"""The single-page extractor: for which pages it runs, and which blocks it vouches for.

The extractor vouches for a block if the text that it extracts contains the block.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from urltree import Extractor
from urltree.document import Document
from urltree.enrich.fallback import CHECKED, FIRST, add_vouched_blocks, agreement
from urltree.enrich.fallback.alignment import align_blocks
from urltree.enrich.fallback.trafilatura_text import MAX_HTML, extract_text
from urltree.html.blocks import TextBlock, block_hash
from urltree.html.tokenizer import tokenize
from urltree.page import Page

NEWS = "The ferry to the island will sail twice a day from spring on, the harbour master says."
REMARK = "You are all wrong about the ferry, and I have said so in this place for many years now."


def block(text: str) -> TextBlock:
    """Return a block with this text."""
    return TextBlock(text, 0, 0, 0.0, hidden=False, hash=block_hash(text))


def a_document(html: str) -> tuple[Document, Page]:
    """Return a document without URL, and its page."""
    page = Page(url=None, html=html)
    return Document.without_url(page, tokenize(html), "pages/0/0"), page


def test_a_block_is_vouched_for_where_its_letters_stand_in_the_text() -> None:
    """A block is vouched for if the extracted text contains the letters of the block in one run.

    White space and punctuation are ignored. A short block must be a whole line or table cell.
    """
    blocks = [block(NEWS), block("Share"), block("Oak"), block("2019"), block("Ash")]
    text = f"- {NEWS.replace(' ', '  ')} And more.\n| Oak | Elm |\nShared"
    assert align_blocks(text, blocks) == "10110"


def test_only_the_first_pages_and_some_later_ones_are_asked_about() -> None:
    """The extractor runs for the first pages of a site, and for some later ones.

    The document id selects the later pages, so that a replay selects the same pages.
    """
    document, page = a_document(f"<body><p>{NEWS}</p><p>{REMARK}</p></body>")
    due = replace(document, id=f"{3 * CHECKED:032x}")
    undue = replace(document, id=f"{3 * CHECKED + 1:032x}")
    assert add_vouched_blocks(undue, page, FIRST - 1).vouched is not None
    assert add_vouched_blocks(undue, page, FIRST).vouched is None
    assert add_vouched_blocks(due, page, FIRST).vouched is not None


@pytest.mark.parametrize("html", ["", "<p>", "\0", "<" * 9_999, "<p>a" * MAX_HTML])
def test_a_page_without_an_answer_is_no_error(html: str) -> None:
    """The extractor returns None, not an error, for a page that is empty or too long."""
    assert extract_text(Page(url=None, html=html)) is None


def test_agreement_is_f1_of_words() -> None:
    """Agreement is F1: of 3 kept and 3 vouched words, 2 are the same, so it is 2 · 2 / (3 + 3)."""
    document, _ = a_document("<p>one two</p><p>three</p><p>four</p>")
    assert agreement(replace(document, vouched="101"), [False, False, True]) == 2 / 3
    assert agreement(document, [False, False, True]) is None


def test_an_extractor_that_is_not_there_is_an_error_at_the_start() -> None:
    """An unknown extractor raises ValueError, whose message lists the known extractors."""
    with pytest.raises(ValueError, match=r"single_page should be one of .*trafilatura"):
        Extractor(single_page="readability")  # type: ignore[arg-type]
