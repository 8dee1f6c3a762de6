"""Reader for the layout of Kovačič's thesis: pages, gold, and a table that connects them.

    meta.yaml            - id: '763'
                           raw: 763.html
                           raw_encoding: iso8859-1
                           clean: 763.txt
                           clean_encoding: utf-8
                           meta: {title: "A title", id: "http://site.example/763"}
    raw/763.html         the page, possibly in CleanEval's wrapper
    clean/763.txt        its gold: plain, or with CleanEval's marks; .html has L3S-GN1's spans

Only `raw` is required. If `id` is missing, the id is the name of the raw file without its suffix.
If `clean` is missing, null or empty, the page has no gold. The fields `url`, `title`, `published`
and `domain` (a label) are read from the entry or, if the entry lacks them, from `meta`. If there is
no `url`, and the `id` in `meta` is a URL, this `id` is used; the thesis' copy of CleanEval has such
ids. Other fields are ignored. If no encoding is stated, a raw file is decoded like a page from the
web, and a clean file is decoded as UTF-8.

Source: Kovačič, "Evaluating web content extraction algorithms", section 4.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from urltree.html.encoding import scrub
from urltree_evaluation.corpora.address import page_address
from urltree_evaluation.corpora.cleaneval import remove_marks, unwrap
from urltree_evaluation.corpora.corpus_files import (
    CorpusError,
    decode_strictly,
    read_bytes,
    read_text,
)
from urltree_evaluation.corpora.l3s_gn1 import annotated_gold
from urltree_evaluation.corpus import CorpusPage

_ANNOTATED = {".html", ".htm"}


class _Loader(yaml.SafeLoader):
    """A YAML loader that also accepts tags of Python 2, such as `!!python/unicode`."""


def _scalar(loader: _Loader, node: yaml.ScalarNode) -> str:
    return str(loader.construct_scalar(node))


for _tag in ("unicode", "str"):
    _Loader.add_constructor(f"tag:yaml.org,2002:python/{_tag}", _scalar)


def read(folder: Path) -> Iterator[CorpusPage]:
    """Yield the pages of the folder, in the order of meta.yaml.

    Raises:
        CorpusError: a file cannot be read, or an entry of meta.yaml is invalid.
    """
    file = folder / "meta.yaml"
    for number, entry in enumerate(_entries(file), start=1):
        where = f"{file}: entry {number}"
        if not isinstance(entry, Mapping):
            raise CorpusError(f"{where}: must be a mapping, but is of type {type(entry).__name__}")
        yield _page(entry, where, folder)


def _entries(file: Path) -> list[Any]:
    try:
        entries = yaml.load(read_text(file, "utf-8"), _Loader)  # noqa: S506 - derived from SafeLoader
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date that does not exist
        raise CorpusError(f"{file}: not valid YAML: {error}") from error
    if not isinstance(entries, list):
        raise CorpusError(
            f"{file}: must be a list of pages, but is of type {type(entries).__name__}"
        )
    return entries


def _page(fields: Mapping[Any, Any], where: str, folder: Path) -> CorpusPage:
    entry = _Entry(fields, where)
    raw = entry.text("raw")
    if raw is None:
        raise CorpusError(f"{where}: raw is missing; it is required")
    identifier = entry.text("id") or Path(raw).stem
    try:
        html, url, title = _read_page(folder / "raw" / raw, entry.text("raw_encoding"))
        gold = _read_gold(folder / "clean", entry.text("clean"), entry.text("clean_encoding"))
    except CorpusError as error:
        raise CorpusError(f"{where}, id {identifier}: {error}") from error
    url, domain = page_address(entry.url() or url, entry.known("domain"))
    return CorpusPage(
        id=identifier,
        url=url,
        domain=domain,
        html=html,
        published=entry.known("published"),
        title=entry.known("title") or title,
        gold=gold,
    )


def _read_page(file: Path, encoding: str | None) -> tuple[str, str, str | None]:
    """Return a page's HTML, and the URL and title of its CleanEval wrapper."""
    page = unwrap(read_bytes(file))
    html = decode_strictly(page.html, encoding, str(file)) if encoding else page.text()
    return html, page.url, page.title


def _read_gold(folder: Path, name: str | None, encoding: str | None) -> str | None:
    if name is None:
        return None
    file = folder / name
    text = read_text(file, encoding or "utf-8")
    if file.suffix.lower() in _ANNOTATED:
        return annotated_gold(text, str(file)).text
    return remove_marks(text)


class _Entry:
    """Checked access to the texts of an entry of meta.yaml."""

    def __init__(self, entry: Mapping[Any, Any], where: str) -> None:
        meta = entry.get("meta") or {}
        if not isinstance(meta, Mapping):
            raise CorpusError(
                f"{where}: meta must be a mapping, but is of type {type(meta).__name__}"
            )
        self._entry, self._meta, self._where = entry, meta, where

    def text(self, name: str, *, is_meta: bool = False) -> str | None:
        """Return a field as text; a number or a date that YAML has parsed is converted to text."""
        value = (self._meta if is_meta else self._entry).get(name)
        if isinstance(value, date):
            return value.isoformat()
        if isinstance(value, str | int | None) and not isinstance(value, bool):
            return None if value in {None, ""} else scrub(str(value))
        kind = type(value).__name__
        raise CorpusError(f"{self._where}: {name} must be a text, but is of type {kind}")

    def known(self, name: str) -> str | None:
        """Return a field of the entry or, if the entry lacks it, of its `meta`."""
        return self.text(name) or self.text(name, is_meta=True)

    def url(self) -> str | None:
        """Return the URL of the page."""
        identifier = self.text("id", is_meta=True) or ""
        return self.known("url") or (identifier if "://" in identifier else None)
