"""raw-html, the public input topic: fetched pages.

A record has one of two forms:

- The value is a JSON object with the fields of `schemas/raw-html.json`.
- The value is the body of the response. The other fields are headers with the same names, in
  UTF-8. A record has this form if it has a header `url` or `response_url`. `status` and `schema`
  are decimal numbers, `redirects` is a JSON array of strings, and each of the user's own strings
  is a header `meta.NAME`. Other headers are ignored.

`content_from` is written only if it is not `page`, so records of pages are the same as before.

`urltree.page.Page` checks the fields, so that the library and the job refuse the same pages.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import orjson

from models.headers.names import Headers
from models.record import SCHEMA, malformed, read_fields, write_fields
from urltree.page import FIELDS, Page

META = "meta."
_MARKS = ("url", "response_url")


def decode(value: bytes | None, headers: Headers | None = ()) -> Page:
    """Read a page from a record in either form.

    Raises:
        PageError: `malformed`; the message names the field.
    """
    if any(name in _MARKS for name, _ in headers or ()):
        return Page.from_fields(_from_headers(value, headers or ()))
    return Page.from_fields(read_fields(value))


def to_record(page: Page) -> tuple[bytes, list[tuple[str, bytes | None]]]:
    """Write a page as a record whose value is the page itself; return the value and the headers.

    In JSON, base64 would make the record a third larger.
    """
    fields = {name: getattr(page, name) for name in FIELDS if name not in ("html", "meta")}
    headers: list[tuple[str, bytes | None]] = [("schema", str(SCHEMA).encode())]
    fields["content_from"] = _written_content_from(page)
    headers += [(n, _header(f)) for n, f in fields.items() if f is not None and f != ()]
    headers += [(META + name, _header(text)) for name, text in page.meta.items()]
    html = page.html
    return html if isinstance(html, bytes) else html.encode(errors="replace"), headers


def encode(page: Page) -> bytes:
    """Write a page as a JSON object; HTML that is bytes is written in base64."""
    fields = {name: getattr(page, name) or None for name in FIELDS if name != "html"}
    fields["content_from"] = _written_content_from(page)
    if isinstance(page.html, bytes):
        content = {"html_base64": base64.b64encode(page.html).decode()}
    else:
        content = {"html": page.html}
    return write_fields({"schema": SCHEMA, **fields, "status": page.status, **content})


def _from_headers(value: bytes | None, headers: Headers) -> dict[str, Any]:
    if value is None:
        raise malformed("the value is null, but should be the page")
    fields: dict[str, Any] = {}
    meta: dict[str, str] = {}
    for name, content in headers:
        if content is None:
            continue
        if name.startswith(META):
            meta[name.removeprefix(META)] = _text(name, content)
        elif name in _READ:
            fields[name] = _READ[name](name, content)
    # the value of the record is the page, even if there is a header named html
    return fields | {"html": value, "meta": meta}


def _written_content_from(page: Page) -> str | None:
    return None if page.content_from == "page" else page.content_from


def _header(field: Any) -> bytes:
    return orjson.dumps(field) if isinstance(field, tuple) else str(field).encode(errors="replace")


def _text(name: str, content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise malformed(f"header {name}: should be UTF-8: {error}") from None


def _any_text(name: str, content: bytes) -> str:  # noqa: ARG001
    return content.decode(errors="replace")


def _integer(name: str, content: bytes) -> int:
    if not content.isdigit() or len(content) > 9:
        raise malformed(f"header {name}: should be an integer, is {content[:20]!r}")
    return int(content)


def _json(name: str, content: bytes) -> Any:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise malformed(f"header {name}: is not JSON: {error}") from None


_READ: dict[str, Callable[[str, bytes], Any]] = {
    **{name: _text for name in FIELDS if name not in ("html", "meta")},
    "schema": _integer,
    "status": _integer,
    "redirects": _json,
    "content_from": _any_text,  # never refused, see Page.from_fields
}
