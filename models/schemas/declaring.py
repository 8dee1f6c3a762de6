"""Derive JSON Schemas from record types.

annotations of a record type ─▶ type, items, enum, bounds ─┐
`field(description, keywords)` for each of its fields ─────┴─▶ properties
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from msgspec import Meta

from models.record import SCHEMA

Schema = dict[str, Any]

VERSION: Schema = {"description": "Version of this schema.", "const": SCHEMA}

_SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean"}
_KEYWORDS = {
    "ge": "minimum",
    "le": "maximum",
    "min_length": "minLength",
    "pattern": "pattern",
}


def field(description: str, **keywords: Any) -> Schema:
    """Describe a field; `keywords` of JSON Schema replace those from the field's annotation."""
    return {"description": description, **keywords}


def property_schemas(
    record: type, fields: Mapping[str, Schema], *, nullable: bool = False
) -> dict[str, Schema]:
    """Return the schema of each field.

    Args:
        record: record type, whose annotations give the types of the fields.
        fields: description of each field, in the order of the schema. A field that is not in the
            record type needs a description with `type`, `enum` or `const`.
        nullable: whether a field that is None may be written as null; if not, it is left out.

    Raises:
        KeyError: a field is not in the record type, and its description has no type.
    """
    hints = get_type_hints(record, include_extras=True)
    return {
        name: described
        if described.keys() & {"type", "enum", "const"}
        else {"description": described["description"], **_typed(hints[name], nullable), **described}
        for name, described in fields.items()
    }


def columns_schema(columns: type, description: str, fields: Mapping[str, Schema]) -> Schema:
    """Return the schema of an object that has one array for each column of a table."""
    return {
        "description": description,
        "type": "object",
        "required": list(fields),
        "properties": property_schemas(columns, fields),
    }


def topic(
    name: str,
    description: str,
    fields: Mapping[str, Schema],
    required: tuple[str, ...],
    **more: Any,
) -> Schema:
    """Return the schema of the records of a topic."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:urltree:{name}:{SCHEMA}",
        "title": name,
        "description": description,
        "type": "object",
        **({"required": list(required)} if required else {}),
        **more,
        "properties": dict(fields),
    }


def required_of(record: type) -> tuple[str, ...]:
    """Return `schema` and the names of all fields of a record type that cannot be None."""
    hints = get_type_hints(record, include_extras=True)
    return ("schema", *(name for name, hint in hints.items() if not _may_be_none(hint)))


def _typed(hint: Any, nullable: bool) -> Schema:
    """Return the keywords of JSON Schema that follow from an annotation."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _typed(arguments[0], nullable) | _bounds(arguments[1:])
    if origin in (Union, types.UnionType):
        (inner,) = (argument for argument in arguments if argument is not type(None))
        schema = _typed(inner, nullable)
        return _or_null(schema) if nullable else schema
    if origin is Literal or _is_enum(hint):
        return {"enum": list(arguments) or [member.value for member in hint]}
    if origin in (list, tuple):
        return {"type": "array", "items": _typed(arguments[0], nullable)}
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _typed(arguments[1], nullable)}
    return {"type": _SIMPLE[hint]}


def _or_null(schema: Schema) -> Schema:
    if "enum" in schema:
        return schema | {"enum": [*schema["enum"], None]}
    return schema | {"type": [schema["type"], "null"]}


def _bounds(metadata: tuple[Any, ...]) -> Schema:
    return {
        keyword: value
        for meta in metadata
        if isinstance(meta, Meta)
        for name, keyword in _KEYWORDS.items()
        if (value := getattr(meta, name)) is not None
    }


def _is_enum(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Enum)


def _may_be_none(hint: Any) -> bool:
    return type(None) in get_args(hint)
