"""Read the author and description of an article from JSON-LD (schema.org)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

MAX_BYTES = 256 * 1024  # characters of all bodies together; the tokenizer limits bytes
_MAX_NAMES = 10
_ARTICLE = ("Article", "Posting", "Report")  # suffixes of schema.org's types of articles


class ArticleMetadata(NamedTuple):
    """The metadata of a page's article in JSON-LD.

    Attributes:
        author: names of the authors, separated by commas; None if there are none.
        description: description of the article; None if there is none.
    """

    author: str | None
    description: str | None


def read_article(bodies: Iterable[str]) -> ArticleMetadata:
    """Return the first author and the first description of the articles in JSON-LD scripts.

    Args:
        bodies: texts of the scripts. A text that is not JSON is skipped.
    """
    objects = list(_objects(bodies))
    by_id = {o["@id"]: o for o in objects if isinstance(o.get("@id"), str) and "name" in o}
    articles = [o for o in objects if _is_article(o)]
    authors = (_names(article.get("author"), by_id) for article in articles)
    descriptions = (article.get("description") for article in articles)
    return ArticleMetadata(
        next(filter(None, authors), None),
        next((text for text in descriptions if isinstance(text, str) and text.strip()), None),
    )


def _objects(bodies: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield every JSON object at any depth, in order; a stack avoids recursion in deep objects."""
    left = MAX_BYTES
    for body in bodies:
        left -= len(body)
        if left < 0:
            return
        try:
            stack: list[Any] = [json.loads(body, strict=False)]  # strings often contain newlines
        except (ValueError, RecursionError):
            continue
        while stack:
            value = stack.pop()
            if isinstance(value, dict):
                yield value
                stack.extend(reversed(value.values()))
            elif isinstance(value, list):
                stack.extend(reversed(value))


def _is_article(value: dict[str, Any]) -> bool:
    types = value.get("@type")
    names = types if isinstance(types, list) else [types]
    return any(isinstance(name, str) and name.endswith(_ARTICLE) for name in names)


def _names(author: Any, by_id: dict[str, dict[str, Any]]) -> str | None:
    """Return the names of the authors, separated by commas, or None if there are none.

    An author is a string, an object with a name, or a reference to an object with a name.
    """
    authors = author if isinstance(author, list) else [author]
    names = [name for each in authors[:_MAX_NAMES] if (name := _name(each, by_id))]
    return ", ".join(dict.fromkeys(names)) or None


def _name(author: Any, by_id: dict[str, dict[str, Any]]) -> str | None:
    if isinstance(author, dict):
        name = author.get("name")
        if name is None and isinstance(author.get("@id"), str):
            name = by_id.get(author["@id"], {}).get("name")
    else:
        name = author
    return " ".join(name.split()) if isinstance(name, str) else None
