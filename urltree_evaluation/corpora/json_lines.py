r"""Corpora as JSON Lines, one page a line; also compressed by gzip or zstd.

    {"url": "https://site.example/a", "title": "A", "html": "<html>…", "gold": "A\nText …"}
    {"url": "", "domain": "site", "html": "<html>…", "with": ["must be"], "without": ["must not"]}

`html` alone is required. Without `id` a page is named by its file and its number there: "site/17".
Where a text is not known it is null, empty or absent; an empty `gold` is gold: nothing should come
out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from urltree.html.encoding import scrub
from urltree.page import PageError
from urltree.reading.json_lines import read_json_lines
from urltree.reading.stream import InputError, opened
from urltree_evaluation.corpora.address import page_address
from urltree_evaluation.corpora.corpus_files import CorpusError
from urltree_evaluation.corpus import CorpusPage

_NAME = re.compile(r"(?P<stem>.+)\.(?:jsonl|ndjson)(?:\.(?:gz|zst))?", re.IGNORECASE)


def stem(file: Path) -> str | None:
    """Name of a file without its suffixes; None where they are not those of JSON Lines."""
    match = _NAME.fullmatch(file.name)
    return match["stem"] if match else None


def read(file: Path) -> Iterator[CorpusPage]:
    """The pages of a file, in order, one at a time.

    Raises:
        CorpusError: the file cannot be read, or a line is no page.
    """
    try:
        with opened(str(file)) as stream:
            for number, record in enumerate(read_json_lines(stream, str(file)), start=1):
                if isinstance(record, PageError):
                    raise CorpusError(record.message)
                assert isinstance(record, Mapping)  # noqa: S101 - the reader's promise
                yield _page(record, number, file)
    except InputError as error:
        raise CorpusError(str(error)) from error


def _page(record: Mapping[str, Any], number: int, file: Path) -> CorpusPage:
    fields = _Fields(record, f"page {number} of {file}")
    html = fields.text("html")
    if html is None:
        raise CorpusError(f"{fields.where}: html: is missing")
    own = record.get("id")
    url, domain = page_address(fields.text("url"), fields.text("domain"))
    return CorpusPage(
        id=str(own) if isinstance(own, int) else fields.text("id") or f"{stem(file)}/{number}",
        url=url,
        domain=domain,
        html=html,
        published=fields.text("published") or None,
        title=fields.text("title") or None,
        gold=fields.text("gold"),
        gold_with=fields.texts("with"),
        gold_without=fields.texts("without"),
    )


class _Fields:
    """A record's texts, checked; lone surrogates become U+FFFD, for they cannot be written."""

    def __init__(self, record: Mapping[str, Any], where: str) -> None:
        self._record = record
        self.where = where

    def text(self, name: str) -> str | None:
        value = self._record.get(name)
        if value is None or isinstance(value, str):
            return value and scrub(value)
        raise CorpusError(f"{self.where}: {name}: should be a string, is {type(value).__name__}")

    def texts(self, name: str) -> tuple[str, ...]:
        values = self._record.get(name)
        if not isinstance(values, list | None) or not all(isinstance(v, str) for v in values or ()):
            raise CorpusError(f"{self.where}: {name}: should be a list of strings")
        return tuple(scrub(value) for value in values or ())
