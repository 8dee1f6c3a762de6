"""The parser refuses markup that takes libxml2 seconds, and accepts other deep markup."""

import pytest

from urltree.html.tokenizer import tokenize
from urltree.page import PageError, Reason


@pytest.mark.parametrize(
    "html",
    [
        pytest.param("<div>" * 50_000 + "</q></b>" * 75_000, id="end tags that close none"),
        pytest.param(("<div>" * 1_000 + "</q>" * 1_000) * 50, id="open tags and end tags in turns"),
        pytest.param("<i>" * 500_000, id="half a million open elements"),
        pytest.param("<br>" * 2_500_000, id="10 MB of tags"),
    ],
)
def test_markup_that_takes_seconds_is_refused(html: str) -> None:
    """Markup that would stall a worker for seconds or minutes raises PageError with a reason."""
    with pytest.raises(PageError) as refused:
        tokenize(html)
    assert refused.value.reason is Reason.TOO_LARGE


@pytest.mark.parametrize(
    ("html", "blocks"),
    [
        pytest.param("<div>x" * 50_000 + "</div>" * 50_000, 50_000, id="nested"),
        pytest.param("<p>x" * 50_000, 50_000, id="unclosed"),
        pytest.param("x" + "</p></q>" * 100_000, 100_001, id="end tags with nothing open"),
    ],
)
def test_deep_markup_is_kept(html: str, blocks: int) -> None:
    """Many tags or levels alone are no reason to refuse a page; each block is kept or counted."""
    page = tokenize(html)
    assert 0 < len(page.blocks) + page.blocks_over_cap <= blocks


def test_a_page_fed_in_pieces_is_the_same_page() -> None:
    """Parsing in chunks gives the same blocks, even if a chunk ends inside a character or a tag."""
    half = "<div class=é><p>größer &amp; <b>kühner</b> 東京</p>"
    many = tokenize(half * 8_000)  # so many tags that the parser reads chunks
    few = tokenize(half * 100)
    assert [block.text for block in many.blocks[:100]] == [block.text for block in few.blocks]
