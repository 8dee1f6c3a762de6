"""Feedparser's own test files do not hang our parser and cause no exception except WebError.

The files come from feedparser's source distribution. The variable FEEDPARSER_SDIST contains its
path; otherwise pip downloads it into pytest's cache. It is never stored in this repository.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from agents.fetching.parsers import Parsers
from tests.conftest import Record
from urltree.crawl.decisions.feed.parsing import ParsedFeed
from urltree.crawl.decisions.response import WebError
from urltree.crawl.decisions.source.reading import Reading, read_source

URL = "http://127.0.0.1:8097/tests/feed.xml"  # used by feedparser's tests
MAX_ITEMS = 1_000
HOW = Reading(max_items=MAX_ITEMS)
FEWEST = 2_000  # minimum number of files; feedparser 6.0.14 has 2,248


@pytest.fixture(scope="module")
def files(request: pytest.FixtureRequest) -> dict[str, bytes]:
    """Return the bytes of each test file by its path."""
    with tarfile.open(_sdist(request.config)) as archive:
        return {
            name.split("/", 1)[1]: stream.read()
            for name, stream in ((m.name, archive.extractfile(m)) for m in archive)
            if stream is not None and "/tests/" in name and not name.endswith(".py")
        }


def _sdist(config: pytest.Config) -> Path:
    """Return the path of the installed version's source distribution, or skip with the reason."""
    named = os.environ.get("FEEDPARSER_SDIST")
    if named:
        return Path(named)
    cache = getattr(config, "cache", None)
    if cache is None:
        pytest.skip("FEEDPARSER_SDIST is not set, and pytest has no cache for a download")
    kept: Path = cache.mkdir("feedparser-sdist")
    wanted = f"feedparser-{version('feedparser')}.tar.gz"
    if not (kept / wanted).exists():
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary"]
        what = ["feedparser", f"feedparser=={version('feedparser')}", "--dest", str(kept)]
        try:
            subprocess.run([*pip, *what], check=True, capture_output=True, timeout=120)
        except (OSError, subprocess.SubprocessError) as error:
            pytest.skip(f"FEEDPARSER_SDIST is not set, and pip could not download it: {error}")
    return kept / wanted


def _figures(read: Callable[[bytes], ParsedFeed], files: dict[str, bytes]) -> dict[str, int]:
    """Count the files, the feeds, the items with a link, and the items without a link."""
    figures = {"files": len(files), "feeds": 0, "items": 0, "items without a link": 0}
    refused = {}
    for path, body in files.items():
        try:
            feed = read(body)
        except WebError as error:
            refused[path] = error.message
        else:
            figures["feeds"] += 1
            figures["items"] += len(feed.items)
            figures["items without a link"] += feed.unlinked
    assert set(refused.values()) <= {"the body is not an RSS, Atom, RDF, CDF or JSON feed"}, refused
    return figures


def test_each_file_is_a_feed_or_none(files: dict[str, bytes], record: Record) -> None:
    """Each test file is parsed as a feed (2,235 files) or raises a WebError (13 files)."""
    figures = _figures(lambda body: read_source(body, None, URL, HOW), files)
    record(f"test files of feedparser {version('feedparser')}: {figures}")
    assert figures["files"] > FEWEST
    assert figures["feeds"] > 0.99 * figures["files"]
    assert figures["items"] > 0


def test_a_process_reads_them_as_well(files: dict[str, bytes]) -> None:
    """One parser process gives the same results for all files, and no file kills or blocks it."""

    async def read_all() -> dict[str, int]:
        async with Parsers(1, 300, MAX_ITEMS) as parsers:
            found: dict[bytes, Any] = {
                body: await _read(parsers, body) for body in set(files.values())
            }
        return _figures(lambda body: _given(found[body]), files)

    direct = _figures(lambda body: read_source(body, None, URL, HOW), files)
    assert asyncio.run(read_all()) == direct


async def _read(parsers: Parsers, body: bytes) -> ParsedFeed | WebError:
    try:
        return await parsers.parse(body, None, URL)
    except WebError as error:
        return error


def _given(found: ParsedFeed | WebError) -> ParsedFeed:
    if isinstance(found, WebError):
        raise found
    return found
