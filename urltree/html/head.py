"""Read the metadata of a page: title, language, canonical URL, author and JSON-LD."""

from __future__ import annotations

from collections.abc import Mapping

MAX_JSON_LD = 256 * 1024  # bytes of all JSON-LD scripts of a page together


class HeadReader:
    """A reader of the metadata of `TokenizedPage`; it keeps the first value of each field."""

    def __init__(self) -> None:
        self.title: str | None = None
        self.language: str | None = None
        self.canonical: str | None = None
        self.author: str | None = None
        self.json_ld: list[str] = []
        self._json_ld_left = MAX_JSON_LD

    def read(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Read the attributes of an `html`, `link` or `meta` element."""
        if tag == "html":
            self.language = self.language or attributes.get("lang") or attributes.get("xml:lang")
        elif tag == "link" and "canonical" in attributes.get("rel", "").lower().split():
            self.canonical = self.canonical or attributes.get("href", "").strip() or None
        elif tag == "meta" and attributes.get("name", "").lower() == "author":
            self.author = self.author or " ".join(attributes.get("content", "").split()) or None

    def read_body(self, tag: str, attributes: Mapping[str, str], body: str) -> None:
        """Read the text of a `title` or a JSON-LD `script`, which are not split into blocks."""
        if tag == "title" and self.title is None:
            self.title = " ".join(body.split())
        elif tag == "script" and "ld+json" in attributes.get("type", "").lower():
            size = len(body.encode())
            if size <= self._json_ld_left:
                self._json_ld_left -= size
                self.json_ld.append(body)
