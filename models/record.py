"""JSON on the wire: how every record is read and written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

from urltree.page import PageError, Reason

SCHEMA = 1  # of every record; rises when an old reader would misread a new record

# Every escape of a JSON text; the group holds a surrogate that has no partner.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}"
    rb"|(u[dD][89a-fA-F][\da-fA-F]{2})"
    rb"|.)",
    re.DOTALL,
)
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def read(value: bytes | None) -> dict[str, Any]:
    r"""The fields of a record.

    Escapes of lone surrogates (`\ud800`), which JSON's grammar allows and orjson refuses, are
    read as U+FFFD. Nesting deeper than 1,024 is refused by orjson, so that no value exhausts
    the stack.

    Raises:
        PageError: `malformed`: null, no JSON, or JSON that is no object.
    """
    if value is None:
        raise malformed("the value is null")
    try:
        record = _loads(value)
    except orjson.JSONDecodeError as error:
        raise malformed(f"the value is not JSON: {error}") from None
    if not isinstance(record, dict):
        raise malformed(f"the value should be a JSON object, is {type(record).__name__}")
    return record


def write(fields: Mapping[str, Any]) -> bytes:
    """A record of those fields that are set, in their order; lone surrogates become U+FFFD."""
    record = {name: value for name, value in fields.items() if value is not None}
    try:
        return orjson.dumps(record)
    except orjson.JSONEncodeError:
        return orjson.dumps(_scrubbed(record))


def malformed(message: str) -> PageError:
    """The error for bytes that are not what the topic's schema says."""
    return PageError(Reason.MALFORMED, message)


def _loads(value: bytes) -> Any:
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        if not _SURROGATE.search(value):
            raise
        return orjson.loads(_ESCAPE.sub(_paired, value))


def _paired(escape: re.Match[bytes]) -> bytes:
    return b"\\ufffd" if escape.group(1) else escape.group()


def _scrubbed(value: Any) -> Any:
    if isinstance(value, str):
        # through UTF-16, so that two halves that stand side by side become their character
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, dict):
        return {_scrubbed(name): _scrubbed(field) for name, field in value.items()}
    if isinstance(value, list | tuple):
        return [_scrubbed(item) for item in value]
    return value
