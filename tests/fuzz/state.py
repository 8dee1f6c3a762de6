"""Targets that read stored bytes: rows of every table, first pages, and the file of a dump."""

from __future__ import annotations

import io
from dataclasses import replace

import orjson
import zstandard

from agents.commands.state.file import DumpHeader, DumpReader, DumpRecord, DumpWriter
from agents.settings.job import SettingsError
from tests.fuzz.pages import PAGE, SMALL
from tests.fuzz.records import document_of
from tests.fuzz.target import Target
from urltree.crawl.decisions.host.host_state import (
    HOST_STATE_VERSION,
    HostState,
    HostStateError,
    RobotsText,
)
from urltree.crawl.decisions.poll.feed_state import FeedState, FeedStateError
from urltree.crawl.decisions.poll.seen_items import SeenItemRow
from urltree.pipeline import Options, Pipeline
from urltree.site.packed_document import pack, unpack
from urltree.site.row import Row, RowError
from urltree.site.seen import Seen, SeenError, Version

_ID = bytes(16)
_PIPELINE = Pipeline(Options(revise=True), "all")


def _row(data: bytes) -> None:
    row = Row.decode(data)
    assert Row.decode(row.encode()) == row
    site = _PIPELINE.new_site()
    site.rebuild([(_ID, data)])
    if _ID in site:
        site.remove(_ID)


def _seen(data: bytes) -> None:
    seen = Seen.decode(data)
    assert Seen.decode(seen.encode()) == seen


def _first_page(data: bytes) -> None:
    unpack(data)


def _feed_state(data: bytes) -> None:
    FeedState.decode(data)


def _seen_item(data: bytes) -> None:
    assert SeenItemRow.decode(data).encode() == data


def _host_state(data: bytes) -> None:
    HostState.decode(data)


def _dump(data: bytes) -> None:
    for record in DumpReader(io.BytesIO(data)):
        assert isinstance(record, DumpRecord)


def _packed_host(text: bytes) -> bytes:
    return bytes((HOST_STATE_VERSION,)) + zstandard.compress(text)


def _packed_page(text: bytes) -> bytes:
    return b"\1" + zstandard.compress(text)


def _rows() -> tuple[bytes, ...]:
    rows = []
    for revise, blocks in ((False, "none"), (True, "all")):
        pipeline = Pipeline(Options(revise=revise), blocks)  # type: ignore[arg-type]
        rows += [pipeline.new_site().learn(document_of(page), None).row for page in (SMALL, PAGE)]
    return tuple(rows)


def _dump_file() -> bytes:
    file = io.BytesIO()
    writer = DumpWriter(file, DumpHeader("0.1", 1.0, "c", "", 6, {"extract": {"a": {"0": 1}}}))
    writer.add(DumpRecord("a", 0, 1, -1, b"k", None, (("h", b"v"), ("i", None))))
    writer.add(DumpRecord("a", 5, 2, 17, None, b"v", ()))
    writer.end()
    return file.getvalue()


_SEEN = Seen.of("raw-html/3/1042", 1_319_414_400_000_000, "a", "b", "c")
_FEED = FeedState(
    site="example.org",
    feed="https://example.org/feed",
    url="https://example.org/f",
    gaps=(1.0, 2.0),
    meta={"a": "b"},
    skip_hours=(1,),  # type: ignore[arg-type]
).encode()
_HOST = HostState(host="example.org", robots={"https": RobotsText(200, 9.0, "User-agent: *")})
_HOST_TEXT = zstandard.decompress(_HOST.encode()[1:])
_FIRST = pack(document_of(SMALL))
_FIRST_TEXT = zstandard.decompress(_FIRST[1:])
_DUMP = _dump_file()
_DUMP_TEXT = zstandard.ZstdDecompressor().decompressobj().decompress(_DUMP)

TARGETS = (
    Target("rows", _row, (RowError,), _rows(), (b"\0\0\0\0", b"\xff\xff\xff\xff", b"\1\0")),
    Target(
        "seen",
        _seen,
        (SeenError,),
        (_SEEN.encode(), replace(_SEEN, version=Version(3, 4)).encode()),
        (b"\1", b"\2"),
    ),
    Target("first-pages", _first_page, (RowError,), (_FIRST,), ()),
    Target(
        "first-pages-json",
        lambda data: _first_page(_packed_page(data)),
        (RowError,),
        (_FIRST_TEXT,),
        (b"null", b"[]"),
        is_json=True,
    ),
    Target("feed-state", _feed_state, (FeedStateError,), (_FEED,), (b"null",), is_json=True),
    Target("seen-items", _seen_item, (FeedStateError,), (SeenItemRow(1.0, 2.0).encode(),)),
    Target("host-state", _host_state, (HostStateError,), (_HOST.encode(),)),
    Target(
        "host-state-json",
        lambda data: _host_state(_packed_host(data)),
        (HostStateError,),
        (_HOST_TEXT,),
        (b"null", b"[]"),
        is_json=True,
    ),
    Target("dump", _dump, (SettingsError,), (_DUMP,)),
    Target(
        "dump-lines",
        lambda data: _dump(zstandard.compress(data)),
        (SettingsError,),
        (_DUMP_TEXT, *_DUMP_TEXT.splitlines(keepends=True)),
        (b"\n", b"{}", b"[]", b'{"records":0}\n', orjson.dumps({"urltree_state": 1})),
    ),
)
