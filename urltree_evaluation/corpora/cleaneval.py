"""Reader for CleanEval (2007) and later corpora in its format.

    en_original/763.html       <text id="URL" title="…" encoding="iso-8859-1"> page </text>
    en_cleaned/763-cleaned.txt  URL: …      at the top of some files
                                <h>Heading
                                <p>Paragraph, whose lines may be
                                broken
                                <l>List item

In the final set, the folders are named `input` and `GoldStandard`, and gold files have names like
763.txt. File names need not be numbers. A page without gold is not scored. Gold without a page is
an error. Folders with "stripped" in their name are skipped: they contain the text that annotators
edited.

Source: Baroni, Chantree, Kilgarriff, Sharoff, "CleanEval: a competition for cleaning web pages",
LREC 2008, and its annotation guidelines; Kovačič, section 4.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import NamedTuple

from urltree.html.encoding import decode_html, scrub
from urltree_evaluation.corpora.address import page_address
from urltree_evaluation.corpora.corpus_files import CorpusError, read_bytes
from urltree_evaluation.corpus import CorpusPage

_WRAPPER = re.compile(
    rb"""\s*<text\s+id="([^"]*)"(?:\s+title="(.*?)")?(?:\s+encoding="([^"]*)")?\s*>""",
    re.IGNORECASE | re.DOTALL,
)
_WRAPPER_END = re.compile(rb"</text>\s*$", re.IGNORECASE)
_URL_LINE = re.compile(r"\s*URL:[ \t]*(\S*)[^\r\n]*", re.IGNORECASE)
_MARK = re.compile(r"</?[phl]>", re.IGNORECASE)
_BLANK_LINE = re.compile(r"\n\s*\n")
_CLEANED = "-cleaned"


class Unwrapped(NamedTuple):
    """A page without CleanEval's wrapper, and the wrapper's attributes."""

    html: bytes
    url: str = ""
    title: str | None = None
    encoding: str | None = None

    def text(self) -> str:
        """Decode the page like a page from the web, as if its HTTP header gave the encoding."""
        return scrub(decode_html(self.html, _header(self.encoding)))


def unwrap(page: bytes) -> Unwrapped:
    """Remove CleanEval's wrapper from a page; a page without a wrapper is returned unchanged."""
    wrapper = _WRAPPER.match(page)
    if wrapper is None:
        return Unwrapped(page)
    url, title, encoding = wrapper.groups(default=b"")
    label = encoding.decode("ascii", "replace") or None
    return Unwrapped(
        _WRAPPER_END.sub(b"", page[wrapper.end() :]).lstrip(),
        scrub(unescape(url.decode("utf-8", "replace"))),
        scrub(unescape(decode_html(title, _header(label)))) or None,
        label,
    )


def _header(encoding: str | None) -> str | None:
    return f"text/html; charset={encoding}" if encoding else None


def remove_marks(gold: str) -> str:
    """Remove the URL line and the marks from gold, and return one line for each block.

    If the gold has no marks, each of its lines is a block.
    """
    url_line = _URL_LINE.match(gold)
    text = gold[url_line.end() :] if url_line else gold
    if _MARK.search(text):
        blocks = _BLANK_LINE.split(_MARK.sub("\n\n", text.replace("\r\n", "\n")))
    else:
        blocks = text.splitlines()
    return "\n".join(filter(None, (" ".join(block.split()) for block in blocks)))


def read(folder: Path) -> Iterator[CorpusPage]:
    """Yield the pages below a folder, sorted by number; pages without a number come last.

    Raises:
        CorpusError: a file cannot be read, two files have the same name, or gold has no page.
    """
    pages, gold = _files_by_name(folder, ".html"), _files_by_name(folder, ".txt")
    for name in gold:
        if name not in pages:
            raise CorpusError(f"{gold[name]}: the page of this gold, {name}.html, does not exist")
    for name in sorted(pages, key=_number):
        yield _page(name, pages[name], gold.get(name))


def _files_by_name(folder: Path, suffix: str) -> dict[str, Path]:
    """Return the files with a suffix by their number or name.

    Two kinds of files are skipped: files in folders with "stripped" in their name, and text files
    directly in `folder` without the suffix "-cleaned", because these are notes.
    """
    files: dict[str, Path] = {}
    for file in sorted(folder.rglob("*" + suffix)):
        name = file.stem.removesuffix(_CLEANED)
        is_note = file.parent == folder and file.stem == name and suffix == ".txt"
        if "stripped" in file.parent.name or is_note:
            continue
        if name in files:
            raise CorpusError(
                f"{file}: {files[name]} has the same name or number: convert their folders"
                " separately"
            )
        files[name] = file
    return files


def _number(name: str) -> tuple[int, str]:
    return (int(name), "") if name.isdecimal() else (1 << 63, name)


def _page(name: str, file: Path, gold_file: Path | None) -> CorpusPage:
    page = unwrap(read_bytes(file))
    gold = scrub(decode_html(read_bytes(gold_file))) if gold_file else None
    said = _URL_LINE.match(gold) if gold else None
    url, domain = page_address(page.url or (said[1] if said else None))
    return CorpusPage(
        id=name,
        url=url,
        domain=domain,
        html=page.text(),
        title=page.title,
        gold=None if gold is None else remove_marks(gold),
    )
