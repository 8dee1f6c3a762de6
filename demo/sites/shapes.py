"""Bodies of articles in the styles of newspapers, blogs, magazines, manuals and forums."""

from __future__ import annotations

from demo.sites.article import ArticlePart
from demo.sites.writer import ArticleWriter


def news_report(writer: ArticleWriter) -> tuple[ArticlePart, ...]:
    """Write the body of a newspaper's report: paragraphs, two headings, and a quotation."""
    voice = ArticlePart("blockquote", (writer.sentences(1, 2),))
    return (
        *writer.paragraphs(2, 3),
        writer.heading(),
        *writer.paragraphs(2, 4),
        voice,
        writer.heading(),
        *writer.paragraphs(1, 3),
    )


def post(writer: ArticleWriter) -> tuple[ArticlePart, ...]:
    """Write the body of a blog post: long paragraphs, a list, a closing line."""
    things = ArticlePart("ul", tuple(writer.sentences(1, 1) for _ in range(writer.between(3, 5))))
    return (
        *writer.paragraphs(2, 5),
        writer.heading(),
        *writer.paragraphs(1, 3),
        things,
        *closing_line(),
    )


def closing_line() -> tuple[ArticlePart, ...]:
    """Return the blogger's closing line, which is content although every post has it."""
    return (ArticlePart("p", ("À très vite, Léa",)),)


def advice(writer: ArticleWriter) -> tuple[ArticlePart, ...]:
    """Write a magazine's advice: a list of steps between paragraphs."""
    steps = ArticlePart("ol", tuple(writer.sentences(1, 2) for _ in range(writer.between(4, 6))))
    return (*writer.paragraphs(1, 2), steps, writer.heading(), *writer.paragraphs(2, 4))


def manual(writer: ArticleWriter) -> tuple[ArticlePart, ...]:
    """Write a page of a manual: code with line breaks, a table of options."""
    option = [word.lower() for word in writer.words(3, 3)]
    code = "\n".join((f"[{option[0]}]", *(f"{name} = {len(name) * 8}" for name in option[1:])))
    cells = [cell for name in option for cell in (f"{option[0]}.{name}", writer.sentence())]
    return (
        writer.paragraph(),
        ArticlePart("pre", (code,)),
        *writer.paragraphs(1, 2),
        writer.heading(),
        ArticlePart("table", tuple(cells)),
        *writer.paragraphs(1, 2),
    )


def question(writer: ArticleWriter) -> tuple[ArticlePart, ...]:
    """Write the first post of a thread: a few paragraphs, and a list of attempts."""
    tried = ArticlePart("ul", tuple(writer.sentences(1, 1) for _ in range(writer.between(2, 4))))
    return (*writer.paragraphs(2, 4), tried, *writer.paragraphs(0, 1))
