"""Read JSON Lines: each line is one page with the fields of raw-html."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import orjson

from urltree.page import PageError, Reason
from urltree.reading.source import Source

MAX_LINE = 64 << 20  # bytes of a line; a page of 10 MB fits even if every character is escaped


def read_json_lines(stream: io.BufferedReader, name: str) -> Iterator[Source]:
    """Yield a page for each line, or a PageError if the line is invalid; skip empty lines."""
    number = 0
    while line := stream.readline(MAX_LINE):
        number += 1
        if len(line) == MAX_LINE and not line.endswith(b"\n"):
            _skip_line(stream)
            message = f"line {number} of {name}: is longer than the limit of {MAX_LINE} bytes"
            yield PageError(Reason.TOO_LARGE, message)
        elif not line.isspace():
            yield _page(line.removeprefix(b"\xef\xbb\xbf"), f"line {number} of {name}")


def _page(line: bytes, where: str) -> Source:
    try:
        record = _loads(line)
    except (ValueError, RecursionError) as error:
        return PageError(Reason.MALFORMED, f"{where}: is not valid JSON: {error}")
    if not isinstance(record, dict):
        kind = type(record).__name__
        return PageError(Reason.MALFORMED, f"{where}: should be a JSON object, is {kind}")
    return record


def _loads(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        # orjson refuses escapes of lone surrogates, which the grammar of JSON allows
        return json.loads(line)


def _skip_line(stream: io.BufferedReader) -> None:
    while (rest := stream.readline(MAX_LINE)) and not rest.endswith(b"\n"):
        pass
