"""Read all inputs: find the format of each file, and list the files of folders."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from urltree.reading.html_files import canonical_url, html_page, mirror_url, url_below
from urltree.reading.json_lines import read_json_lines
from urltree.reading.source import Source
from urltree.reading.stream import STDIN, InputError, open_decompressed
from urltree.reading.warc import read_warc

_NAME = re.compile(
    r"\.(?:(?P<html>x?html?)|(?P<json>jsonl|ndjson)|(?P<warc>warc))(?:\.(?:gz|zst))?$",
    re.IGNORECASE,
)
_MAX_HTML = (10 << 20) + 1  # bytes of a file that are read; a page of this size is refused


class Reader:
    """A reader that turns inputs into pages.

    Args:
        url: URL of the page, if the input is exactly one page.
        base_url: URL of the input folders. The URL of a page is this URL and the path of its file,
            unless the page has a canonical link or its folder is a mirror.

    Attributes:
        skipped: number of skipped files and WARC records, by their kind.
    """

    def __init__(self, url: str | None = None, base_url: str | None = None) -> None:
        self._url = url
        self._base_url = base_url
        self.skipped: Counter[str] = Counter()

    def read(self, names: Iterable[str]) -> Iterator[Source]:
        """Yield the pages of all inputs in order; each page is read when the caller asks for it.

        Raises:
            InputError: an input cannot be read.
        """
        for name in names:
            if name != STDIN and Path(name).is_dir():
                yield from self._folder(Path(name))
            else:
                yield from self._file(name, self._url)

    def _folder(self, folder: Path) -> Iterator[Source]:
        try:
            files = sorted(path for path in folder.rglob("*") if path.is_file())
        except OSError as error:
            raise InputError(f"{folder}: {error.strerror}") from error
        for path in files:
            kind = _kind_by_name(path.name)
            if kind is None:
                self.skipped[f"{path.suffix or 'nameless'} file"] += 1
            elif kind == "html":
                yield from self._file(
                    str(path), mirror_url(folder.absolute(), path.absolute()), folder
                )
            else:
                yield from self._file(str(path), None)

    def _file(self, name: str, url: str | None, folder: Path | None = None) -> Iterator[Source]:
        with open_decompressed(name) as stream:
            kind = _kind_by_name(name) or _kind_by_content(stream)
            if kind == "json":
                yield from read_json_lines(stream, name)
            elif kind == "warc":
                yield from read_warc(stream, self.skipped)
            else:
                html = stream.read(_MAX_HTML)
                yield html_page(html, url or self._based(html, name, folder))

    def _based(self, html: bytes, name: str, folder: Path | None) -> str | None:
        if self._base_url is None:
            return None
        return canonical_url(html) or url_below(
            self._base_url, folder or Path(name).parent, Path(name)
        )


def _kind_by_name(name: str) -> str | None:
    match = _NAME.search(name)
    return match.lastgroup if match else None


def _kind_by_content(stream: io.BufferedReader) -> str:
    head = stream.peek(1024)[:1024].removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"WARC/"):
        return "warc"
    return "json" if head.startswith(b"{") else "html"
