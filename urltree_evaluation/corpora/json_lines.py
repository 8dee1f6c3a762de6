r"""Reader for JSON Lines, one page a line, optionally compressed by gzip or zstd.

    {"url": "https://site.example/a", "title": "A", "html": "<html>…", "gold": "A\nText …"}
    {"url": "", "domain": "site", "html": "<html>…", "with": ["must be"], "without": ["must not"]}

Only `html` is required. The id of a page without `id` is made of the file name and the line number:
"site/17". A field is unknown if it is null, empty or absent. `gold` is an exception: an empty
`gold` means that an extractor should return no text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from urltree.html.encoding import scrub
from urltree.page import PageError
from urltree.reading.json_lines import read_json_lines
from urltree.reading.stream import InputError, open_decompressed
from urltree_evaluation.corpora.address import page_address
from urltree_evaluation.corpora.corpus_files import CorpusError
from urltree_evaluation.corpus import CorpusPage

_NAME = re.compile(r"(?P<stem>.+)\.(?:jsonl|ndjson)(?:\.(?:gz|zst))?", re.IGNORECASE)


def stem(file: Path) -> str | None:
    """Return the name of a file without its suffixes, or None if it is not a JSON Lines file."""
    match = _NAME.fullmatch(file.name)
    return match["stem"] if match else None


def read(file: Path) -> Iterator[CorpusPage]:
    """Yield the pages of a file, in order.

    Raises:
        CorpusError: the file cannot be read, or a line is not a page.
    """
    try:
        with open_decompressed(str(file)) as stream:
            for number, record in enumerate(read_json_lines(stream, str(file)), start=1):
                if isinstance(record, PageError):
                    raise CorpusError(record.message)
                assert isinstance(record, Mapping)  # noqa: S101 - records are errors or mappings
                yield _page(record, number, file)
    except InputError as error:
        raise CorpusError(str(error)) from error


def _page(record: Mapping[str, Any], number: int, file: Path) -> CorpusPage:
    fields = _Fields(record, f"page {number} of {file}")
    html = fields.text("html")
    if html is None:
        raise CorpusError(f"{fields.where}: html is missing; it is required")
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
    """Checked access to the texts of a record.

    Lone surrogates become U+FFFD, because UTF-8 cannot encode them.
    """

    def __init__(self, record: Mapping[str, Any], where: str) -> None:
        self._record = record
        self.where = where

    def text(self, name: str) -> str | None:
        value = self._record.get(name)
        if value is None or isinstance(value, str):
            return value and scrub(value)
        raise CorpusError(
            f"{self.where}: {name} must be a string, but is of type {type(value).__name__}"
        )

    def texts(self, name: str) -> tuple[str, ...]:
        values = self._record.get(name)
        if not isinstance(values, list | None) or not all(isinstance(v, str) for v in values or ()):
            raise CorpusError(f"{self.where}: {name} must be a list of strings")
        return tuple(scrub(value) for value in values or ())
