"""Read, check and write the JSON objects that are the values of Kafka records.

    bytes ──read──▶ fields ──check──▶ a record type
            orjson           msgspec

orjson decides what is JSON, so that a record is refused for the same reason wherever it is read.
msgspec compares the fields with the annotations of a record type, in C.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

import msgspec
import orjson
from msgspec import Meta

from urltree.page import PageError, Reason

SCHEMA = 1
"""Version of every record format. It rises when an old reader would misread a new record."""

ID_PATTERN = "^[0-9a-f]{32}$"

HexId = Annotated[str, Meta(pattern=ID_PATTERN, max_length=32)]
Checked = TypeVar("Checked")

NonEmpty = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=0)]

# Matches every escape of a JSON text. The group matches the escape of a lone surrogate.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}"
    rb"|(u[dD][89a-fA-F][\da-fA-F]{2})"
    rb"|.)",
    re.DOTALL,
)
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")

# msgspec's messages end with the place of the error: "Expected `str`, got `int` - at `$.url`"
_PLACE = re.compile(r"(.*) - at `\$\.?(.*)`", re.DOTALL)


def read_fields(value: bytes | None) -> dict[str, Any]:
    r"""Read the fields of a record.

    JSON's grammar allows escapes of lone surrogates (`\ud800`), but orjson refuses them: they are
    read as U+FFFD. orjson refuses nesting deeper than 1,024 levels, so no value exhausts the stack.

    Raises:
        PageError: `malformed`: the value is null, not JSON, or not a JSON object.
    """
    if value is None:
        raise malformed("the value is null, but should be a JSON object")
    try:
        record = _loads(value)
    except orjson.JSONDecodeError as error:
        raise malformed(f"the value is not JSON: {error}") from None
    if not isinstance(record, dict):
        raise malformed(f"the value should be a JSON object, is {type(record).__name__}")
    return record


def read_versioned(value: bytes | None) -> dict[str, Any]:
    """Read the fields of a record whose `schema` must be the version that this release knows.

    Raises:
        PageError: `malformed`.
    """
    record = read_fields(value)
    if record.get("schema") != SCHEMA:
        raise malformed(f"schema: should be {SCHEMA}, is {record.get('schema')!r:.50}")
    return record


def check_fields(fields: Mapping[str, Any], kind: type[Checked]) -> Checked:
    """Make a record of this type from fields; fields that the type does not have are ignored.

    Raises:
        PageError: `malformed`: a field is missing, or its value does not fit its annotation.
    """
    try:
        return msgspec.convert(fields, kind)
    except msgspec.ValidationError as error:
        raise malformed(_described(str(error))) from None


def write_fields(fields: Mapping[str, Any]) -> bytes:
    """Write the fields that are not None, in their order. Lone surrogates become U+FFFD."""
    record = {name: value for name, value in fields.items() if value is not None}
    try:
        return orjson.dumps(record)
    except orjson.JSONEncodeError:
        return orjson.dumps(_without_surrogates(record))


def malformed(message: str) -> PageError:
    """Make the error for bytes that do not follow the topic's schema."""
    return PageError(Reason.MALFORMED, message)


def _described(message: str) -> str:
    """Put the name of the field first: "url: expected `str`, got `int`"."""
    match = _PLACE.fullmatch(message)
    problem, place = match.groups() if match else (message, "")
    problem = problem[:1].lower() + problem[1:]
    return f"{place}: {problem}" if place else problem


def _loads(value: bytes) -> Any:
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        if not _SURROGATE.search(value):
            raise
        return orjson.loads(_ESCAPE.sub(_replace_lone, value))


def _replace_lone(escape: re.Match[bytes]) -> bytes:
    return b"\\ufffd" if escape.group(1) else escape.group()


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        # UTF-16 joins two adjacent halves of a pair to their character
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, dict):
        return {_without_surrogates(k): _without_surrogates(field) for k, field in value.items()}
    if isinstance(value, list | tuple):
        return [_without_surrogates(item) for item in value]
    return value
