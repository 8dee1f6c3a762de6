"""Tests of Boilerpipe with the grandparent filter, step by step on small pages."""

from __future__ import annotations

import pytest
from boilerpy3.extractors import ArticleExtractor
from hypothesis import given, settings
from hypothesis import strategies as st

from urltree_evaluation.extractors.boilerpipe_grandparent import MAX_BLOCK, extract
from urltree_evaluation.extractors.registry import registered

LONG = (
    "A sentence of so many words that Boilerpipe takes it for content, whatever stands around it. "
)


def paragraphs(*names: str) -> str:
    """Return a <p> of 34 words for each name; the name is the first word of its <p>."""
    return "".join(f"<p>{name} {LONG}{LONG}</p>" for name in names)


def kept(html: str, ancestor: int | None) -> list[str]:
    """Return the first word of each block that the extractor keeps."""
    text = extract(html, "", ancestor=ancestor)
    return [line.split()[0] for line in (text or "").splitlines()]


TEASERS = f"""
<body>
  <article><div>{paragraphs("one", "two")}</div><div>{paragraphs("three")}</div></article>
  <aside><section>{paragraphs("teaser")}</section></aside>
</body>"""


@pytest.mark.parametrize(
    ("ancestor", "expected"),
    [
        (None, ["one", "two", "three", "teaser"]),  # no filter
        (1, ["one", "two"]),  # the group of one <div>
        (2, ["one", "two", "three"]),  # the group of the <article>
        (3, ["one", "two", "three", "teaser"]),  # the group of the <body>
    ],
)
def test_the_group_with_most_text_is_kept(ancestor: int | None, expected: list[str]) -> None:
    """Paragraphs with the same n-th ancestor are a group. Only the group with most text is kept."""
    assert kept(TEASERS, ancestor) == expected


def test_every_element_counts_as_an_ancestor() -> None:
    """Every element counts as an ancestor, so a <blockquote> can be the parent of a paragraph."""
    html = f"<body><div><blockquote>{paragraphs('quote')}</blockquote>{paragraphs('own', 'text')}"
    assert kept(html, 1) == ["own", "text"]
    assert kept(html, 4) == ["quote", "own", "text"]


def test_html_stands_for_ancestors_that_are_not_there() -> None:
    """If a paragraph has fewer than n ancestors, <html> is used as its n-th ancestor."""
    html = f"<body>{paragraphs('one')}<div>{paragraphs('two')}</div></body>"
    assert kept(html, 5) == ["one", "two"]


def test_a_paragraph_is_the_innermost_element_that_is_one() -> None:
    """Text in inline elements belongs to the <p> around them.

    Inline elements do not break lines.
    """
    html = (
        f"<body><div><p><span><b>one</b> {LONG}</span> {LONG}</p>{paragraphs('two')}</div></body>"
    )
    assert kept(html, 1) == ["one", "two"]


def test_text_beside_paragraphs_is_a_paragraph_of_their_parent() -> None:
    """Text beside paragraphs in a <div> is a paragraph of that <div>.

    Its n-th ancestor is one level higher than that of the other paragraphs.
    """
    html = f"<body><main><div>bare {LONG}{LONG}{paragraphs('one', 'two')}</div></main></body>"
    assert kept(html, 1) == ["one", "two"]


def test_equal_groups_leave_the_first() -> None:
    """Of several groups with the same number of characters, the first one is kept."""
    html = f"<body><div>{paragraphs('same')}</div><div>{paragraphs('else')}</div></body>"
    assert kept(html, 1) == ["same"]


def test_what_boilerpipe_discards_stays_discarded() -> None:
    """Text that Boilerpipe discards stays discarded, even in the kept group (paper, section 7)."""
    links = "<p><a href=/>Home</a></p>" * 3
    html = f"<body><div>{paragraphs('one', 'two')}{links}</div></body>"
    assert kept(html, 1) == ["one", "two"]


@pytest.mark.parametrize("html", ["", " ", "<", "<!-- -->", "\0", "<html>", "<br>", "<p>short</p>"])
def test_nothing_selected_is_no_text(html: str) -> None:
    """If Boilerpipe selects nothing, the result is an empty text without an exception."""
    assert extract(html, "", ancestor=2) == ""


def test_without_a_second_group_the_filter_changes_nothing() -> None:
    """If there is only one group, the text on valid markup equals that of boilerpy3 itself."""
    html = f"""<html><head><title>The one - Site</title></head><body><article>
        <h1>The one</h1>{paragraphs("one", "two")}<p>Comments</p>{paragraphs("three")}
        </article></body></html>"""
    assert extract(html, "", ancestor=5) == ArticleExtractor().get_content(html).strip()


def test_a_block_of_many_pieces_loses_nothing() -> None:
    """A block of very many pieces is split, because adding text to it would take too long.

    No word is lost, and the parts keep their paragraph.
    """
    words = MAX_BLOCK // 4
    html = f"<body><p>{'<b>word</b> ' * words}</p></body>"
    assert len((extract(html, "", ancestor=2) or "").split()) == words


HOSTILE = {
    "deep": "<div>" * 5_000 + f"<p>{LONG}</p>",
    "many inline": f"<p>{LONG}" + "<b>x</b> " * 5_000,
    "many blocks": f"<p>{LONG}</p>" * 1_000,
    "end tags of nothing": f"<p>{LONG}</p>" + "</div></p></a></body>" * 500,
    "links in links": f"<a href=/>{LONG}<div>" * 500,
    "one text": f"<p>{LONG * 2_000}",
}


@pytest.mark.parametrize("html", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.filterwarnings("ignore")
def test_hostile_pages_end(html: str) -> None:
    """The extractor returns text for deep, long and broken markup, without recursion."""
    assert isinstance(extract(html, "", ancestor=5), str)


TAGS = ["div", "p", "a", "b", "ul", "li", "table", "title", "script", "noscript", "body", "br"]
PIECES = st.one_of(
    st.sampled_from([f"<{tag}>" for tag in TAGS] + [f"</{tag}>" for tag in TAGS]),
    st.sampled_from([LONG, "Comments", "<!--", "-->", "&amp;", "<", "\0", "\ud800"]),
    st.text(max_size=5),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join), st.integers(1, 5))
def test_no_markup_raises(html: str, ancestor: int) -> None:
    """No order of tags raises an exception, and the text is never longer than the page."""
    text = extract(html, "", ancestor=ancestor)
    assert text is not None
    assert len(text) <= len(html)


def test_five_ancestors_are_registered() -> None:
    """Extractors for n = 1 to 5 and one without the filter are registered.

    The published value is n = 2; table 2 of the paper has the values 1 to 5.
    """
    assert "boilerpipe-unfiltered" in registered
    names = [name for name in registered if name.startswith("boilerpipe-grandparent-")]
    assert sorted(names) == [f"boilerpipe-grandparent-{n}" for n in range(1, 6)]
