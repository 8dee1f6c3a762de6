"""Tests of NCE, phase by phase on small pages, with constants chosen for the tests."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from urltree_evaluation.extractors.nce import CONSTANTS, Constants, extract, extract_news
from urltree_evaluation.extractors.nce.comments import remove_comments
from urltree_evaluation.extractors.nce.page import parse_page
from urltree_evaluation.extractors.nce.separator import find_body, find_separator
from urltree_evaluation.extractors.nce.title import find_title

LONG = "A first long text of the kind that bodies of news are made of."
CONSTANTS_HERE = Constants(
    leaf=40,
    separator=150,
    notable=30,
    sibling_links=0.5,
    child_links=0.4,
    head=60,
    distance=20,
    title_most=12,
    title_shared=0.5,
)


def body_text(html: str, **constants: float) -> str:
    """Return the text that phase 1 keeps; `constants` override those of the tests."""
    tree = parse_page(html)
    changed = replace(CONSTANTS_HERE, **constants)  # type: ignore[arg-type]
    return tree.text(find_body(tree, changed))


def separator_class(html: str) -> str:
    """Return the class of the separator node, or its tag if it has none."""
    tree = parse_page(html)
    node = find_separator(tree, CONSTANTS_HERE)
    assert node is not None
    return tree.attributes.get(node, {}).get("class", tree.tags[node])


def story(name: str = "story") -> str:
    """Return an element with class `name` that is long enough to be a separator."""
    return f"<div class={name}><p>{LONG}</p><p>{LONG}</p><p>{LONG}</p></div>"


def side(count: int) -> str:
    """Return `count` elements with text and without links."""
    return f"<div><p>{LONG}</p></div>" * count


LINKS = f"<div><p><a href=/>{LONG}</a></p></div>"


# --- the tree -----------------------------------------------------------------------------------


def test_a_subtree_is_a_range_of_ids() -> None:
    """Each subtree of the parsed page is a range of ids, as in the drawing in page.py."""
    tree = parse_page("<div>One <a>two</a></div>")
    div = tree.tags.index("div")
    assert tree.tags[div:] == ["div", "", "a", ""]
    assert [end - div for end in tree.ends[div:]] == [4, 2, 4, 4]
    assert tree.size(div) == 6
    assert tree.link_density(div) == 0.5
    assert list(tree.children(div)) == [div + 1, div + 2]


def test_lines_are_blocks_and_words_stay_whole() -> None:
    """Each block is a line.

    Inline elements split neither words nor lines, and text that is not displayed is ignored.
    """
    html = "<p>un<b>broken</b> <i>line</i><br>next<script>var x</script><p>third <!-- x -->one"
    tree = parse_page(html)
    assert tree.text([(0, len(tree.tags))]) == "unbroken line\nnext\nthird one"


# --- phase 1: the separator ---------------------------------------------------------------------


def test_the_closest_ancestor_that_fits_is_the_separator() -> None:
    """The separator is the closest ancestor of the first long text that has enough text itself.

    It may have one notable sibling.
    """
    assert separator_class(f"<body>{story()}{side(1)}") == "story"


def test_two_notable_siblings_are_too_many() -> None:
    """An element with two notable siblings is no separator.

    The search continues with its parent.
    """
    assert separator_class(f"<body><div class=page>{story()}{side(2)}</div>") == "page"


def test_a_sibling_of_links_is_not_notable() -> None:
    """A sibling that consists of links is not notable, whatever the amount of its text."""
    assert separator_class(f"<body><div class=page>{story()}{LINKS * 5}</div>") == "story"


def test_a_paragraph_separates_nothing() -> None:
    """A paragraph is never the separator. If a paragraph is long, its parent is the separator."""
    assert separator_class(f"<body><div class=story><p class=long>{LONG * 5}</p></div>") == "story"


def test_an_ancestor_of_little_text_is_passed_over() -> None:
    """An ancestor with little text is not the separator.

    Here the search starts at a teaser before the article, and continues upwards.
    """
    html = f"<body><div class=page><div class=teaser>{LONG}</div>{story()}</div>"
    assert separator_class(html) == "page"


def test_short_leaves_are_passed_over() -> None:
    """The search does not start at short texts or at texts in <head>."""
    html = f"<head><title>{LONG}</title></head><body><div>By Ann, in Rome</div>{story()}"
    assert separator_class(html) == "story"


def test_children_that_are_links_are_dropped() -> None:
    """The body consists of the separator's children, without children that are mostly links."""
    html = f"<body><div>{LINKS}<p>{LONG}</p><p>{LONG} <a>more</a></p><ul><li><a>tag</a></ul></div>"
    assert body_text(html, separator=100) == f"{LONG}\n{LONG} more"


@pytest.mark.parametrize("html", [f"<p>{LONG}</p>", "<p>Short</p>" * 100])
def test_without_separator_the_whole_page_is_kept(html: str) -> None:
    """Without a separator the whole page is kept.

    This happens if a page has too little text, or no long text.
    """
    tree = parse_page(html)
    assert find_body(tree, CONSTANTS_HERE) == [(0, len(tree.tags))]


# --- phase 2: comments --------------------------------------------------------------------------


def comments(*dates: str, between: str = "") -> str:
    """Return one comment for each date; the head of the comment contains the date."""
    heads = (f"<div><b>Name</b> <i>{date}</i></div><p>Said.</p>{between}" for date in dates)
    return "".join(heads)


def without(html: str) -> str:
    """Return the text that phase 2 keeps of a page, without the text of the article."""
    tree = parse_page(f"<body>{story()}{html}</body>")
    whole = [(0, len(tree.tags))]
    return tree.text(remove_comments(tree, whole, CONSTANTS_HERE)).removeprefix(
        "\n".join([LONG] * 3)
    )


MAY = [f"May {day}, 2012 at {day}:04 pm" for day in (3, 9, 11)]


def test_three_heads_mark_where_comments_begin() -> None:
    """Three heads of comments mark where comments begin.

    Everything from the first head on is removed, including the name beside the first date.
    """
    assert without(comments(*MAY) + "<p>Imprint</p>") == ""


def test_two_heads_mark_nothing() -> None:
    """Two heads of comments mark nothing, because the paper requires three."""
    assert without(comments(*MAY[:2])) != ""


def test_heads_far_apart_mark_nothing() -> None:
    """Heads of comments that are far apart mark nothing, because they are not one region."""
    assert without(comments(*MAY, between="<b>x</b>" * 20)) != ""


def test_heads_unlike_each_other_mark_nothing() -> None:
    """Dates in three formats mark no comments, because they do not come from one template."""
    assert without(comments("May 3, 2012", "2012-05-04", "5/5/2012")) != ""


def test_permalinks_are_heads() -> None:
    """Permalinks to comments are heads.

    A permalink ends with a number of at least three digits. Numbers of footnotes are shorter.
    """
    linked = "".join(f"<p><a href='/a#comment-{n}'>#</a> said</p>" for n in (8123, 8124, 8200))
    footnotes = "".join(f"<p><a href='#fn{n}'>[{n}]</a> note</p>" for n in (1, 2, 3))
    assert without(linked) == ""
    assert without(footnotes) != ""


@pytest.mark.parametrize("link", ["it", "<a href=/>it</a>"])
def test_a_date_in_a_long_block_is_no_head(link: str) -> None:
    """A date in a long block belongs to the article, even if a link divides the text around it."""
    assert without(f"<p>On May 3, 2012 at 5:04 pm {link} was. {LONG}</p>" * 3) != ""


def test_comments_without_a_body_before_are_kept() -> None:
    """Comments before the body are kept, because assumption 2 of the paper places them after it."""
    tree = parse_page(f"<body>{comments(*MAY)}{story()}")
    whole = [(0, len(tree.tags))]
    assert remove_comments(tree, whole, CONSTANTS_HERE) == whole


# --- phase 3: the title -------------------------------------------------------------------------


def title_of(before: str) -> str:
    """Return the title that phase 3 finds in the HTML before an article."""
    tree = parse_page(f"{before}{story()}")
    node = next(node for node, found in tree.attributes.items() if found.get("class") == "story")
    return tree.text(find_title(tree, [(node, tree.ends[node])], CONSTANTS_HERE))


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("<title>News</title>", "News"),  # <title> is always a candidate
        ("<title>News</title><h1>A long text of news</h1>", "A long text of news"),  # the longest
        ("<h1>Long news text</h1>", ""),  # only three words
        ("<h1>A wholly other headline stands here</h1>", ""),  # words that are not in the body
        (f"<h1>{LONG}</h1>", ""),  # more words than a title may have
        ("<h1>A <i>long</i> text</h1><h2>of the news</h2>", ""),  # two elements, each too short
    ],
)
def test_the_title_is_the_longest_candidate(before: str, expected: str) -> None:
    """The title is the longest candidate: <title>, or a short text whose words are in the body."""
    assert title_of(before) == expected


def test_the_title_stands_before_the_body() -> None:
    """All three phases together return the title and the body, without links and comments."""
    html = f"""<title>A long text of news</title><body><ul><li><a href=/>Home</a></ul>
        {story()}{comments(*MAY)}{LINKS}"""
    assert extract_news(parse_page(html), CONSTANTS_HERE) == "\n".join(
        ["A long text of news", *[LONG] * 3]
    )


# --- any page -----------------------------------------------------------------------------------


def test_the_constants_are_of_a_corpus_that_is_named() -> None:
    """The registered extractor uses the constants in CONSTANTS."""
    html = f"<title>A title</title><body>{story()}"
    assert extract(html, "") == extract_news(parse_page(html), CONSTANTS)


HOSTILE = {
    "deep": "<div>" * 5_000 + f"<p>{LONG * 20}</p>",
    "flat": f"<p>{LONG}</p>" * 2_000,
    "many inline": f"<p>{LONG}" + "<b>x</b> " * 5_000,
    "heads without end": f"<p>{LONG * 20}" + "".join(f"<p>{n}:{n:02}" for n in range(2_000)),
    "deep short texts": "<div>x" * 2_000 + f"<p>{LONG * 20}</p>",
    "links in links": f"<a href=/>{LONG}<div>" * 500,
    "one text": LONG * 5_000,
    "numbers": "1" * 100_000 + " " + "1 " * 20_000,
}


@pytest.mark.parametrize("html", HOSTILE.values(), ids=HOSTILE)
def test_hostile_pages_end(html: str) -> None:
    """The extractor returns text for deep, long and broken markup, without recursion."""
    assert isinstance(extract(html, ""), str)


TAGS = ["div", "p", "a", "b", "ul", "li", "table", "title", "script", "head", "body", "br", "html"]
PIECES = st.one_of(
    st.sampled_from([f"<{tag}>" for tag in TAGS] + [f"</{tag}>" for tag in TAGS]),
    st.sampled_from([LONG * 3, "5:04", "<a href='#c1234'>", "<!--", "-->", "<", "\0", "\ud800"]),
    st.text(max_size=5),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join))
def test_no_markup_raises(html: str) -> None:
    """No order of tags raises an exception."""
    assert isinstance(extract(html, ""), str)
