"""An article as its author wrote it, before a template wraps it in a page."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

Kind = Literal["p", "h2", "ul", "ol", "blockquote", "pre", "table"]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an article's body.

    Attributes:
        lines: one for each block element: items of a list, cells of a table, else a single one.
    """

    kind: Kind
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comment:
    """What a reader wrote under an article: never gold."""

    author: str
    posted: datetime
    text: str


@dataclass(frozen=True, slots=True)
class Article:
    """An article and what belongs to it.

    Attributes:
        number: unique within its site, rising with time.
        slug: its title as part of a URL.
        summary: what teasers on other pages say; not the first paragraph.
        parts: its body.
    """

    number: int
    section: str
    slug: str
    title: str
    author: str
    published: datetime
    summary: str
    parts: tuple[Part, ...]
    comments: tuple[Comment, ...] = ()
    tags: tuple[str, ...] = field(default=())

    @property
    def gold(self) -> str:
        """The title, then one line for each block element of the body."""
        return "\n".join((self.title, *(line for part in self.parts for line in part.lines)))
