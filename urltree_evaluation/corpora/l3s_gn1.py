"""Reader for L3S-GN1: 621 news pages, and the same pages with content marked by spans.

    original/ID.html     the page
    annotated/ID.html    <span class="x-nc-sel1">Headline</span> <span class="x-nc-sel2">Text …
    url-mapping.txt      <urn:uuid:ID> URL        one line a page

The number in the class of a span means: 0 not content, 1 headline, 2 full text, 3 supplemental,
4 related content, 5 comments. The gold is the text of the classes 1 and 2 in the order of the page,
one line for each block. If spans are nested, the innermost span decides, so comments inside a full
text are not gold.

Source: Kohlschütter, Fankhauser, Nejdl, "Boilerplate detection using shallow text features", WSDM
2010, and the README of the data. Kovačič, section 4.2, uses the same two classes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from urltree.html.elements import DROPPED, INLINE
from urltree.html.encoding import decode_html, scrub
from urltree.html.parser import parse_html
from urltree.page import PageError
from urltree_evaluation.corpora.address import page_address
from urltree_evaluation.corpora.corpus_files import CorpusError, read_bytes
from urltree_evaluation.corpus import CorpusPage

_CLASS = re.compile(r"(?:^|\s)x-nc-sel(\d)(?:\s|$)")
_MAPPING = re.compile(r"<urn:uuid:([^>\s]+)>\s+(\S+)")
_HEADLINE, _FULL_TEXT = 1, 2
_NOT_CONTENT = 0


class AnnotatedGold(NamedTuple):
    """The gold that annotators marked in a page.

    Attributes:
        text: headline and full text, one line for each block.
        headline: first line of the headline; None if no headline is marked.
    """

    text: str
    headline: str | None


def annotated_gold(html: str, where: str) -> AnnotatedGold:
    """Return the headline and the full text of an annotated page.

    Raises:
        CorpusError: the markup is too large.
    """
    try:
        lines: list[tuple[int, str]] = parse_html(html.replace("\0", "").encode(), _Target())
    except PageError as error:
        raise CorpusError(f"{where}: {error.message}") from error
    headlines = [line for mark, line in lines if mark == _HEADLINE]
    return AnnotatedGold("\n".join(line for _, line in lines), headlines[0] if headlines else None)


def read(folder: Path) -> Iterator[CorpusPage]:
    """Yield the pages of the folder, ordered by id.

    Raises:
        CorpusError: a file cannot be read, or an annotated page has no original.
    """
    originals, annotated = folder / "original", folder / "annotated"
    urls = _read_urls(folder / "url-mapping.txt")
    for file in sorted(annotated.glob("*.html")):
        if not (originals / file.name).exists():
            raise CorpusError(
                f"{file}: the original of this page, {originals / file.name}, does not exist"
            )
    for file in sorted(originals.glob("*.html")):
        yield _page(file, annotated / file.name, urls.get(file.stem))


def _page(file: Path, annotated: Path, url: str | None) -> CorpusPage:
    page = CorpusPage(file.stem, *page_address(url), _read_decoded(file))
    if not annotated.exists():
        return page
    gold, title = annotated_gold(_read_decoded(annotated), str(annotated))
    return replace(page, title=title, gold=gold)


def _read_decoded(file: Path) -> str:
    return scrub(decode_html(read_bytes(file)))


def _read_urls(file: Path) -> dict[str, str]:
    if not file.exists():
        return {}
    lines = read_bytes(file).decode("utf-8", "replace").splitlines()
    found = (_MAPPING.match(line) for line in lines)
    return {match[1]: match[2] for match in found if match}


class _Target:
    """A handler of parser events that collects the class and the text of each line of gold."""

    def __init__(self) -> None:
        self._classes = [_NOT_CONTENT]  # class of each open element, the innermost last
        self._lines: list[tuple[int, str]] = []
        self._line: list[str] = []
        self._line_class = _NOT_CONTENT

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag not in INLINE:
            self._end_line()
        found = _CLASS.search(attributes.get("class", ""))
        inherited = int(found[1]) if found else self._classes[-1]
        self._classes.append(_NOT_CONTENT if tag in DROPPED else inherited)

    def end(self, tag: str) -> None:
        if tag not in INLINE:
            self._end_line()
        self._classes.pop()

    def data(self, text: str) -> None:
        here = self._classes[-1]
        if here not in {_HEADLINE, _FULL_TEXT}:
            self._line.append(" ")  # text between two spans separates words
            return
        if here != self._line_class:
            self._end_line()
        self._line_class = here
        self._line.append(text)

    def close(self) -> list[tuple[int, str]]:
        self._end_line()
        return self._lines

    def _end_line(self) -> None:
        text = " ".join("".join(self._line).split())
        if text:
            self._lines.append((self._line_class, text))
        self._line.clear()
