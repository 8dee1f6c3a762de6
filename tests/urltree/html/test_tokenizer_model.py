"""The tokenizer: it is compared with a simple model, and tested on generated input."""

from hypothesis import given
from hypothesis import strategies as st
from lxml import html as lxml_html

from urltree.html.blocks import block_hash
from urltree.html.tokenizer import tokenize

DELIMITING = ("div", "section", "blockquote", "article", "x-box")
INLINE = ("b", "span", "a", "em")
DROPPED = ("svg", "object", "canvas")

words = st.sampled_from(["one", "two ", " three", " ", "\n", "žá", "4 & <5"])
markup = st.recursive(
    words.map(lambda word: word.replace("&", "&amp;").replace("<", "&lt;")),
    lambda inner: st.builds(
        "<{0}>{1}</{0}>".format,
        st.sampled_from(DELIMITING + INLINE + DROPPED),
        st.lists(inner, max_size=4).map("".join),
    ),
    max_leaves=20,
)
tags = st.sampled_from([*DELIMITING, *INLINE, *DROPPED, "p", "li", "td", "table", "br", "pre", "h1",
                        "html", "body", "head", "title", "script", "select", "form"])  # fmt: skip
soup = st.lists(
    st.one_of(tags.map("<{}>".format), tags.map("</{}>".format), words, st.text(max_size=5))
).map("".join)


def by_the_tree(page: str) -> list[str]:
    """Return the blocks of simple markup, found by a walk over the tree of lxml."""
    pieces: list[str] = []

    def walk(element: lxml_html.HtmlElement) -> None:
        end = "" if element.tag in INLINE else "\x00"
        pieces.append(end)
        if element.tag not in DROPPED:
            pieces.append(element.text or "")
            for child in element:
                walk(child)
        pieces.extend((end, element.tail or ""))

    walk(lxml_html.document_fromstring(f"<html><body>{page}</body></html>"))
    return [text for block in "".join(pieces).split("\x00") if (text := " ".join(block.split()))]


@given(st.lists(markup, max_size=5).map("".join))
def test_blocks_are_those_that_a_walk_over_the_tree_finds(page: str) -> None:
    """The tokenizer finds the same blocks as a walk over the tree of lxml."""
    page = f"<div>{page}</div>"
    assert [block.text for block in tokenize(page).blocks] == by_the_tree(page)


@given(st.one_of(st.text(), st.binary(), soup))
def test_every_input_has_a_result_that_holds_together(page: str | bytes) -> None:
    """Any input gives blocks with the hashes of their texts, and elements with a valid parent."""
    blocks, elements, *_ = tokenize(page)
    for block in blocks:
        assert block.text.strip()
        assert block.hash == block_hash(block.text)
        assert 0 <= block.link_share <= 1
        assert 0 <= block.element < len(elements)
    for index, element in enumerate(elements):
        assert -1 <= element.parent < index
