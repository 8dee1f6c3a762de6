"""Reading: pages from files, folders and archives."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from urltree.page import PageError
from urltree.reading import InputError, Reader

LINES = b'{"url": "https://example.org/1", "html": "<p>1"}\n\n{"url": "https://example.org/2"}'
BOM = b"\xef\xbb\xbf"
PLAIN, GZIP, ZSTD = LINES, gzip.compress(LINES, mtime=0), zstandard.compress(LINES)


def read(*inputs: Path, **options: Any) -> list[Any]:
    """Return all pages of some inputs."""
    return list(Reader(**options).read(map(str, inputs)))


def urls(*inputs: Path, **options: Any) -> list[str | None]:
    """Return the URLs of all pages of some inputs."""
    return [page["url"] for page in read(*inputs, **options)]


@pytest.mark.parametrize(
    "content", [PLAIN, GZIP, ZSTD, GZIP + gzip.compress(b"\n", mtime=0), b"\xef\xbb\xbf" + PLAIN]
)
@pytest.mark.parametrize("name", ["pages.jsonl", "pages"])
def test_json_lines_may_be_compressed(tmp_path: Path, name: str, content: bytes) -> None:
    """JSON Lines may be compressed, and the reader recognises the format by the content.

    Empty lines are skipped.
    """
    (tmp_path / name).write_bytes(content)
    assert urls(tmp_path / name) == ["https://example.org/1", "https://example.org/2"]


@pytest.mark.parametrize("line", [b"{", b"[]", b"3", b"\xff", b"[" * 100_000])
def test_a_broken_line_is_an_error_of_its_own(tmp_path: Path, line: bytes) -> None:
    """A broken line gives a PageError with the number of the line; later lines are still read."""
    file = tmp_path / "pages.jsonl"
    file.write_bytes(b'{"url": "a"}\n' + line + b'\n{"url": "b"}\n')
    first, broken, last = read(file)
    assert isinstance(broken, PageError)
    assert (first["url"], broken.reason, last["url"]) == ("a", "malformed", "b")
    assert broken.message.startswith(f"line 2 of {file}: ")


def test_escapes_of_lone_surrogates_are_read(tmp_path: Path) -> None:
    """Escapes of lone surrogates are read, because the grammar of JSON allows them."""
    (tmp_path / "pages.jsonl").write_bytes(rb'{"url": "a", "html": "\ud800"}')
    assert read(tmp_path / "pages.jsonl") == [{"url": "a", "html": "\ud800"}]


@pytest.mark.parametrize(
    ("file", "url"),
    [
        ("mirror/example.org/news/a b?id=1.html", "https://example.org/news/a%20b?id=1.html"),
        ("mirror/example.org+8080/index.html", "https://example.org:8080/"),
        ("example.org/news/index.html", "https://example.org/news/"),
        ("pages/a.html", None),
    ],
)
def test_a_mirror_gives_the_urls_of_its_files(tmp_path: Path, file: str, url: str | None) -> None:
    """Files in a folder that is named after a host get URLs of that host."""
    path = tmp_path / "given" / file
    path.parent.mkdir(parents=True)
    path.write_bytes(b"<p>text")
    assert urls(tmp_path / "given" / file.split("/", maxsplit=1)[0]) == [url]


@pytest.mark.parametrize(
    ("head", "base_url", "url"),
    [
        ('<link rel="canonical" href="https://example.org/c">', None, "https://example.org/c"),
        (
            '<link rel="canonical" href="https://example.org/c">',
            "https://b.example",
            "https://example.org/c",
        ),
        (
            '<link rel="canonical" href="/c">',
            "https://b.example/x",
            "https://b.example/x/sub/a.html",
        ),
        ("", "https://b.example/x/", "https://b.example/x/sub/a.html"),
        ("", None, None),
    ],
)
def test_other_files_have_a_canonical_link_or_a_base_url(
    tmp_path: Path, head: str, base_url: str | None, url: str | None
) -> None:
    """A file gets the URL of its canonical link, or else its path below the base URL."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.html").write_text(f"<html><head>{head}</head><p>text")
    assert urls(tmp_path, base_url=base_url) == [url]


def test_one_file_has_the_url_that_is_given(tmp_path: Path) -> None:
    """A URL that is given for a file overrides the canonical link."""
    (tmp_path / "a.html").write_text('<link rel="canonical" href="https://example.org/c"><p>text')
    assert urls(tmp_path / "a.html", url="https://example.org/u") == ["https://example.org/u"]


def test_a_folder_is_read_in_the_order_of_names(tmp_path: Path) -> None:
    """Files of known formats are read in the order of their names, others skipped and counted."""
    (tmp_path / "b.html").write_text("<p>")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.jsonl.zst").write_bytes(ZSTD)
    (tmp_path / "c.png").write_bytes(b"")
    reader = Reader(base_url="https://b.example/")
    found = [page["url"] for page in reader.read([str(tmp_path)])]  # type: ignore[index, call-overload]
    assert found == ["https://example.org/1", "https://example.org/2", "https://b.example/b.html"]
    assert reader.skipped == {".png file": 1}


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_an_archive_gives_its_html_responses(
    tmp_path: Path, compress: Callable[[bytes], bytes]
) -> None:
    """HTML responses of an archive become pages with URL, status, type and time.

    Requests, redirects and images are skipped and counted.
    """
    page = b"Content-Type: text/html; charset=latin1\r\nContent-Encoding: gzip\r\n\r\n"
    bodies = [
        b"HTTP/1.1 200 OK\r\n" + page + gzip.compress(b"<p>text"),
        b"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n<p>none",
        b"HTTP/1.1 301 Moved\r\nContent-Type: text/html\r\nLocation: /\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n\x89PNG",
    ]
    records = [record("response", n, body) for n, body in enumerate(bodies)]
    records.append(record("request", 4, b"GET / HTTP/1.1\r\n\r\n"))
    (tmp_path / "crawl").write_bytes(b"".join(map(compress, records)))
    reader = Reader()
    ok, missing = reader.read([str(tmp_path / "crawl")])
    assert ok == {
        "url": "https://example.org/0",
        "html": b"<p>text",
        "content_type": "text/html; charset=latin1",
        "status": 200,
        "fetched_at": "2013-10-27T12:00:00Z",
    }
    assert isinstance(missing, dict)
    assert missing["status"] == 404
    assert reader.skipped == {"HTTP redirect": 1, "image/png": 1, "WARC request": 1}


@pytest.mark.parametrize("content", [GZIP[:-9], b"\x28\xb5\x2f\xfd" + b"x" * 50])
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes) -> None:
    """A file that is cut short, or is no valid zstd, raises InputError with its name."""
    (tmp_path / "pages.jsonl").write_bytes(content)
    with pytest.raises(InputError, match=r"pages\.jsonl: "):
        read(tmp_path / "pages.jsonl")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """A missing file raises InputError with its name and the message of the system."""
    with pytest.raises(InputError, match=r"none\.html: No such file"):
        read(tmp_path / "none.html")


def record(kind: str, number: int, body: bytes) -> bytes:
    """Return one record of a WARC archive (ISO 28500)."""
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: https://example.org/{number}\r\n"
        "WARC-Date: 2013-10-27T12:00:00Z\r\nWARC-Record-ID: <urn:uuid:0>\r\n"
        f"Content-Type: application/http; msgtype={kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body + b"\r\n\r\n"
