"""The content of an article, before a template puts it into a page."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

PartKind = Literal["p", "h2", "ul", "ol", "blockquote", "pre", "table"]


@dataclass(frozen=True, slots=True)
class ArticlePart:
    """A part of an article's body.

    Attributes:
        kind: tag of the element.
        lines: a line for each block element: the items of a list, the cells of a table, else one
            line.
    """

    kind: PartKind
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comment:
    """A reader's comment below an article; it is not part of the gold."""

    author: str
    posted: datetime
    text: str


@dataclass(frozen=True, slots=True)
class Article:
    """An article with its metadata and comments.

    Attributes:
        number: number that is unique in its site and rises with time.
        slug: title as part of a URL.
        summary: text of teasers on other pages; not the first paragraph.
        parts: parts of the body.
    """

    number: int
    section: str
    slug: str
    title: str
    author: str
    published: datetime
    summary: str
    parts: tuple[ArticlePart, ...]
    comments: tuple[Comment, ...] = ()
    tags: tuple[str, ...] = field(default=())

    @property
    def gold(self) -> str:
        """The title, then a line for each block element of the body."""
        return "\n".join((self.title, *(line for part in self.parts for line in part.lines)))
