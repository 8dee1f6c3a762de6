"""Read, check and write the JSON objects that are the values of Kafka records.

    bytes ──read──▶ fields ──check──▶ record type
            orjson           msgspec

Only orjson parses JSON, so that every stage refuses a record for the same reason. msgspec checks in
C whether the fields fit the annotations of a record type.
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
"""Version of all record formats. Raise it if an old reader would misread a new record."""

ID_PATTERN = "^[0-9a-f]{32}$"

HexId = Annotated[str, Meta(pattern=ID_PATTERN, max_length=32)]
Checked = TypeVar("Checked")

NonEmpty = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=0)]

# Matches each escape in a JSON text. The group matches only the escape of a lone surrogate.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}"
    rb"|(u[dD][89a-fA-F][\da-fA-F]{2})"
    rb"|.)",
    re.DOTALL,
)
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")

# Matches a message of msgspec, which ends with a place: "Expected `str`, got `int` - at `$.url`"
_PLACE = re.compile(r"(.*) - at `\$\.?(.*)`", re.DOTALL)


def read_fields(value: bytes | None) -> dict[str, Any]:
    r"""Read the fields of a record.

    JSON allows escapes of lone surrogates (`\ud800`), but orjson refuses them. This function reads
    them as U+FFFD. orjson refuses more than 1,024 nested levels, so no value exhausts the stack.

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
    """Read the fields of a record, and check that its field `schema` is SCHEMA.

    Raises:
        PageError: `malformed`: the value is not a JSON object, or has another `schema`.
    """
    record = read_fields(value)
    if record.get("schema") != SCHEMA:
        raise malformed(f"schema: should be {SCHEMA}, is {record.get('schema')!r:.50}")
    return record


def check_fields(fields: Mapping[str, Any], kind: type[Checked]) -> Checked:
    """Make a record of type `kind` from fields; fields that the type does not have are ignored.

    Raises:
        PageError: `malformed`: a field is missing, or its value does not fit its annotation.
    """
    try:
        return msgspec.convert(fields, kind)
    except msgspec.ValidationError as error:
        raise malformed(_described(str(error))) from None


def write_fields(fields: Mapping[str, Any]) -> bytes:
    """Write the fields that are not None as JSON, in order. Lone surrogates become U+FFFD."""
    record = {name: value for name, value in fields.items() if value is not None}
    try:
        return orjson.dumps(record)
    except orjson.JSONEncodeError:
        return orjson.dumps(_without_surrogates(record))


def malformed(message: str) -> PageError:
    """Make the error for a record that does not follow the schema of its topic."""
    return PageError(Reason.MALFORMED, message)


def _described(message: str) -> str:
    """Put the name of the field first in a message: "url: expected `str`, got `int`"."""
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
        # UTF-16 joins the two surrogates of a pair to one character
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, dict):
        return {_without_surrogates(k): _without_surrogates(field) for k, field in value.items()}
    if isinstance(value, list | tuple):
        return [_without_surrogates(item) for item in value]
    return value
