"""The tokenizer: how a page is split into text blocks."""

import pytest
from lxml import etree

from urltree.html.head import MAX_JSON_LD
from urltree.html.parser import LIBXML
from urltree.html.tokenizer import MAX_BLOCKS, MAX_DEPTH, tokenize


def texts(html: str | bytes) -> list[str]:
    """Return the texts of a page's blocks."""
    return [block.text for block in tokenize(html).blocks]


def test_the_recorded_libxml2_is_the_one_that_runs() -> None:
    """The installed libxml2 is the recorded one, because its repairs affect stored hashes.

    A new libxml2 needs a new TOKENIZER_VERSION.
    """
    assert etree.LIBXML_VERSION == LIBXML


@pytest.mark.parametrize(
    ("html", "blocks"),
    [
        ("plain text", ["plain text"]),
        ("<p>One <b>bold</b> word<p>Two", ["One bold word", "Two"]),
        ("<b>a</b> <i>b</i>", ["a b"]),
        ("a <!-- no tag --> b", ["a b"]),
        ("foo<wbr>bar<img>baz", ["foobarbaz"]),
        ("one<br>two<hr>three", ["one", "two", "three"]),
        ("<my-tag>one</my-tag>two", ["one", "two"]),
        ("<table><tr><td>a<th>b<tr><td>c</table>", ["a", "b", "c"]),
        ("<ul><li>a<li>b</ul><dl><dt>c<dd>d</dl>", ["a", "b", "c", "d"]),
        ("a\N{NO-BREAK SPACE}\n\t b&#x1F;c", ["a b c"]),
        ("<p> \n </p>&nbsp;", []),
        ("<p>1 | 2", ["1 | 2"]),
        ("a\0b", ["ab"]),
        ("a &lt b &amp; c < d &unknown; e", ["a < b & c < d &unknown; e"]),
        ("x</body></html>after", ["x", "after"]),
        ("cut <p>in mid<a href='", ["cut", "in mid"]),
    ],
)
def test_text_is_split_at_every_tag_that_is_not_inline(html: str, blocks: list[str]) -> None:
    """Every tag that is not inline ends a block.

    White space collapses, and a block of only white space is dropped.
    """
    assert texts(html) == blocks


@pytest.mark.parametrize(
    "tag",
    [
        "script",
        "style",
        "noscript",
        "template",
        "svg",
        "math",
        "textarea",
        "select",
        "iframe",
        "object",
        "canvas",
        "title",
        "noembed",
        "noframes",
    ],
)
def test_what_is_no_text_is_dropped_with_its_content(tag: str) -> None:
    """An element that contains no text of the page is dropped, and ends the block before it."""
    assert texts(f"<p>a<{tag}><i>x</i></{tag}>b") == ["a", "b"]


def test_dropped_elements_nest() -> None:
    """Text after an inner dropped element is dropped too, until the outer element ends."""
    assert texts("<template><template>x</template>y</template>z") == ["z"]


def test_a_pre_keeps_its_lines_and_inner_spaces() -> None:
    """A <pre> keeps its lines and spaces; only blank lines at its start and end are dropped."""
    html = "<pre>\n\n  if x:\r\n      <b>y</b>  z<br>end \n\n</pre>"
    assert texts(html) == ["  if x:\n      y  z\nend"]


def test_a_block_knows_where_it_stands() -> None:
    """Each block has an element, a heading level and a hidden flag.

    Elements that contain no block are left out of the result.
    """
    page = tokenize(
        "<body><nav><div></div></nav><main class='wide post-77' id=top><h2><div>A</div></h2>"
        "<section hidden><p>B</p></section><p>C"
    )
    assert [(e.tag, e.parent, e.tokens) for e in page.elements] == [
        ("html", -1, ()),
        ("body", 0, ()),
        ("main", 1, ("wide", "#top")),
        ("h2", 2, ()),
        ("div", 3, ()),
        ("section", 2, ()),
        ("p", 5, ()),
        ("p", 2, ()),
    ]
    assert [(b.text, b.element, b.heading, b.hidden) for b in page.blocks] == [
        ("A", 4, 2, False),
        ("B", 6, 0, True),
        ("C", 7, 0, False),
    ]


@pytest.mark.parametrize(
    ("html", "shares"),
    [
        ("<li> <a>One</a> </li>", [1]),
        ("<li>no link</li>", [0]),
        ("<li><a>One</a> story, <a>two</a></li>", [0.5]),
        ("<a><h3>One</h3><p>Two</p>three</a> <p>four", [1, 1, 1, 0]),
        ("<p>ab <a>c<p>d</a>e", [0.33, 1, 0]),
    ],
)
def test_a_block_knows_how_much_of_it_is_linked(html: str, shares: list[float]) -> None:
    """The link share of a block is the share of its characters in links, without white space."""
    assert [block.link_share for block in tokenize(html).blocks] == shares


def test_a_page_says_who_it_is() -> None:
    """A page's title, language, canonical link and author are read; a second title is ignored.

    A title inside <svg> and a link inside <noscript> are ignored too.
    """
    page = tokenize(
        "<html lang=sl><svg><title>Icon</title></svg><title> The &amp;\n title </title>"
        "<title>Other</title><noscript><link rel=canonical href=/no></noscript>"
        "<link rel='nofollow Canonical' href=' /story '><meta name=Author content='A  B'>"
        '<script type="application/ld+json; charset=utf-8">{"a": "<p>"}</script>'
    )
    assert page.title == "The & title"
    assert (page.language, page.canonical, page.author) == ("sl", "/story", "A B")
    assert page.json_ld == ('{"a": "<p>"}',)
    assert page.blocks == ()


def test_json_ld_is_bounded() -> None:
    """A JSON-LD body that would exceed the limit for all bodies is dropped completely."""
    sizes = [MAX_JSON_LD - 10, 11, 10]
    scripts = [f'<script type="application/ld+json">{"x" * size}</script>' for size in sizes]
    assert [len(body) for body in tokenize("".join(scripts)).json_ld] == [sizes[0], sizes[2]]


def test_blocks_beyond_the_cap_are_counted() -> None:
    """Blocks beyond MAX_BLOCKS are only counted, so that the memory for a page is bounded."""
    page = tokenize("<p>x" * (MAX_BLOCKS + 5))
    assert (len(page.blocks), page.blocks_over_cap) == (MAX_BLOCKS, 5)


def test_text_is_never_decoded_again() -> None:
    """A charset in a page that is given as text is ignored; for bytes the HTTP header counts."""
    html = "<meta charset=iso-8859-2><meta http-equiv=content-type content='a; charset=utf-16'>žá漢"
    assert texts(html) == ["žá漢"]
    assert texts("\ud800") == ["\N{REPLACEMENT CHARACTER}"]
    page = tokenize("<p>ž".encode("iso-8859-2"), "text/html; charset=iso-8859-2")
    assert page.blocks[0].text == "ž"


@pytest.mark.parametrize("html", ["", " ", b"", "\0", "<", "<!-- ", "<script>", "</p>"])
def test_a_page_without_text_has_no_blocks(html: str | bytes) -> None:
    """A page without text causes no error and has no blocks, or only the block `<`."""
    assert [block.text for block in tokenize(html).blocks] in ([], ["<"])


@pytest.mark.parametrize("tag", ["div", "p", "b", "a", "td", "table><tr><td", "ul><li", "x-y"])
def test_deep_and_unclosed_tags_lose_no_text(tag: str) -> None:
    """With 50,000 levels all text is kept or counted, and the number of elements is bounded."""
    page = tokenize(f"<{tag}>x" * 50_000)
    assert sum(len(block.text) for block in page.blocks) + page.blocks_over_cap == 50_000
    assert len(page.elements) <= MAX_DEPTH + MAX_BLOCKS


def test_an_element_beyond_the_depth_counts_as_the_deepest() -> None:
    """Text below the depth limit belongs to the deepest element; later text has its own path."""
    page = tokenize(f"{'<div>' * 600}deep{'</div>' * 599}<h1>shallow")
    deep, shallow = page.blocks
    assert deep.element == MAX_DEPTH - 1
    assert page.elements[shallow.element] == ("h1", 2, ())


@pytest.mark.parametrize("character", ["word ", "é", "&", "\0", "\x01"])
def test_a_text_of_ten_megabytes_is_one_block(character: str) -> None:
    """A text of 10 MB is kept, except for NULs, which browsers drop too."""
    text = character * (10_000_000 // len(character.encode()))
    assert "".join(texts(text)) == text.replace("\0", "").strip()
