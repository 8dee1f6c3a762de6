"""Bodies of articles: what a newspaper, a blog, a magazine, manuals and a forum write like."""

from __future__ import annotations

from demo.sites.article import Part
from demo.sites.writer import Writer


def report(writer: Writer) -> tuple[Part, ...]:
    """A newspaper's report: a lead, then paragraphs below one or two headings, a voice."""
    voice = Part("blockquote", (writer.sentences(1, 2),))
    return (
        *writer.paragraphs(2, 3),
        writer.heading(),
        *writer.paragraphs(2, 4),
        voice,
        writer.heading(),
        *writer.paragraphs(1, 3),
    )


def post(writer: Writer) -> tuple[Part, ...]:
    """A blogger's post: long paragraphs, a list of things, a last word."""
    things = Part("ul", tuple(writer.sentences(1, 1) for _ in range(writer.between(3, 5))))
    return (*writer.paragraphs(2, 5), writer.heading(), *writer.paragraphs(1, 3), things, *last())


def last() -> tuple[Part, ...]:
    """What the blogger signs each post with: part of the text, and yet on every page."""
    return (Part("p", ("À très vite, Léa",)),)


def advice(writer: Writer) -> tuple[Part, ...]:
    """A magazine's advice: steps to follow, between paragraphs."""
    steps = Part("ol", tuple(writer.sentences(1, 2) for _ in range(writer.between(4, 6))))
    return (*writer.paragraphs(1, 2), steps, writer.heading(), *writer.paragraphs(2, 4))


def manual(writer: Writer) -> tuple[Part, ...]:
    """A page of a manual: code with its line breaks, a table of options."""
    option = [word.lower() for word in writer.words(3, 3)]
    code = "\n".join((f"[{option[0]}]", *(f"{name} = {len(name) * 8}" for name in option[1:])))
    cells = [cell for name in option for cell in (f"{option[0]}.{name}", writer.sentence())]
    return (
        writer.paragraph(),
        Part("pre", (code,)),
        *writer.paragraphs(1, 2),
        writer.heading(),
        Part("table", tuple(cells)),
        *writer.paragraphs(1, 2),
    )


def question(writer: Writer) -> tuple[Part, ...]:
    """What opens a thread: a few paragraphs, sometimes a list of what was tried."""
    tried = Part("ul", tuple(writer.sentences(1, 1) for _ in range(writer.between(2, 4))))
    return (*writer.paragraphs(2, 4), tried, *writer.paragraphs(0, 1))
