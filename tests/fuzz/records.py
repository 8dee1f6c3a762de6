"""Targets that read the values and headers of Kafka records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from models import clean_text, command, dead_letter, duplicate
from models import document as documents
from models.crawl import feed, fetch, host_request, poll_outcome, unchanged
from models.dead_letter import DeadLetter
from models.headers.names import ORIGIN as ORIGIN_HEADER
from models.headers.names import header
from models.origin import Origin
from tests.fuzz.pages import ADDRESS, ORIGIN, PAGE, SCHEME, SMALL, text_of
from tests.fuzz.target import Target
from urltree.crawl.decisions.poll.outcome import PollOutcome
from urltree.page import Page, PageError
from urltree.pipeline import Options, Pipeline

_ID = "0123456789abcdef" * 2
_PIPELINE = Pipeline(Options())


def document_of(html: bytes) -> documents.Document:
    """Return the document of a page of example.org."""
    page = Page(url=ADDRESS, html=html.partition(b"\n")[2], title="T", meta={"crawl": "7"})
    return _PIPELINE.document(page, ORIGIN, SCHEME)


def _survives(decode: Callable[[bytes], Any], encode: Callable[[Any], bytes]) -> Any:
    """Return a check: a record that was read, written and read again has not changed."""

    def check(data: bytes) -> None:
        found = decode(data)
        assert decode(encode(found)) == found

    return check


def _poll_outcome(data: bytes) -> None:
    found = poll_outcome.decode(data)
    if not isinstance(found, PollOutcome):  # nobody writes records of releases before 0.3
        assert poll_outcome.decode(poll_outcome.encode(found)) == found


def _feed(data: bytes) -> None:
    key, _, value = data.partition(b"\n")
    found = feed.decode(key, value)
    assert feed.decode(found.key, found.encode()) == found


def _dead_letter(data: bytes) -> None:
    key, _, rest = data.partition(b"\n")
    lines, _, value = rest.partition(b"\n\n")
    pairs = [line.partition(b": ") for line in lines.split(b"\n")]
    headers = [(text_of(name), content) for name, _, content in pairs]
    found = DeadLetter.from_record(key, value, headers)
    if len(found.message) <= dead_letter.MAX_MESSAGE:
        assert DeadLetter.from_record(*found.to_record()) == found


def _headers(data: bytes) -> None:
    origin = header([("a", data), (ORIGIN_HEADER, data), (ORIGIN_HEADER, None)], ORIGIN_HEADER)
    assert origin is not None
    assert str(Origin.parse(origin)) == origin


def _clean_text(data: bytes) -> None:
    clean_text.decode(data)
    clean_text.read_origin(data)


_OUTCOME = {
    "schema": 1,
    "site": "example.org",
    "feed": ADDRESS,
    "sequence": 1,
    "at": 2.0,
    "result": "items",
    "status": 200,
    "skip_hours": [1, 2],
    "etag": '"a"',
    "items": [["00" * 16, 1.5, True], ["ff" * 16, None, False]],
    "trouble": "timeout",
}
_ANSWER = _OUTCOME | {
    "schema": 2,
    "kind": "answer",
    "items": [{"link": ADDRESS, "title": "A", "guid": "1", "former_hash": "00" * 16}],
    "children": [[ADDRESS, 1.5], [ADDRESS, None]],
    "part": 1,
    "is_last": False,
    "postponed_until": 2.5,
}
_REPORT = {
    "schema": 2,
    "kind": "report",
    "site": "example.org",
    "feed": ADDRESS,
    "at": 2.0,
    "walls": 1,
    "coverage": [0.5],
}
_REQUEST = {
    "schema": 1,
    "purpose": "source",
    "url": ADDRESS,
    "redirects": [ADDRESS],
    "asked_at": 1.5,
    "sequence": 1,
    "kind": "feed",
    "etag": '"a"',
    "is_read_again": True,
}
_UNCHANGED = {"schema": 1, "url": ADDRESS, "origin": ORIGIN, "at": "2026-01-02T03:04:05Z"}
_CLEAN = {"schema": 1, "status": "ok", "origin": ORIGIN, "id": _ID, "domain": "example.org"}
_FETCH = {
    "schema": 1,
    "url": ADDRESS,
    "redirects": [ADDRESS],
    "meta": {"a": "b"},
    "attempt": 2,
    "not_before": 1.5,
    "trouble": "status",
    "published": "2024-02-29T00:00:00Z",
}
_DUPLICATE = {
    "schema": 1,
    "origin": ORIGIN,
    "first_origin": ORIGIN,
    "id": _ID,
    "step": "canonical",
    "urls": {"request": ADDRESS, "response": ADDRESS, "canonical": ADDRESS, "key": ADDRESS},
}
_LETTER = (
    b"raw-html/3/1042\nurltree-stage: normalize\nurltree-reason: malformed\nurltree-topic: raw-html"
    b"\nurltree-key: example.org\nurltree-offsets: 7-9\nurltree-message: wrong\nurl: http://a.b/"
    b"\n\n<p>text"
)
_WORDS = (
    b"\\ud800",
    b"\\udc00\\ud83d",
    b"null",
    b"[[",
    b"{",
    b'"schema":2',
    b"1e999",
    b"-",
    b"NaN",
)


def _json(name: str, check: Callable[[bytes], None], *seeds: object) -> Target:
    written = tuple(one if isinstance(one, bytes) else orjson.dumps(one) for one in seeds)
    return Target(name, check, (PageError,), written, _WORDS, is_json=True)


TARGETS = (
    _json(
        "documents",
        _survives(documents.decode, documents.encode),
        *(documents.encode(document_of(page)) for page in (SMALL, SMALL, PAGE)),
    ),
    _json("fetches", _survives(fetch.decode, fetch.encode), _FETCH),
    _json("poll-outcomes", _poll_outcome, _OUTCOME, _ANSWER, _REPORT),
    _json("requests", _survives(host_request.decode, host_request.encode), _REQUEST),
    _json("unchanged", _survives(unchanged.decode, unchanged.encode), _UNCHANGED),
    _json("duplicates", _survives(duplicate.decode, duplicate.encode), _DUPLICATE),
    _json("clean-text", _clean_text, _CLEAN),
    _json(
        "commands",
        _survives(command.Forget.decode, command.Forget.encode),
        {"schema": 1, "domain": "example.org", "ids": [_ID]},
    ),
    Target(
        "feeds",
        _feed,
        (PageError,),
        (b'example.org https://example.org/feed\n{"schema":1,"title":"T","meta":{"a":"b"}}',),
        (b" ", b"\n", b'"meta":[]', *_WORDS),
    ),
    Target(
        "dead-letters",
        _dead_letter,
        (PageError,),
        (_LETTER,),
        (b"\nurltree-message: ", b"\nurltree-offsets: ", b"\n\n", b"\xff", b"\nurltree-reason: "),
    ),
    Target(
        "origins",
        _headers,
        (ValueError,),
        (ORIGIN.encode(), b"a.b_c-D/0/0"),
        (b"/", b"0", b"\xd9\xa3"),
    ),
)
