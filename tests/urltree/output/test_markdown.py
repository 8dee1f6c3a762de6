"""Markdown of a page: its form, and that a parser reads exactly the text of the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.urltree.builders import document
from urltree.document import Document, kept_text
from urltree.html.tokenizer import tokenize
from urltree.output.markdown import markdown
from urltree.output.markdown.structure import MAX_CONTAINERS
from urltree.output.markdown.tables import MAX_CELL_BLOCKS

GITHUB = MarkdownIt("commonmark").enable(["table", "strikethrough"])
# all tags that become Markdown markup, and some that do not
TAGS = (
    *("article", "div", "p", "section", "b", "h1", "h2", "h6", "blockquote", "pre", "figure"),
    *("ul", "ol", "menu", "li", "dl", "dt", "dd", "figcaption"),
    *("table", "caption", "tbody", "tr", "td", "th"),
)
MARKUP = st.text("\\`*_[](){}#+-.!|<>&~=:;\"'/$@^ \n\r\tab1ä—", max_size=12)
FRAGMENTS = (
    *("---", "***", "===", "1. a", "2) b", "- ", "+", "# a #", "> a", "```", "~~~~", "| a | b |"),
    *("|---|---|", ":-: | -", "[a](b)", "[a]: b", "![a](b)", "<b>", "<!--", "</p>", "<a@b.c>"),
    *(
        "a #",
        "a ##",
        "#",
        "``` a",
        "a | b",
        "<https://a.b>",
        "&amp;",
        "&#35;",
        "a\\",
        "\\|",
        "**a**",
        "__a__",
        "a_b_c",
        "~~a~~",
        "`a`",
    ),
)
TEXTS = MARKUP | st.sampled_from(FRAGMENTS)


def read(html: str) -> Document:
    """Return the document that is made of a page."""
    page = tokenize(html)
    return replace(document(1, []), blocks=page.blocks, elements=page.elements)


def of(html: str) -> str:
    """Return the Markdown of a page if all its blocks are kept."""
    page = read(html)
    return markdown(page, [False] * len(page.blocks))


def text_of(tokens: Sequence[Token]) -> Iterator[str]:
    """Return the texts that a reader of the Markdown sees; fail for tokens that are not text."""
    for token in tokens:
        if token.type == "fence":
            yield token.content
        elif token.type == "inline":
            yield "".join(map(_text_of_inline, token.children or ()))
        else:
            assert token.type not in {"html_block", "code_block", "hr"}
            assert not token.content


def _text_of_inline(token: Token) -> str:
    if token.type == "text":
        return token.content
    allowed = {"hardbreak", "strong_open", "strong_close", "em_open", "em_close"}
    assert token.type in allowed, token
    return "\n" if token.type == "hardbreak" else ""


def words(text: str) -> list[str]:
    """Return the words of a text, without white space."""
    return text.split()


@st.composite
def pages(draw: st.DrawFn) -> str:
    """Generate a page of nested elements, with texts that look like markup."""
    inner = st.recursive(
        TEXTS.map(escape),
        lambda inner: st.tuples(st.sampled_from(TAGS), st.lists(inner, max_size=5)).map(
            lambda made: f"<{made[0]}>{'<br>'.join(made[1])}</{made[0]}>"
        ),
        max_leaves=25,
    )
    return "".join(draw(st.lists(inner, max_size=6)))


CONTEXTS = {
    "paragraph": "<p>{}</p><p>{}</p>",
    "next line": "<p>a | b<br>{}</p>",
    "heading": "<h2>{}</h2>",
    "items": "<ol><li>{}<ul><li>{}<li>{}<p>{}</ul></ol>",
    "quote": "<blockquote>{}<p>{}</blockquote>",
    "cells": "<table><tr><td>{}<td>{}<tr><td>{}<p>{}<td>{}</table>",
    "definitions": "<dl><dt>{}<dd>{}</dl>",
    "caption": "<figure><figcaption>{}<br>{}</figcaption></figure>",
    "code": "<ul><li><pre>{}\n{}</pre></ul><pre><div>{}</div>{}</pre>",
}


@pytest.mark.parametrize("context", CONTEXTS.values(), ids=CONTEXTS)
def test_what_looks_like_markup_is_text_wherever_it_stands(context: str) -> None:
    """A text that looks like markup is read as text, in each kind of block."""
    for fragment in FRAGMENTS:
        page = read(context.replace("{}", escape(fragment)))
        kept = [False] * len(page.blocks)
        tokens = GITHUB.parse(markdown(page, kept))
        assert words("\n".join(text_of(tokens))) == words(kept_text(page, kept)), fragment


@settings(deadline=None)
@given(pages(), st.data())
def test_a_parser_reads_the_kept_text_and_nothing_else(html: str, data: st.DataObject) -> None:
    """A parser reads exactly the kept text: no text becomes markup or a link, and none is lost."""
    page = read(html)
    count = len(page.blocks)
    boilerplate = data.draw(st.lists(st.booleans(), min_size=count, max_size=count))
    tokens = GITHUB.parse(markdown(page, boilerplate))
    assert words("\n".join(text_of(tokens))) == words(kept_text(page, boilerplate))


SHAPES = {
    "headings by level": ("<h1>One<br>two</h1><h3>Three</h3>", "# One two\n\n### Three"),
    "lines of a paragraph": ("<p>One<br>two</p><p>Three</p>", "One\\\ntwo\n\nThree"),
    "paragraphs of a div": ("<div>One<br><br>Two</div>", "One\n\nTwo"),
    "lists in lists": (
        "<ul><li>a<ol><li>b<li>c</ol><li><p>d<p>e</ul>",
        "- a\n  1. b\n  2. c\n- d\n\n  e",
    ),
    "a list after a list": (
        "<ul><li>a</ul><ul><li>b</ul><ol><li>c</ol><ol><li>d</ol>",
        "- a\n\n* b\n\n1. c\n\n1) d",
    ),
    "an item without a list": ("<div><li>a<li>b</div>", "- a\n- b"),
    "a number within an item": (
        "<ul><li>a<ol><li>b<p>c</p></ol>d<ol><li>e</ol></ul>",
        "- a\n  1. b\n\n     c\n\n  d\n  1. e",
    ),
    "definitions": (
        "<dl><dt>One<dd>a<dd>b</dd><dt>Two<dd>c</dl>",
        "**One**\n\n- a\n- b\n\n**Two**\n\n- c",
    ),
    "quotes in quotes": (
        "<blockquote><p>a<blockquote>b</blockquote>c</blockquote><blockquote>d</blockquote>",
        "> a\n>\n> > b\n>\n> c\n\n> d",
    ),
    "code, its language": (
        '<pre class="language-Python">a\n\n  b</pre>',
        "```python\na\n\n  b\n```",
    ),
    "code that a wrapper names": (
        '<div class="highlight-source-c++"><pre><div>a</div><div>b</div></pre></div>',
        "```c++\na\nb\n```",
    ),
    "code with fences": ("<pre>```\na ```` b</pre>", "`````\n```\na ```` b\n`````"),
    "code in an item": ("<ul><li><pre>a\n\nb</pre></ul>", "- ```\n  a\n\n  b\n  ```"),
    "a caption": ("<figure><img><figcaption>a * b</figcaption></figure>", "*a \\* b*"),
    "a table": (
        "<table><caption>T</caption><tr><th>a<th>b<tr><td>1|2<td><p>3<p>4<tr><td>5</table>",
        "*T*\n\n| a | b |\n| --- | --- |\n| 1\\|2 | 3 4 |\n| 5 |",
    ),
    "a table without its corner": (
        "<table><tr><td><th>a<tr><th>b<td>c</table>",
        "|  | a |\n| --- | --- |\n| b | c |",
    ),
    "a table of one row": ("<table><tr><td>a<td>b</table>", "a\n\nb"),
    "a table that lays out": (
        "<table><tr><td>a<td>b<tr><td>c<td><h2>d</h2></table>",
        "a\n\nb\n\nc\n\n## d",
    ),
    "a table in a table": (
        "<table><tr><td>a<td><table><tr><td>b<td>c<tr><td>d<td>e</table><tr><td>f</table>",
        "a\n\n| b | c |\n| --- | --- |\n| d | e |\n\nf",
    ),
}


@pytest.mark.parametrize(("html", "expected"), SHAPES.values(), ids=SHAPES)
def test_structure_becomes_markdown(html: str, expected: str) -> None:
    """The structure of a page becomes Markdown, in the order of the page."""
    assert of(html) == expected


def test_what_is_boilerplate_is_not_there() -> None:
    """Boilerplate is left out.

    The kept items of a list are numbered from one, and a dropped table cell stays empty.
    """
    page = read("<ol><li>a<li>b<li>c</ol><table><tr><td>d<td>e<tr><td>f<td>g</table>")
    boilerplate = [block.text in "af" for block in page.blocks]
    assert markdown(page, boilerplate) == "1. b\n2. c\n\n| d | e |\n| --- | --- |\n|  | g |"


def test_what_is_no_markup_is_not_escaped() -> None:
    """Characters that are no markup in their place are not escaped, to keep the text readable."""
    text = "snake_case AT&T a < b #tag 1.5 -5 C:\\dir a|b (c) x! $5 2+2=4"
    assert of(f"<p>{escape(text)}") == text


def test_a_cell_of_many_blocks_is_no_cell() -> None:
    """A table with a cell of many blocks is no table in Markdown.

    Such a table only lays out the page.
    """
    row = "<tr><td>a<td>b"
    long = "<tr><td>c<td>" + "<p>d" * (MAX_CELL_BLOCKS + 1)
    assert "|" in of(f"<table>{row}{row}</table>")
    assert "|" not in of(f"<table>{row}{long}</table>")


def test_nesting_is_bounded() -> None:
    """At most MAX_CONTAINERS levels of a page are indented, so that lines stay short."""
    depth = 200
    found = of("<blockquote>" * depth + "a<br>" * depth)
    assert found.split("\n") == ["> " * MAX_CONTAINERS + "a", ">" + " >" * 7] * (depth - 1) + [
        "> " * MAX_CONTAINERS + "a"
    ]


def test_a_row_is_filled_up_by_its_reader() -> None:
    """Short rows of a table get no extra cells, so that the size of the Markdown stays linear."""
    page = "<table><tr>" + "<td>a" * 1000 + "<tr><td>b" * 1000 + "</table>"
    assert len(of(page)) < 2 * len(page)


def test_a_verdict_of_another_page_is_a_bug() -> None:
    """A verdict whose number of blocks differs from that of the page raises ValueError."""
    with pytest.raises(ValueError, match="argument"):
        markdown(read("<p>a"), [False, False])
