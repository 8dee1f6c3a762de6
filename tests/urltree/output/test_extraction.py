"""Extractions: the clean text of a judged document, and the result for a refused page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.urltree.builders import document, text_block
from urltree.document import Document
from urltree.heuristics.protocol import Verdict
from urltree.html.blocks import Element
from urltree.output.extraction import ExtractedBlock, clean_text, failure
from urltree.page import Page, PageError, Reason

VERDICT = Verdict("strict", 3, 1, 5, (True, False, False, False), (5, 1, 1, 2))


@pytest.fixture
def story() -> Document:
    """Return a menu, a headline, a block without text and a paragraph, at example.org/news/1."""
    page = document(1, [], "news/1", published="2026-01-01T00:00:00Z")
    return replace(
        page,
        blocks=(
            text_block(7, "Menu"),
            text_block(8, "Headline")._replace(element=1, heading=1),
            text_block(0, ""),
            text_block(9, "Two\nlines"),
        ),
        elements=(*page.elements, Element("h1", -1, ())),
        meta={"user": "id"},
        language="en",
    )


def test_text_is_the_kept_blocks_joined_by_newlines(story: Document) -> None:
    """The text is the kept blocks joined by newlines, without a title or empty lines."""
    assert clean_text(story, VERDICT).text == "Headline\nTwo\nlines"


def test_markdown_comes_with_a_setting(story: Document) -> None:
    """Markdown is made of the same blocks as the text, and only if the setting is on."""
    assert clean_text(story, VERDICT).markdown is None
    assert clean_text(story, VERDICT, markdown=True).markdown == "# Headline\n\nTwo lines"


def test_text_is_empty_where_all_is_boilerplate(story: Document) -> None:
    """The text is empty if all blocks are boilerplate; this is a result, not an error."""
    extraction = clean_text(story, replace(VERDICT, boilerplate=(True,) * 4))
    assert (extraction.status, extraction.text) == ("ok", "")


@pytest.mark.parametrize(
    ("depth", "node"), [(0, "example.org"), (1, "example.org/news"), (2, "example.org/news/1")]
)
def test_the_node_that_judged_is_named(story: Document, depth: int, node: str) -> None:
    """The name of the judging node consists of the domain and the segments below it."""
    extraction = clean_text(story, replace(VERDICT, depth=depth))
    assert (extraction.node, extraction.support) == (node, 5)


def test_what_came_in_travels_along(story: Document) -> None:
    """The fields of the document are copied to the Extraction.

    It has no processing time, so that a replay has the same bytes.
    """
    extraction = clean_text(story, VERDICT)
    assert (extraction.url, extraction.id, extraction.origin) == (story.url, story.id, story.origin)
    assert (extraction.meta, extraction.language) == ({"user": "id"}, "en")
    assert extraction.published == "2026-01-01T00:00:00Z"
    assert extraction.heuristic == "strict"
    assert extraction.versions == {"tokenizer": story.tokenizer, "key": 1, "heuristic": 3}
    assert extraction == clean_text(story, VERDICT)


def test_blocks_come_with_a_setting(story: Document) -> None:
    """With the setting `content` or `all`, blocks are returned with their position in the page."""
    menu = ExtractedBlock(0, "Menu", "p", 0, "boilerplate", 5)
    headline = ExtractedBlock(1, "Headline", "h1", 1, "content", 1)
    empty = ExtractedBlock(2, "", "p", 0, "content", 1)
    lines = ExtractedBlock(3, "Two\nlines", "p", 0, "content", 2)
    assert clean_text(story, VERDICT).blocks is None
    assert clean_text(story, VERDICT, "content").blocks == (headline, empty, lines)
    assert clean_text(story, VERDICT, "all").blocks == (menu, headline, empty, lines)


def test_blocks_have_no_count_where_counts_were_not_stored(story: Document) -> None:
    """Blocks have no count if the counts were not stored because the setting was off."""
    blocks = clean_text(story, replace(VERDICT, counts=None), "content").blocks or ()
    assert [block.count for block in blocks] == [None, None, None]


def test_a_verdict_of_another_page_is_a_bug(story: Document) -> None:
    """A verdict whose number of blocks differs from that of the page raises ValueError."""
    with pytest.raises(ValueError, match="argument"):
        clean_text(story, replace(VERDICT, boilerplate=(True,)))


def test_a_page_at_fault_has_an_outcome_too() -> None:
    """A refused page gives an Extraction with the reason, and with the page's URL and `meta`."""
    page = Page(url="https://example.org/", html="", meta={"user": "id"})
    extraction = failure(page, "raw-html/0/1", PageError(Reason.EMPTY, "html: is empty"))
    assert (extraction.status, extraction.error) == ("error", Reason.EMPTY)
    assert (extraction.message, extraction.text) == ("html: is empty", None)
    assert (extraction.url, extraction.meta) == (page.url, {"user": "id"})


def test_what_is_no_page_at_all_has_an_outcome_too() -> None:
    """A record that is no page gives an Extraction with only its origin and the error."""
    extraction = failure(None, "raw-html/0/1", PageError(Reason.MALFORMED, "is no JSON"))
    assert (extraction.url, extraction.origin) == (None, "raw-html/0/1")
